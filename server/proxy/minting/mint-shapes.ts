// TABLE of the requests by which clients get a short-lived token from a provider, and of the
// responses that we send instead, with a child key.
import { z } from 'zod'

/** A client's request. */
export interface TokenRequest {
  /** Models that the session names; null if it names none. */
  readonly models: readonly string[] | null
  /** Patterns of the models that the key may use, among its parent's; by default, all. */
  readonly families?: readonly string[]
  /** Seconds; null for the provider's own default. */
  readonly ttl: number | null
}

/** Why a request gets no key. */
export interface MintRefusal {
  /** `malformed_request`: the provider would reject it, too. */
  readonly code: 'malformed_request' | 'endpoint_not_allowed'
  readonly message: string
}

/** The response to a client. */
export interface Minted {
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly ttl: number
}

/** One provider's request and response. */
export interface MintShape {
  /** The default in seconds, and the provider's bounds. */
  readonly ttl: { readonly usual: number; readonly min: number; readonly max: number }
  /**
   * Reads a request. Other settings of the session (instructions, voices, tools) are ignored; the
   * client sends them when it connects.
   *
   * @param now milliseconds since 1970
   */
  readonly read: (body: unknown, now: number) => TokenRequest | MintRefusal
  readonly response: (minted: Minted, request: TokenRequest) => object
}

const named = z.string().min(1)
const seconds = z.number()
const transcription = z.looseObject({ model: named.optional() }).nullish()

/** The named models; null if there are none. */
const namedModels = (...models: (string | null | undefined)[]): string[] | null => {
  const found = [...new Set(models.filter((one) => typeof one === 'string'))]
  return found.length === 0 ? null : found
}

/** @param of makes a request of a body of the schema's form */
const reading =
  <S extends z.ZodType>(
    schema: S,
    of: (body: z.output<S>, now: number) => TokenRequest | MintRefusal,
  ): MintShape['read'] =>
  (body, now) => {
    const parsed = schema.safeParse(body)
    if (parsed.success) return of(parsed.data, now)
    const [issue] = parsed.error.issues
    const message = `The body is not what this endpoint expects: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}.`
    return { code: 'malformed_request', message }
  }

const unixSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

/** https://platform.openai.com/docs/api-reference/realtime-sessions/create-realtime-client-secret */
const OPENAI_SECRET: MintShape = {
  ttl: { usual: 600, min: 10, max: 7_200 },
  read: reading(
    z.looseObject({
      expires_after: z.looseObject({ seconds: seconds.optional() }).nullish(),
      session: z
        .looseObject({
          type: z.string().optional(),
          model: named.nullish(),
          audio: z.looseObject({ input: z.looseObject({ transcription }).nullish() }).nullish(),
        })
        .nullish(),
    }),
    ({ expires_after, session }) => {
      const heard = session?.audio?.input?.transcription?.model
      const speaks = session?.model ?? (session?.type === 'transcription' ? heard : undefined)
      // Without a model, the provider chooses the one that speaks.
      const models = speaks === undefined ? null : namedModels(speaks, heard)
      return { models, ttl: expires_after?.seconds ?? null }
    },
  ),
  response: ({ secret, expiresAt }, { models }) => ({
    value: secret,
    expires_at: unixSeconds(expiresAt),
    session: { object: 'realtime.session', type: 'realtime', model: models?.[0] ?? null },
  }),
}

/** The earlier endpoints: https://platform.openai.com/docs/api-reference/realtime-sessions */
const oldOpenAi = (object: string): MintShape => ({
  ttl: { usual: 600, min: 10, max: 7_200 },
  read: reading(
    z.looseObject({
      model: named.nullish(),
      input_audio_transcription: transcription,
      client_secret: z
        .looseObject({ expires_after: z.looseObject({ seconds: seconds.optional() }).nullish() })
        .nullish(),
    }),
    ({ model, input_audio_transcription, client_secret }) => {
      const heard = input_audio_transcription?.model
      const speaks = model ?? (object === 'realtime.transcription_session' ? heard : undefined)
      return {
        models: speaks === undefined ? null : namedModels(speaks, heard),
        ttl: client_secret?.expires_after?.seconds ?? null,
      }
    },
  ),
  response: ({ secret, expiresAt }, { models }) => ({
    object,
    model: models?.[0] ?? null,
    client_secret: { value: secret, expires_at: unixSeconds(expiresAt) },
  }),
})

/** https://docs.x.ai/docs/guides/voice/agent */
const XAI_SECRET: MintShape = {
  ttl: { usual: 600, min: 1, max: 3_600 },
  read: reading(
    z.looseObject({
      expires_after: z.looseObject({ seconds: seconds.optional() }).nullish(),
      session: z.looseObject({ model: named.nullish() }).nullish(),
    }),
    ({ expires_after, session }) => ({
      models: namedModels(session?.model),
      ttl: expires_after?.seconds ?? null,
    }),
  ),
  response: ({ secret, expiresAt }) => ({ value: secret, expires_at: unixSeconds(expiresAt) }),
}

