import {
  ELEVENLABS_AGENTS,
  ELEVENLABS_LINKS,
  ELEVENLABS_SECRETS,
  ELEVENLABS_WORKSPACE,
} from '../elevenlabs-agents.ts'
import type { EndpointRow, ModelPlace } from '../endpoint-row.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { ELEVENLABS_SPEECH } from '../speech-sockets.ts'
import { ELEVENLABS_TRANSCRIPTION } from '../transcription-sockets.ts'

/** Premade voices, which are public: https://elevenlabs.io/docs/voices/premade-voices */
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

/** Objects that a music plan names: a stored song, whole or in parts. */
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
 * Objects created with audio, whose response can name them only in headers:
 * https://elevenlabs.io/docs/eleven-api/guides/how-to/text-to-speech/request-stitching,
 * https://elevenlabs.io/docs/api-reference/music/compose
 */
const KEPT = {
  createsInHeaders: { 'request-id': 'request', 'history-item-id': 'history_item' },
} as const
const COMPOSED = { createsInHeaders: { ...KEPT.createsInHeaders, 'song-id': 'song' } } as const

/** Designed voices that are not stored yet. */
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

/** These name no model: a key's models may contain a fixed name instead. */
const task = (on: string, name: string, more: Partial<EndpointRow> = {}): EndpointRow =>
  model(
    on,
    { at: 'path', body: { required: [], also: ['model_id'], prose: ['text'], multipart: true } },
    { modelName: `elevenlabs/${name}`, ...more },
  )

/** A dubbing project, in both of its APIs, with everything that belongs to it. */
const DUBBING: readonly EndpointRow[] = [
  task('POST /v1/dubbing', 'dubbing', creates('dub', 'dubbing_id')),
  neutral('GET /v1/dubbing', { listed: { 'dubs[].dubbing_id': 'dub' } }),
  task('POST /v1/dubbing/project', 'dubbing', creates('dub', 'project_id')),
  neutral('GET /v1/dubbing/project', { listed: { 'projects[].project_id': 'dub' } }),
  ...['/v1/dubbing/project/{dub}', '/v1/dubbing/resource/{dub}', '/v1/dubbing/{dub}'].flatMap(
    (one) => [
      neutral(`GET DELETE ${one}`),
      neutral(`GET DELETE ${one}/{any*}`),
      task(`POST PATCH ${one}/{any*}`, 'dubbing'),
    ],
  ),
]

/** Stored songs, pictures and files, and models that are tuned to songs. */
const MEDIA: readonly EndpointRow[] = [
  neutral('POST /v1/music/upload', { ...creates('song', 'song_id'), uploads: 'form' }),
  model('POST /v1/music/finetunes', STORED, creates('finetune')),
  neutral('GET /v1/music/finetunes', { listed: { 'finetunes[].id': 'finetune' } }),
  neutral('GET PATCH DELETE /v1/music/finetunes/{finetune}'),
  ...['image', 'video', 'text-to-speech'].flatMap((kind) => [
    model(`POST /v1/flows/${kind}`, spoken(), creates('flow')),
    neutral(`GET /v1/flows/${kind}`, { listed: { 'generations[].id': 'flow' } }),
    neutral(`GET /v1/flows/${kind}/{flow}`),
  ]),
  neutral('GET /v1/flows/templates', { listed: { 'templates[].id': 'flow_template' } }),
  neutral('GET /v1/flows/templates/{flow_template}'),
  model('POST /v1/flows/templates/{flow_template}/runs', STORED, creates('flow_run')),
  neutral('GET /v1/flows/templates/{flow_template}/runs'),
  neutral('GET /v1/flows/templates/{flow_template}/runs/{flow_run}'),
  neutral('POST /v1/assets', { ...creates('asset', 'asset_id'), uploads: 'form' }),
  neutral('GET /v1/assets', { listed: { 'assets[].asset_id': 'asset' } }),
  neutral('GET DELETE /v1/assets/{asset}'),
  neutral('GET /v1/audio-effects/catalog', { listed: null }),
  neutral('GET /v1/audio-isolation/history', { listed: { 'items[].id': 'isolation' } }),
  neutral('DELETE /v1/audio-isolation/history/{isolation}'),
]

/** Books, podcasts and pages, spoken by the project's model. */
const STUDIO: readonly EndpointRow[] = [
  ...['projects', 'podcasts'].map((what) =>
    model(`POST /v1/studio/${what}`, STORED, creates('studio_project', 'project.project_id')),
  ),
  neutral('GET /v1/studio/projects', { listed: { 'projects[].project_id': 'studio_project' } }),
  neutral('GET POST DELETE /v1/studio/projects/{studio_project}'),
  neutral('GET DELETE /v1/studio/projects/{studio_project}/{any*}'),
  model('POST /v1/studio/projects/{studio_project}/{any*}', STORED),
  model('POST /v1/audio-native', STORED, creates('audio_native', 'project_id')),
  model('POST /v1/audio-native/content', STORED),
  model('POST /v1/audio-native/{audio_native}/content', STORED),
  neutral('GET /v1/audio-native/{audio_native}/settings'),
]

