// Finds the key among a client's subprotocols, and selects those to forward. Browsers cannot set
// headers of a WebSocket, so providers accept a key there.

/**
 * TABLE of subprotocols that carry a credential, or choose an account within ours: OpenAI
 * (platform.openai.com/docs/guides/realtime-websocket), xAI and Vercel (their packages of the AI
 * SDK), ElevenLabs (@elevenlabs/client).
 */
const CREDENTIAL =
  /^(?:openai-insecure-api-key|openai-organization|openai-project|xai-client-secret|ai-gateway-auth|ai-gateway-team|bearer)\./
/** Subprotocols that are followed by the key as a separate one (Deepgram: `token, <key>`). */
const BEFORE_CREDENTIAL = /^(?:token|bearer)$/i
const OWN_KEY = /^(?:[\w-]+\.)?(tmk_\w+)$/

/** Proxy keys among the subprotocols of a handshake. */
export const keysIn = (protocols: readonly string[]): string[] =>
  protocols.flatMap((one) => OWN_KEY.exec(one)?.[1] ?? [])

/** The forwarded subprotocols: those without credentials. */
export const forwardedProtocols = (protocols: readonly string[]): string[] =>
  protocols.filter(
    (one, i) =>
      !CREDENTIAL.test(one) &&
      !OWN_KEY.test(one) &&
      !BEFORE_CREDENTIAL.test(one) &&
      !BEFORE_CREDENTIAL.test(protocols[i - 1] ?? ''),
  )

/**
 * The subprotocol of our response: the provider's, or if the client offered only its credential,
 * the one that the provider would have chosen. Without one, browsers close the socket.
 */
export const selectedProtocol = (
  protocols: readonly string[],
  forwarded: readonly string[],
  chosen: string | null,
): string | null => (forwarded.length > 0 ? chosen : (protocols[0] ?? null))
