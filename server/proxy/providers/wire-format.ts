// How a provider's API authenticates callers, reports errors and counts tokens.

/** How a credential is presented: `Authorization: Bearer …`, `x-api-key: …`. */
export interface Auth {
  readonly header: string
  readonly scheme?: string
}

/** The format of a provider's errors, which our own errors follow. See error-response.ts. */
export type ErrorShape =
  | 'google'
  | 'openai'
  | 'anthropic'
  | 'mistral'
  | 'groq'
  | 'cohere'
  | 'fireworks'
  | 'perplexity'
  | 'cerebras'
  | 'bedrock'

/**
 * An example error: `{message}`, `{code}` and `{type}` are replaced by ours, `{status}` by the HTTP
 * status as a number.
 */
export type ErrorTemplate = { readonly [name: string]: ErrorValue }
type ErrorValue = string | boolean | null | ErrorTemplate | readonly ErrorValue[]

/** How a provider counts tokens. See usage/usage.ts. */
export type UsageKind =
  | 'openai'
  /** OpenAI's names, and without output a total is the input. */
  | 'embedding'
  | 'xai'
  | 'perplexity'
  | 'anthropic'
  | 'gemini'
  | 'interactions'
  | 'cohere'
  | 'bedrock'
