// Rows: providers, our credentials, and stored objects. See schema.ts.

/** A provider that the operator added by the API. */
export interface ProviderRow {
  id: string
  /** The origin for callers: `https://host[:port]`. */
  origin: string
  /** The address to dial instead. */
  dial: string | null
  /** How the credential is presented; null is `Authorization: Bearer …`. */
  auth_header: string | null
  auth_scheme: string | null
  /** The built-in provider whose API it implements; null is OpenAI's dialect. */
  speaks: string | null
  /** JSON object of its own endpoints and closed paths; null has none. */
  own_api: string | null
  created_at: number
}

/** A credential for a provider. */
export interface CredentialRow {
  id: string
  provider: string
  name: string
  /** The secret, encrypted: see proxy/credentials/encryption.ts. */
  sealed: string
  /**
   * JSON object of the variables in the provider's host name (Azure's resource, Bedrock's region).
   */
  host_values: string
  /** Its weight among the provider's credentials. */
  weight: number
  paused: number
  created_at: number
  revision: number
}

/** The result of the last test call with a credential, which may be from the environment. */
export interface CredentialTestRow {
  credential_id: string
  at: number
  ok: number
  /** The provider's status; null if there was no response. */
  status: number | null
  detail: string
}

/**
 * An object that a provider stores for us (file, batch, response, …), with its owner and the
 * credential that reaches it.
 */
export interface ObjectRow {
  provider: string
  kind: string
  object_id: string
  key_id: string
  credential_id: string
  created_at: number
}
