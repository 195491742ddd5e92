import type { ModelPlace } from '../endpoint-row.ts'
import { creates, model, neutral, STORED } from '../openai-rows.ts'
import type { ProviderRow } from '../provider.ts'
import { ELEVENLABS_SPEECH } from '../speech-sockets.ts'
import { ELEVENLABS_TRANSCRIPTION } from '../transcription-sockets.ts'

/** Premade voices, which everybody may use: https://elevenlabs.io/docs/voices/premade-voices */
const PREMADE = [
  '21m00Tcm4TlvDq8ikWAM',
  '2EiwWnXFnvU5JabPnv8n',
  '5Q0t7uMcjvnagumLfvZi',
  '9BWtsMINqrJLrRacOk9x',
  'AZnzlk1XvdvUeBnXmlld',
  'CYw3kZ02Hs0563khs1Fj',
  'CwhRBWXzGAHq8TQ4Fs17',
  'D38z5RcWu1voky8WS1ja',
  'EXAVITQu4vr4xnSDxMaL',
  'ErXwobaYiN019PkySvjV',
  'FGY2WhTYpPnrIDTdsKH5',
  'GBv7mTt0atIp3Br8iCZE',
  'IKne3meq5aSn9XLyUdCD',
  'JBFqnCBsd6RMkjVDRZzb',
  'LcfcDJNUP1GQjkzn1xUU',
  'MF3mGyEYCl7XYWbV9V6O',
  'N2lVS1w4EtoT3dr4eOWO',
  'ODq5zmih8GrVes37Dizd',
  'SAz9YHcvj6GT2YYXdXww',
  'SOYHLrjzK2X1ezoPC6cr',
  'TX3LPaxmHKxFdv7VOQHJ',
  'ThT5KcBeYPX3keUQqHPh',
  'TxGEqnHWrfWFTfGW9XjX',
  'VR6AewLTigWG4xSOukaG',
  'XB0fDUnXU5powFXDhCwa',
  'Xb7hH8MSUJpSbSDYk0k2',
  'XrExE9yKIg1WjnnlVkGX',
  'ZQe5CZNOzWyzPSCn5a3c',
  'bIHbv24MWmeRgasZH58o',
  'bVMeCyTHy58xNoL34h3p',
  'cgSgspJ2msm6clMCkdW9',
  'cjVigY5qzO86Huf0OWal',
  'flq6f7yk4E4fJM5XTYuZ',
  'g5CIjZEefAph4nQFvHAz',
  'iP95p4xoKVk53GoZ742B',
  'jBpfuIE2acCO8z3wKLNl',
  'jsCqWAovK2LkecY7zXl4',
  'nPczCjzI2devNBz1zQrb',
  'oWAxZDx7w5VEj9dCyTzz',
  'onwK4e9ZLuTAKqWW03F9',
  'pFZP5JQG7iQjIQuC4Bku',
  'pMsXgVXv3BLzUgSXRprE',
  'pNInz6obpgDQGcFmaJgB',
  'piTKgcLEGmPE4e6mEKsW',
  'pqHfZKP75CvOlQylNhV4',
  't0jbNlBVZ17f02VDIeMI',
  'wViXBPUzp2ZZixB1xQuM',
  'yoZ06aMxZJJ28mfd3POQ',
  'z9fAnlkpzviPz146aGWa',
  'zcAOhNBS3c14rBihAFp1',
  'zrHiDhphv9ZnVXBqCLjz',
]

/** What a plan of music names: a song that is stored, as a whole or in parts. */
const SONGS = Object.fromEntries(
  ['composition_plan', 'music_prompt', 'source_composition_plan'].flatMap((plan) =>
    [
      'sections[].source_from.song_id',
      'chunks[].source_from.song_id',
      'chunks[].song_id',
      'chunks[].conditioning_ref.song_id',
    ].map((at) => [`${plan}.${at}`, 'song'] as const),
  ),
)
/**
 * What audio leaves behind, whose response has no other place to say so:
 * https://elevenlabs.io/docs/eleven-api/guides/how-to/text-to-speech/request-stitching,
 * https://elevenlabs.io/docs/api-reference/music/compose
 */
const KEPT = {
  createsInHeaders: { 'request-id': 'request', 'history-item-id': 'history_item' },
} as const
const COMPOSED = { createsInHeaders: { ...KEPT.createsInHeaders, 'song-id': 'song' } } as const

/** Voices that were designed and are not kept yet. */
const PREVIEWED = 'previews[].generated_voice_id'

const spoken = (multipart = false): ModelPlace => ({
  at: 'body',
  body: {
    required: ['model_id'],
    prose: ['text', 'inputs[].text', 'prompt'],
    objects: {
      'pronunciation_dictionary_locators[].pronunciation_dictionary_id': 'dictionary',
      'inputs[].voice_id': 'voice',
      'previous_request_ids[]': 'request',
      'next_request_ids[]': 'request',
      ...SONGS,
    },
    ...(multipart ? { multipart: true as const } : {}),
  },
})

