// OpenAI's realtime sockets: https://platform.openai.com/docs/api-reference/realtime-client-events
import type { BodyRule } from './body-rule.ts'
import type { SocketRow } from './socket-row.ts'
import type { ToolPlace, ToolTypes } from './tool-types.ts'
import { OPENAI_TOOLS } from './tools.ts'

/**
 * The settings of a session are in `session`, those of a response in `response`; the beta's guide
 * shows those of a transcription (`transcription_session.update`) in neither.
 */
const SETUPS = ['session.', 'response.', '']
/** Another model transcribes their audio: its current place, and those of the beta. */
const TRANSCRIBERS = [
  'session.audio.input.transcription.model',
  'session.input_audio_transcription.model',
  'input_audio_transcription.model',
]

/** Another model transcribes, and must be named. */
const TRANSCRIBES: ToolTypes = {
  types: {},
  others: { runs: 'unknown', why: 'Its input is transcribed by a model of the provider’s choice.' },
}

const bodyOf = (tools: ToolTypes): BodyRule => ({
  required: [],
  also: [
    ...TRANSCRIBERS,
    ...SETUPS.flatMap((at) => [
      `${at}model`,
      `${at}tools[].model`,
      `${at}audio.input.transcription.model`,
      `${at}turn_detection.model`,
      `${at}audio.input.turn_detection.model`,
    ]),
  ],
  // A stored prompt brings a model and tools of its own.
  stored: SETUPS.flatMap((at) => [`${at}prompt.id`]),
  tools: [
    ...SETUPS.map((at): ToolPlace => ({ at: `${at}tools[]`, by: 'type', tools })),
    ...TRANSCRIBERS.map((at) => ({ at: at.replace(/\.model$/, ''), tools: TRANSCRIBES })),
  ],
  prose: [
    'item.content[].text',
    'item.content[].transcript',
    'item.output',
    'item.arguments',
    'session.instructions',
    'response.instructions',
    'response.input[].content[].text',
    'audio',
  ],
  objects: Object.fromEntries(SETUPS.map((at) => [`${at}prompt.id`, 'prompt'])),
})

const ERROR = {
  type: 'error',
  event_id: 'event_tollmark',
  error: { type: '{type}', code: '{code}', message: '{message}', param: null, event_id: null },
} as const

const types = (...names: string[]): string[] => names.map((name) => `type=${name}`)

const COMMON = {
  body: bodyOf(OPENAI_TOOLS),
  mediaText: ['', 'session.'].map(
    (session) => [`{"type":"${session}input_audio_buffer.append","audio":"`, '"}'] as const,
  ),
  starts: types('response.create'),
  mayStart: types(
    'input_audio_buffer.append',
    'input_audio_buffer.commit',
    'session.input_audio_buffer.append',
    'input_text.append',
  ),
  quiet: types(
    'session.update',
    'session.close',
    'transcription_session.update',
    'input_audio_buffer.clear',
    'output_audio_buffer.clear',
    'conversation.item.create',
    'conversation.item.retrieve',
    'conversation.item.truncate',
    'conversation.item.delete',
    'response.cancel',
  ),
  begins: types('response.created'),
  ends: types('response.done'),
  fails: types('error'),
  responseId: 'response.id',
  local: ['item', 'response', 'conversation'],
  error: ERROR,
} as const

/** Transcription alone has no responses. */
export const OPENAI_TRANSCRIPTION: SocketRow = {
  ...COMMON,
  counts: 'minutes',
  naming: TRANSCRIBERS,
  namedLater: true,
  usage: 'usage',
}

/** A translation continues as long as the audio. */
export const OPENAI_TRANSLATION: SocketRow = {
  ...COMMON,
  counts: 'minutes',
  naming: ['session.model'],
  usage: 'usage',
}

/** A conversation, unless its query asks for a transcription. */
export const OPENAI_REALTIME: SocketRow = {
  ...COMMON,
  counts: 'responses',
  naming: ['session.model'],
  usage: 'response.usage',
  instead: { query: ['intent', 'transcription'], socket: OPENAI_TRANSCRIPTION },
}

/** A conversation with another provider of this API, or with other tools. */
export const realtimeSocket = (tools: ToolTypes): SocketRow => {
  const { instead: _, ...conversation } = OPENAI_REALTIME
  return { ...conversation, body: bodyOf(tools) }
}

/** A socket with other tools, also in its `instead`. */
export const withTools = (socket: SocketRow, tools: ToolTypes): SocketRow => ({
  ...socket,
  body: bodyOf(tools),
  ...(socket.instead === undefined
    ? {}
    : { instead: { ...socket.instead, socket: withTools(socket.instead.socket, tools) } }),
})

const kebab = (signs: readonly string[]): string[] =>
  signs.map((sign) => sign.replaceAll(/[._]/g, '-'))

/**
 * Places of settings in the gateway's messages: like OpenAI's, in a configuration, and in options.
 */
const GATEWAY_SETUPS = [...SETUPS, 'config.', 'options.']
/**
 * The places of one setting in all setups of the gateway. @param place in a session or a response
 */
const inEverySetup = (place: string): string[] => {
  const inside = place.replace(/^(?:session|response)\./, '')
  return GATEWAY_SETUPS.map((at) => at + inside)
}
const everywhere = (places: readonly string[]): string[] => [
  ...new Set(places.flatMap(inEverySetup)),
]

/**
 * The realtime sockets of Vercel's AI Gateway: the same in the events of the AI SDK
 * (`Experimental_RealtimeModelV4ClientEvent`).
 */
export const gatewayRealtime = (fallbacks: readonly string[]): SocketRow => {
  const { instead: _, responseId: __, ...conversation } = OPENAI_REALTIME
  const body = bodyOf(OPENAI_TOOLS)
  const transcribers = everywhere([
    ...TRANSCRIBERS.map((at) => at.replace(/\.model$/, '')),
    'inputAudioTranscription',
  ])
  return {
    ...conversation,
    body: {
      ...body,
      also: [
        ...everywhere([...(body.also ?? []), 'outputAudioTranscription.model', ...fallbacks]),
        ...transcribers.map((at) => `${at}.model`),
      ],
      stored: everywhere(body.stored ?? []),
      tools: [
        ...everywhere(['tools[]']).flatMap((at): ToolPlace[] => [
          { at, by: 'type', tools: OPENAI_TOOLS },
        ]),
        ...transcribers.map((at) => ({ at, tools: TRANSCRIBES })),
      ],
    },
    naming: ['config.model'],
    quiet: kebab([
      ...conversation.quiet,
      'type=input-audio-clear',
      'type=conversation-item-truncate',
    ]),
    mediaText: [['{"type":"input-audio-append","audio":"', '"}']],
    starts: kebab(conversation.starts),
    mayStart: ['type=input-audio-append', 'type=input-audio-commit', 'type=context-append'],
    begins: kebab(conversation.begins),
    ends: kebab(conversation.ends),
    fails: ['type=error'],
    responseId: 'responseId',
    usage: 'raw.response.usage',
    error: { type: 'error', message: '{message}', code: '{code}', raw: ERROR },
  }
}