/** The account's own voices, from designs, recordings and the public library. */
const VOICES: readonly EndpointRow[] = [
  neutral('POST /v1/text-to-voice', {
    ...creates('voice', 'voice_id'),
    names: { generated_voice_id: 'preview' },
  }),
  model('POST /v1/text-to-voice/design', spoken(), creates('preview', PREVIEWED)),
  task('POST /v1/text-to-voice/create-previews', 'voice-design', creates('preview', PREVIEWED)),
  task('POST /v1/text-to-voice/{voice}/remix', 'voice-design', {
    ...creates('preview', PREVIEWED),
    changes: false,
  }),
  neutral('GET /v1/text-to-voice/{preview}/stream'),
  ...['/v1/voices', '/v2/voices'].map((path) =>
    neutral(`GET ${path}`, { listed: { 'voices[].voice_id': 'voice' } }),
  ),
  neutral('POST /v1/voices/add', { ...creates('voice', 'voice_id'), uploads: 'form' }),
  neutral('POST /v1/voices/add/{any}/{any}', creates('voice', 'voice_id')),
  ...['accents', 'settings/default'].map((what) =>
    neutral(`GET /v1/voices/${what}`, { listed: null }),
  ),
  neutral('GET /v1/shared-voices', { listed: null }),
  neutral('POST /v1/similar-voices', { changes: false, uploads: 'form' }),
  neutral('POST /v1/voices/collections', creates('voice_collection', 'collection_id')),
  neutral('GET /v1/voices/collections', {
    listed: { 'collections[].collection_id': 'voice_collection' },
  }),
  neutral('GET PATCH DELETE /v1/voices/collections/{voice_collection}'),
  neutral('POST DELETE /v1/voices/collections/{voice_collection}/voice/{voice}'),
  neutral('POST /v1/voices/pvc', creates('voice', 'voice_id')),
  neutral('POST /v1/voices/pvc/{voice}'),
  neutral('GET DELETE /v1/voices/pvc/{voice}/{any*}'),
  neutral('POST /v1/voices/pvc/{voice}/samples', { uploads: 'form' }),
  model('POST /v1/voices/pvc/{voice}/{any*}', STORED),
  neutral('GET DELETE /v1/voices/{voice}'),
  neutral('POST /v1/voices/{voice}/edit', { uploads: 'form' }),
  neutral('GET /v1/voices/{voice}/settings'),
  neutral('POST /v1/voices/{voice}/settings/edit'),
  neutral('DELETE /v1/voices/{voice}/samples/{any}'),
  neutral('GET /v1/voices/{voice}/samples/{any}/audio'),
]

const DICTIONARIES: readonly EndpointRow[] = [
  ...['add-from-file', 'add-from-rules'].map((way) =>
    neutral(`POST /v1/pronunciation-dictionaries/${way}`, {
      ...creates('dictionary'),
      uploads: 'form',
    }),
  ),
  neutral('GET /v1/pronunciation-dictionaries', {
    listed: { 'pronunciation_dictionaries[].id': 'dictionary' },
  }),
  neutral('GET PATCH /v1/pronunciation-dictionaries/{dictionary}'),
  ...['add', 'remove', 'set'].map((verb) =>
    neutral(`POST /v1/pronunciation-dictionaries/{dictionary}/${verb}-rules`),
  ),
  neutral('GET /v1/pronunciation-dictionaries/{dictionary}/{any}/download'),
]

/** ElevenLabs: https://elevenlabs.io/docs/api-reference */
export const elevenlabs: ProviderRow = {
  id: 'elevenlabs',
  name: 'ElevenLabs',
  variable: 'ELEVENLABS_API_KEY',
  base: 'https://api.elevenlabs.io/v1',
  hosts: ['api.elevenlabs.io', 'api.us.elevenlabs.io'],
  auth: { header: 'xi-api-key' },
  keyParameters: ['token', 'single_use_token', 'authorization', 'conversation_signature'],
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
    ...['audio-isolation', 'music/stem-separation', 'forced-alignment'].map((what) =>
      task(`POST /v1/${what}`, what.replace('music/', '')),
    ),
    task('POST /v1/audio-isolation/stream', 'audio-isolation'),
    neutral('GET /v1/models'),
    neutral('GET /v1/history', { listed: { 'history[].history_item_id': 'history_item' } }),
    neutral('GET DELETE /v1/history/{history_item}'),
    neutral('GET /v1/history/{history_item}/audio'),
    neutral('POST /v1/history/download', {
      names: { 'history_item_ids[]': 'history_item' },
      changes: false,
    }),
    ...VOICES,
    ...DICTIONARIES,
    ...STUDIO,
    ...DUBBING,
    ...MEDIA,
    ...ELEVENLABS_AGENTS,
  ],
  mints: {
    'POST /v1/single-use-token/tts_websocket': 'elevenlabs-speech-token',
    'POST /v1/single-use-token/realtime_scribe': 'elevenlabs-transcription-token',
    'POST /v1/single-use-token/batch_scribe': 'elevenlabs-transcription-token',
  },
  minting: ELEVENLABS_LINKS,
  // Productions are paid work by people.
  admin: [/^\/v\d\/(?:workspaces?|usage|user|productions)(?:$|\/)/, ...ELEVENLABS_WORKSPACE],
  spelling: {
    bare: true,
    prefixes: { agent_: 'agent', conv_: 'conversation', phnum_: 'phone_number', tool_: 'tool' },
  },
  operated: ELEVENLABS_SECRETS,
  // Names may be used instead of ids.
  chosenNames: true,
  errors: {
    detail: { status: '{code}', message: '{message}' },
    error: { message: '{message}', code: '{code}' },
  },
  usage: 'openai',
  probe: { path: '/v1/user' },
  publicObjects: { voice: new RegExp(`^(?:${PREMADE.join('|')})$`) },
}
