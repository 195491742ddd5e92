// Why a body cannot be read reliably.

/** The refusal of a body: an error code, and one or two sentences. */
export interface InspectionError {
  readonly code: 'ambiguous_body' | 'model_not_allowed'
  readonly message: string
}

/** The error of a body that two parsers could read differently. */
export const ambiguous = (message: string): InspectionError => ({ code: 'ambiguous_body', message })
/** The error of a body whose model is unknown, for a key that is limited to some models. */
export const unknownModel = (message: string): InspectionError => ({
  code: 'model_not_allowed',
  message: `${message} This key is limited to certain models.`,
})
