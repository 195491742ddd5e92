// Why a body cannot be read for certain.

/** The refusal of a body: an error code, and one or two sentences. */
export interface InspectionError {
  readonly code: 'ambiguous_body' | 'model_not_allowed'
  readonly message: string
}

/** The error of a body that two readers would read differently. */
export const ambiguous = (message: string): InspectionError => ({ code: 'ambiguous_body', message })
/** The error of a body whose model is not known, with a key that is limited to some. */
export const unknownModel = (message: string): InspectionError => ({
  code: 'model_not_allowed',
  message: `${message} This key is limited to certain models.`,
})
