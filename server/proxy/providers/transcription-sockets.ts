// Sockets that transcribe as long as audio arrives: each minute is a row. Their query names the
// model.
import { BY_MINUTE, type SocketRow } from './socket-row.ts'

const MINUTES = {
  ...BY_MINUTE,
  body: { required: [], also: ['model', 'model_id', 'session.model'] },
} as const

const types = (...names: string[]): string[] => names.map((name) => `type=${name}`)

/** Mistral: https://docs.mistral.ai/capabilities/audio_transcription, and @ai-sdk/mistral. */
export const MISTRAL_TRANSCRIPTION: SocketRow = {
  ...MINUTES,
  quiet: types('session.update'),
  mayStart: types('input_audio.append', 'input_audio.flush', 'input_audio.end'),
  usage: 'usage',
  error: {
    type: 'error',
    error: { message: { detail: '{message}' }, code: '{status}', type: '{type}' },
  },
}

/** xAI: https://docs.x.ai/docs/guides/voice, and @ai-sdk/xai. */
export const XAI_TRANSCRIPTION: SocketRow = {
  ...MINUTES,
  quiet: types('audio.done'),
  mayStart: [],
  media: true,
  error: { type: 'error', code: '{code}', message: '{message}' },
}

/** ElevenLabs: https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime */
export const ELEVENLABS_TRANSCRIPTION: SocketRow = {
  ...MINUTES,
  body: { ...MINUTES.body, prose: ['previous_text', 'audio_base_64'] },
  quiet: [],
  mayStart: ['message_type=input_audio_chunk'],
  error: { message_type: 'error', error: '{message}' },
}

/** Cartesia: https://docs.cartesia.ai/api-reference/stt/websocket. Its commands are bare words. */
export const CARTESIA_TRANSCRIPTION: SocketRow = {
  ...MINUTES,
  quiet: types('finalize', 'close', 'done'),
  mayStart: [],
  media: true,
  commands: ['finalize', 'close', 'done', '"finalize"', '"close"', '"done"'],
  error: {
    type: 'error',
    title: '{type}',
    message: '{message}',
    error_code: '{code}',
    status_code: '{status}',
  },
}

/** Deepgram: https://developers.deepgram.com/reference/speech-to-text/listen-streaming */
export const DEEPGRAM_TRANSCRIPTION: SocketRow = {
  ...MINUTES,
  quiet: types('KeepAlive', 'Finalize', 'CloseStream', 'Configure'),
  mayStart: [],
  media: true,
  error: { type: 'Error', description: '{message}', message: '{message}', variant: '{code}' },
}

/** Vercel's AI Gateway: @ai-sdk/gateway, and `parseTranscriptionStreamPart` of its helpers. */
export const gatewayTranscription = (fallbacks: readonly string[]): SocketRow => ({
  ...MINUTES,
  body: { required: [], also: ['model', ...fallbacks] },
  quiet: types('transcription-stream.start', 'transcription-stream.audio-done'),
  mayStart: [],
  media: true,
  usage: 'usage',
  error: { type: 'error', error: { message: '{message}', type: '{type}', code: '{code}' } },
})
