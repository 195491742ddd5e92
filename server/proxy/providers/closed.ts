// Endpoints that no key may call at any provider: they issue credentials of the upstream account,
// or manage it.
//
// A provider's row closes endpoints that only that provider has. This table covers many servers,
// because an added provider may run any software.

/**
 * The kind of a closed endpoint: `minting` issues credentials, `admin` manages the account or the
 * server.
 */
export type ClosedClass = 'minting' | 'admin'

interface ClosedEndpoint {
  readonly class: ClosedClass
  /** Alternatives for one or more path segments, normalized: lower case, without `-` and `_`. */
  readonly segments: string
}

/**
 * Words before `tokens` that make it a count, not a credential: `count_tokens`,
 * `responses/input_tokens`.
 */
const COUNTED = 'count|compute|estimate|calculate|input|output|prompt|max|total|num'

/** TABLE of endpoints that are closed at every provider. */
const CLOSED: readonly ClosedEndpoint[] = [
  // Access tokens. Cartesia `/access-token`, Cloudflare `/user/tokens`, AssemblyAI `/v3/token`,
  // Deepgram `/auth/token`, Gemini `/auth_tokens`, ElevenLabs `/single-use-token/{type}`, Google
  // `:generateAccessToken`, Azure `/issueToken`, fal `/tokens/`.
  {
    class: 'minting',
    segments: String.raw`(?!${COUNTED})[\w.]*tokens?(?![/:](?:count|estimate|usage))`,
  },
  {
    class: 'minting',
    segments: String.raw`tokens?(?:request|exchange|refresh|management|grant|service)`,
  },
  { class: 'minting', segments: String.raw`[\w.]*tokenservice` },
  { class: 'minting', segments: String.raw`ephemeral\w*|livekit\w*` },
  // Keys and secrets. OpenAI `/realtime/client_secrets`, Vercel `/realtime/client-secrets`,
  // Speechmatics `/v1/api_keys`, OpenRouter `/api/v1/keys`, Soniox `/auth/temporary-api-key`,
  // LiteLLM `/key/generate`, Deepgram `/projects/{id}/keys`, D-ID `/agents/client-key`.
  {
    class: 'minting',
    segments: String.raw`(?:[\w.]*(?:api|auth|access|client|temporary|signing|public|private))?keys?`,
  },
  { class: 'minting', segments: String.raw`[\w.]*(?:secret|credential)s?` },
  // Sign-in and delegation. Deepgram `/v1/auth/grant`, Hume `/oauth2-cc/token`, Google `sts`, AWS
  // `AssumeRole`.
  {
    class: 'minting',
    segments: String.raw`oauth\w*|oidc|openid\w*|saml2?|sso|sts|auth|authn|authz|authorize|authenticate|authurl|login|signin|signup`,
  },
  { class: 'minting', segments: String.raw`assumerole\w*|impersonat\w*|signblob|signjwt` },
  // Addresses and sessions that carry their own access. ElevenLabs
  // `/convai/conversation/get-signed-url`, OpenAI `/realtime/calls`, Retell `/v2/create-web-call`,
  // Azure `/v1/realtimertc`.
  { class: 'minting', segments: String.raw`(?:get)?signed(?:url|link)s?` },
  {
    class: 'minting',
    segments: String.raw`(?:realtime\w*|live|chatkit|streaming)/(?:[^/]+/)?(?:\w*sessions?|calls?)`,
  },
  {
    class: 'minting',
    segments: String.raw`realtimertc|\w*transcriptionsessions?|\w*webcalls?|calls?/web`,
  },
  // Other names of credentials that servers issue. Agent sessions of Vertex and Bedrock are
  // conversations.
  {
    class: 'minting',
    segments: String.raw`(?<!(?:reasoningengines|agentaliases)/[^/]+/)sessions?|\w*jwts?|creds?|otps?|pats?|presign\w*|exchange|grants?|vaults?|device/?code|\w*keys|bearers?|byok|passwords?|passkeys?`,
  },

  // The account. OpenAI and Anthropic `/organization/…`, LiteLLM `/user/new`, `/team/new`,
  // ElevenLabs `/v1/user`, OpenRouter `/credits`.
  {
    class: 'admin',
    segments: String.raw`organizations?|admin\w*|billing|invoices?|payments?|wallets?|invites?|invitations?|auditlogs?|scim|webhooks|webhook(?:endpoint|eventtype)s?|members?|roles?`,
  },
  {
    class: 'admin',
    segments: String.raw`serviceaccounts?|permissions?|[sg]etiampolicy|testiampermissions|transferownership`,
  },
  // Deeper paths may belong to models (Clarifai `/users/{user}/apps/{app}/models/…`, Cloudflare
  // `/accounts/{account}/ai/run/…`).
  {
    class: 'admin',
    segments: String.raw`(?:users?|endusers?|teams?|customers?|accounts?|orgs?|budgets?|credits?|balances?|subscriptions?|spend)(?:/[^/]+)?$`,
  },
  // The path by which Google's own clients call any method of a service (google.aip.dev/127):
  // `/$rpc/google.ai.generativelanguage.v1beta.FileService/ListFiles`.
  { class: 'admin', segments: String.raw`\$rpc|google(?:\.\w+)+/\w+` },
  // The operator's own server. LiteLLM `/model/new`, Ollama `/api/pull`, vLLM
  // `/v1/load_lora_adapter`, SGLang `/flush_cache`, llama.cpp `/models/unload`, Triton
  // `/v2/repository/models/{name}/load`.
  {
    class: 'admin',
    segments: String.raw`models?/(?:[^/]+/)?(?:new|update|delete|load|unload|download)|config/update|cache/(?:flush\w*|delete)`,
  },
  { class: 'admin', segments: String.raw`api/(?:pull|push|create|copy|delete|blobs)` },
  {
    class: 'admin',
    segments: String.raw`(?:un)?loadloraadapter|lora-?adapters|flushcache|reset(?:prefix|mm|encoder)cache|startprofile|stopprofile|collectiverpc`,
  },
  {
    class: 'admin',
    segments: String.raw`(?:update|init)weights\w*|abortrequest|(?:release|resume)memoryoccupation|setinternalstate`,
  },
]

/** Matches closed segments between delimiters; an extension (`token.json`) is ignored. */
const patternOf = ({ segments }: ClosedEndpoint): RegExp =>
  new RegExp(String.raw`[/:](?:${segments})(?:\.\w+)?(?:$|[/:])`)

const PATTERNS = CLOSED.map((row) => ({ class: row.class, pattern: patternOf(row) }))

/** vLLM's administrative paths at the root, which no other server uses. */
const ROOT_CONTROLS = /^\/(?:sleep|wakeup|pause|resume)$/

/**
 * Whether a path is closed at every provider, and why.
 * @param path in lower case, decoded and without empty or dot segments
 */
export function closedEverywhere(path: string): ClosedClass | null {
  const squeezed = path.replaceAll(/[-_]/g, '')
  for (const row of PATTERNS) if (row.pattern.test(squeezed)) return row.class
  return ROOT_CONTROLS.test(squeezed) ? 'admin' : null
}
