// Sockets that speak text. Several generations may run in one, and most providers do not report
// when one begins, so each minute is a row.
import { BY_MINUTE, type SocketRow } from './socket-row.ts'

/**
 * ElevenLabs, with one context and with many:
 * https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-stream-input,
 * …-multi-stream-input. The query names the model.
 */
export const ELEVENLABS_SPEECH: SocketRow = {
  ...BY_MINUTE,
  body: {
    required: [],
    also: ['model_id'],
    prose: ['text'],
    objects: { 'pronunciation_dictionary_locators[].pronunciation_dictionary_id': 'dictionary' },
  },
  quiet: ['close_context', 'close_socket'],
  mayStart: ['text', 'flush'],
  credentials: ['xi_api_key', 'xi-api-key', 'authorization'],
  error: { message: '{message}', error: '{code}', code: '{status}' },
}

/** Cartesia: https://docs.cartesia.ai/api-reference/tts/websocket. Each generation names its model. */
export const CARTESIA_SPEECH: SocketRow = {
  ...BY_MINUTE,
  body: {
    required: [],
    also: ['model_id', 'model'],
    prose: ['transcript'],
    objects: { 'voice.id': 'voice', voice_id: 'voice' },
  },
  naming: ['model_id'],
  namedLater: true,
  quiet: ['cancel'],
  mayStart: ['transcript', 'flush'],
  error: {
    type: 'error',
    title: '{type}',
    message: '{message}',
    error_code: '{code}',
    status_code: '{status}',
  },
}

/**
 * Deepgram: https://developers.deepgram.com/reference/text-to-speech/speak-streaming, and …/speak-flux
 * (v2). The query names the model.
 */
export const DEEPGRAM_SPEECH: SocketRow = {
  ...BY_MINUTE,
  body: { required: [], also: ['model'], prose: ['text'] },
  quiet: ['type=Clear', 'type=Reset', 'type=Close'],
  mayStart: ['type=Speak', 'type=Flush'],
  error: { type: 'Error', description: '{message}', code: '{code}' },
}