/** https://ai.google.dev/api/live#ephemeral-auth-tokens */
const GOOGLE_TOKEN: MintShape = {
  ttl: { usual: 1_800, min: 1, max: 72_000 },
  read: reading(
    z.looseObject({
      uses: z.number().int().optional(),
      expireTime: z.iso.datetime({ offset: true }).optional(),
      bidiGenerateContentSetup: z
        .looseObject({
          model: named.optional(),
          setup: z.looseObject({ model: named.optional() }).optional(),
        })
        .optional(),
    }),
    ({ uses, expireTime, bidiGenerateContentSetup: setup }, now) =>
      uses === 0
        ? {
            models: namedModels(setup?.model ?? setup?.setup?.model),
            ttl: expireTime === undefined ? null : (Date.parse(expireTime) - now) / 1000,
          }
        : {
            code: 'endpoint_not_allowed',
            message:
              'The proxy does not count how often a token is used, so it cannot limit the number of uses. Send "uses": 0, and an early "expireTime".',
          },
  ),
  response: ({ secret, expiresAt }) => ({
    name: secret,
    expireTime: new Date(expiresAt).toISOString(),
  }),
}

/** https://developers.deepgram.com/reference/auth/tokens/grant */
const DEEPGRAM_GRANT: MintShape = {
  ttl: { usual: 30, min: 1, max: 3_600 },
  read: reading(z.looseObject({ ttl_seconds: seconds.nullish() }), ({ ttl_seconds }) => ({
    models: null,
    ttl: ttl_seconds ?? null,
  })),
  response: ({ secret, ttl }) => ({ access_token: secret, expires_in: ttl }),
}

/**
 * https://docs.cartesia.ai/api-reference/auth/access-token. A grant allows the models whose names
 * begin with its family: https://docs.cartesia.ai/build-with-cartesia/models.
 */
const CARTESIA_TOKEN: MintShape = {
  ttl: { usual: 600, min: 1, max: 3_600 },
  read: reading(
    z.looseObject({
      grants: z.looseObject({
        tts: z.boolean().nullish(),
        stt: z.boolean().nullish(),
        agent: z.boolean().nullish(),
      }),
      expires_in: seconds.nullish(),
    }),
    ({ grants: { tts, stt, agent }, expires_in }) => {
      if (agent === true)
        return {
          code: 'endpoint_not_allowed',
          message: 'The proxy issues no tokens for agents. Leave "agent" out of the grants.',
        }
      if (tts !== true && stt !== true)
        return { code: 'malformed_request', message: 'Grant "tts", "stt" or both.' }
      const families = [...(tts === true ? ['sonic*'] : []), ...(stt === true ? ['ink*'] : [])]
      return { models: null, families, ttl: expires_in ?? null }
    },
  ),
  response: ({ secret }) => ({ token: secret }),
}

/**
 * https://elevenlabs.io/docs/api-reference/tokens/create. A kind of token allows the models whose
 * names begin with its family: https://elevenlabs.io/docs/models.
 */
const elevenLabsToken = (family: string): MintShape => ({
  ttl: { usual: 900, min: 1, max: 900 },
  read: reading(z.looseObject({}), () => ({ models: null, families: [family], ttl: null })),
  response: ({ secret }) => ({ token: secret }),
})

/** What `@ai-sdk/gateway` sends and reads. */
const GATEWAY_SECRET: MintShape = {
  ttl: { usual: 600, min: 1, max: 3_600 },
  read: reading(
    z.looseObject({ model: named.optional(), expiresIn: seconds.nullish() }),
    ({ model, expiresIn }) => ({ models: namedModels(model), ttl: expiresIn ?? null }),
  ),
  response: ({ secret, expiresAt }) => ({ token: secret, expiresAt: unixSeconds(expiresAt) }),
}

/** TABLE of the shapes, by their name in a provider's row. */
export const MINT_SHAPES = {
  'openai-client-secret': OPENAI_SECRET,
  'openai-session': oldOpenAi('realtime.session'),
  'openai-transcription-session': oldOpenAi('realtime.transcription_session'),
  'xai-client-secret': XAI_SECRET,
  'google-auth-token': GOOGLE_TOKEN,
  'deepgram-grant': DEEPGRAM_GRANT,
  'cartesia-token': CARTESIA_TOKEN,
  'elevenlabs-speech-token': elevenLabsToken('eleven_*'),
  'elevenlabs-transcription-token': elevenLabsToken('scribe_*'),
  'gateway-client-secret': GATEWAY_SECRET,
} as const satisfies Record<string, MintShape>

/** The name of a shape. */
export type MintShapeName = keyof typeof MINT_SHAPES