/** ElevenLabs: https://elevenlabs.io/docs/api-reference */
export const elevenlabs: ProviderRow = {
  id: 'elevenlabs',
  name: 'ElevenLabs',
  variable: 'ELEVENLABS_API_KEY',
  base: 'https://api.elevenlabs.io/v1',
  hosts: ['api.elevenlabs.io', 'api.us.elevenlabs.io'],
  auth: { header: 'xi-api-key' },
  keyParameters: ['token', 'single_use_token', 'authorization'],
  endpoints: [
    ...['', '/stream', '/with-timestamps', '/stream/with-timestamps'].flatMap((form) => [
      model(`POST /v1/text-to-speech/{voice}${form}`, spoken(), {
        ...KEPT,
        changes: false,
      }),
      model(`POST /v1/text-to-dialogue${form}`, spoken(), KEPT),
    ]),
    ...['stream-input', 'multi-stream-input'].map((form) =>
      model(
        `GET /v1/text-to-speech/{voice}/${form}`,
        { at: 'query', parameter: 'model_id' },
        { socket: ELEVENLABS_SPEECH },
      ),
    ),
    ...['', '/stream'].map((form) =>
      model(`POST /v1/speech-to-speech/{voice}${form}`, spoken(true), {
        ...KEPT,
        changes: false,
      }),
    ),
    model('POST /v1/speech-to-text', spoken(true), creates('transcript', 'transcription_id')),
    model(
      'GET /v1/speech-to-text/realtime',
      { at: 'query', parameter: 'model_id' },
      { socket: ELEVENLABS_TRANSCRIPTION },
    ),
    neutral('GET DELETE /v1/speech-to-text/transcripts/{transcript}'),
    model('POST /v1/sound-generation', spoken(), KEPT),
    ...['', '/stream', '/detailed', '/detailed/stream', '/plan'].map((form) =>
      model(`POST /v1/music${form}`, spoken(), COMPOSED),
    ),
    model('POST /v1/music/video-to-music', spoken(true), COMPOSED),
    model('POST /v1/text-to-voice/design', spoken(), creates('preview', PREVIEWED)),
    // These name no model.
    ...[
      'audio-isolation',
      'audio-isolation/stream',
      'music/stem-separation',
      'forced-alignment',
    ].map((task) =>
      model(
        `POST /v1/${task}`,
        { at: 'path', body: { required: [], also: ['model_id'], multipart: true } },
        { modelName: `elevenlabs/${task.replace('/stream', '').replace('music/', '')}` },
      ),
    ),
    model(
      'POST /v1/text-to-voice/create-previews',
      { at: 'path', body: { required: [], also: ['model_id'], prose: ['text'] } },
      { ...creates('preview', PREVIEWED), modelName: 'elevenlabs/voice-design' },
    ),
    neutral('POST /v1/text-to-voice', {
      ...creates('voice', 'voice_id'),
      names: { generated_voice_id: 'preview' },
    }),
    neutral('GET /v1/models'),
    ...['/v1/voices', '/v2/voices'].map((path) =>
      neutral(`GET ${path}`, { listed: { 'voices[].voice_id': 'voice' } }),
    ),
    neutral('POST /v1/voices/add', { ...creates('voice', 'voice_id'), uploads: 'form' }),
    neutral('GET DELETE /v1/voices/{voice}'),
    neutral('POST /v1/voices/{voice}/edit', { uploads: 'form' }),
    neutral('GET /v1/voices/{voice}/settings'),
    neutral('POST /v1/voices/{voice}/settings/edit'),
    neutral('GET POST DELETE /v1/studio/projects/{studio_project}'),
    neutral('GET /v1/studio/projects/{studio_project}/{any}'),
    // It is spoken by the model that the project says.
    model('POST /v1/studio/projects/{studio_project}/{any}', STORED),
    neutral('GET DELETE /v1/history/{history_item}'),
    neutral('GET /v1/history/{history_item}/audio'),
    neutral('POST /v1/history/download', {
      names: { 'history_item_ids[]': 'history_item' },
      changes: false,
    }),
  ],
  mints: {
    'POST /v1/single-use-token/tts_websocket': 'elevenlabs-speech-token',
    'POST /v1/single-use-token/realtime_scribe': 'elevenlabs-transcription-token',
    'POST /v1/single-use-token/batch_scribe': 'elevenlabs-transcription-token',
  },
  admin: [/^\/v\d\/(?:workspaces?|usage|user)(?:$|\/)/],
  spelling: { bare: true },
  // Names may stand in the place of ids.
  chosenNames: true,
  errors: {
    detail: { status: '{code}', message: '{message}' },
    error: { message: '{message}', code: '{code}' },
  },
  usage: 'openai',
  probe: { path: '/v1/user' },
  publicObjects: { voice: new RegExp(`^(?:${PREMADE.join('|')})$`) },
}
