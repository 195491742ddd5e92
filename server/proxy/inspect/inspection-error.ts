// Why a body cannot be read for certain.

/** A refusal of a body: a code of ours, and one or two sentences. */
export interface InspectionError {
  readonly code: 'ambiguous_body' | 'model_not_allowed'
  readonly message: string
}

export const ambiguous = (message: string): InspectionError => ({ code: 'ambiguous_body', message })
export const unknownModel = (message: string): InspectionError => ({
  code: 'model_not_allowed',
  message: `${message} This key is limited to certain models.`,
})
