// TABLE of what a request makes at a provider whose ids are no OpenAI-like text, and of requests
// that name it: for its maker only. By the providers' references.
import type { SdkEndpoint } from './sdk-endpoints.ts'

type Asked = Pick<SdkEndpoint, 'on' | 'body' | 'form'>

/** What is made, and what names it. */
export interface MadeObject {
  readonly makes: Asked
  /** The response: a text where its numbers are no safe integers. */
  readonly response?: object | string
  readonly headers?: Readonly<Record<string, string>>
  readonly names: readonly Asked[]
  /** Requests that name what nobody here has made. */
  readonly nobodys?: readonly Asked[]
}

const post = (address: string, body: unknown = {}): Asked => ({ on: `POST ${address}`, body })
const UUID = '0c7a7d5e-2a43-4e19-9a0c-6f2f6f0c8b11'

const CDN = `https://cdn.assemblyai.com/upload/${UUID}`
const REPLICATE_FILE = 'https://api.replicate.com/v1/files/abc123def456ghi789jkl012mn'

const MINIMAX = 'api.minimax.io/v1'
const cloned = (file_id: unknown, more = {}): Asked =>
  post(`${MINIMAX}/voice_clone`, { file_id, voice_id: 'MyVoice001', model: 'm', ...more })
const UPLOAD: Asked = { on: `POST ${MINIMAX}/files/upload`, form: { purpose: 'voice_clone' } }

const CLOUDFLARE =
  'api.cloudflare.com/client/v4/accounts/0123/ai/run/@cf/baai/bge-m3?queueRequest=true'

const ELEVENLABS = 'api.elevenlabs.io/v1'
const [REQUEST, SPOKEN, SONG] = [
  'q7YKqPnjY4h39yTbx2L1',
  'w7YKqPnjY4h39yTbx2L2',
  'e7YKqPnjY4h39yTbx2L3',
]
const AGENT = 'agent_7101k5zvyjhmfg983brhmhkd98n6'
const NOBODYS = 'VW7YKqPnjY4h39yTbx2L'
const SPEECH = `${ELEVENLABS}/text-to-speech/21m00Tcm4TlvDq8ikWAM`
const SAID = { text: 'x', model_id: 'eleven_multilingual_v2' }
const composed = (composition_plan: object): Asked =>
  post(`${ELEVENLABS}/music`, { model_id: 'music_v2', composition_plan })

const QWEN = 'dashscope.aliyuncs.com/compatible-mode/v1'
const FILE = 'file-fe-u2f6k9s1m3c5x7z0b4n8v2qa'
const reading = (content: string): Asked =>
  post(`${QWEN}/chat/completions`, {
    model: 'qwen-long',
    messages: [{ role: 'system', content }],
  })

const KLING = 'api-singapore.klingai.com/v1/videos'
const TASK = '831928374650192837'
const VIDEO = 'f3b1c5d7-1a2b-4c3d-8e4f-5a6b7c8d9e0f'

export const MADE_OBJECTS: readonly MadeObject[] = [
  {
    makes: { on: 'POST api.assemblyai.com/v2/upload', form: {} },
    response: { upload_url: CDN },
    names: [
      post('api.assemblyai.com/v2/transcript', { audio_url: CDN, speech_model: 'universal' }),
    ],
  },
  {
    makes: { on: 'POST api.replicate.com/v1/files', form: {} },
    response: { id: 'abc123def456ghi789jkl012mn' },
    names: [
      post('api.replicate.com/v1/predictions', {
        version: 'acme/model:0123456789abcdef',
        input: { image: REPLICATE_FILE },
      }),
    ],
  },
  // https://platform.minimax.io/docs/guides/speech-voice-clone: a file's id is a number.
  {
    makes: UPLOAD,
    response: { file: { file_id: 132_255_243_020_731 } },
    names: [
      post(`${MINIMAX}/files/delete`, { file_id: 132_255_243_020_731 }),
      cloned(132_255_243_020_731),
      cloned('132255243020731'),
      cloned('0132255243020731'),
      // Where no row says so, too.
      post(`${MINIMAX}/chat/completions`, { model: 'm', messages: [], x: 132_255_243_020_731 }),
      post(`${MINIMAX}/chat/completions`, { model: 'm', messages: [], x: '132255243020731' }),
      post(`${MINIMAX}/of/tomorrow`, { files: [{ file_id: 132_255_243_020_731 }] }),
    ],
    nobodys: [cloned(132_255_243_020_732)],
  },
  {
    makes: UPLOAD,
    response: '{"file":{"file_id":9007199254740993}}',
    names: [cloned('9007199254740993')],
    // As floats both are the same number.
    nobodys: [cloned('9007199254740992')],
  },
  // https://developers.cloudflare.com/workers-ai/features/batch-api/rest-api
  {
    makes: post(CLOUDFLARE, { requests: [{ query: 'x' }] }),
    response: { result: { status: 'queued', request_id: UUID } },
    names: [post(CLOUDFLARE, { request_id: UUID })],
    nobodys: [post(CLOUDFLARE, { request_id: VIDEO })],
  },
  // https://elevenlabs.io/docs/eleven-api/guides/how-to/text-to-speech/request-stitching
  {
    makes: post(SPEECH, SAID),
    headers: { 'request-id': REQUEST, 'history-item-id': SPOKEN },
    names: [
      post(SPEECH, { ...SAID, previous_request_ids: [REQUEST] }),
      post(SPEECH, { ...SAID, next_request_ids: [REQUEST] }),
      { on: `GET ${ELEVENLABS}/history/${SPOKEN}` },
      post(`${ELEVENLABS}/history/download`, { history_item_ids: [SPOKEN] }),
      post(`${ELEVENLABS}/of/tomorrow`, { anything: SPOKEN }),
    ],
    nobodys: [
      post(SPEECH, { ...SAID, previous_request_ids: [NOBODYS] }),
      post(`${ELEVENLABS}/text-to-voice/${NOBODYS}/remix`),
      post(`${ELEVENLABS}/voices/pvc/${NOBODYS}/train`),
    ],
  },
  {
    makes: post(`${ELEVENLABS}/music`, { model_id: 'music_v2', prompt: 'x' }),
    headers: { 'song-id': SONG },
    names: [
      composed({ sections: [{ source_from: { song_id: SONG } }] }),
      composed({ chunks: [{ song_id: SONG }] }),
      composed({ chunks: [{ text: 'x', conditioning_ref: { song_id: SONG } }] }),
      composed({ of: { tomorrow: SONG } }),
    ],
    nobodys: [composed({ chunks: [{ song_id: NOBODYS }] })],
  },
  // https://elevenlabs.io/docs/api-reference/agents/create
  {
    makes: post(`${ELEVENLABS}/convai/agents/create`, { conversation_config: {} }),
    response: { agent_id: AGENT },
    names: [
      { on: `GET ${ELEVENLABS}/convai/agents/${AGENT}` },
      { on: `GET ${ELEVENLABS}/convai/agents/${AGENT}/branches/b/procedures` },
      post(`${ELEVENLABS}/convai/agents/${AGENT}/duplicate`),
      post(`${ELEVENLABS}/convai/batch-calling/submit`, { agent_id: AGENT }),
      post(`${ELEVENLABS}/convai/agents/create`, {
        conversation_config: { agent: { prompt: { built_in_tools: { to: [AGENT] } } } },
      }),
    ],
    nobodys: [{ on: `GET ${ELEVENLABS}/convai/agents/agent_0000k5zvyjhmfg983brhmhkd98n6` }],
  },
  // https://dev.hume.ai/reference/text-to-speech-tts/voices/delete: by a name, which anybody may
  // give.
  {
    makes: post('api.hume.ai/v0/tts/voices', { name: 'mine' }),
    response: { id: UUID, name: 'mine' },
    names: [post('api.hume.ai/v0/evi/configs', { evi_version: '3', voice: { id: UUID } })],
    nobodys: [{ on: 'DELETE api.hume.ai/v0/tts/voices?name=mine' }],
  },
  // https://docs.mistral.ai/api/endpoint/workflows
  {
    makes: post('api.mistral.ai/v1/workflows/schedules'),
    response: { schedule_id: 'schedule-1' },
    names: [
      { on: 'GET api.mistral.ai/v1/workflows/schedules/schedule-1' },
      post('api.mistral.ai/v1/workflows/schedules/schedule-1/trigger'),
    ],
    nobodys: [{ on: 'DELETE api.mistral.ai/v1/workflows/schedules/schedule-2' }],
  },
  // https://www.alibabacloud.com/help/en/model-studio/long-context-qwen-long
  {
    makes: { on: `POST ${QWEN}/files`, form: { purpose: 'file-extract' } },
    response: { id: FILE },
    names: [
      reading(`fileid://${FILE}`),
      reading(`fileid://${FILE},fileid://${FILE}`),
      reading(`fileid://${FILE}, FileID://${FILE} `),
    ],
    nobodys: [
      reading('fileid://file-fe-nobodys'),
      reading(`fileid://${FILE},fileid://file-fe-nobodys`),
    ],
  },
  // github.com/199-mcp/mcp-kling, kling-api-docs.md
  {
    makes: post(`${KLING}/text2video`, { model_name: 'kling-v2', prompt: 'x' }),
    response: { data: { task_id: TASK } },
    names: [
      { on: `GET ${KLING}/text2video/${TASK}` },
      post(`${KLING}/lip-sync`, { input: { task_id: TASK } }),
      post(`${KLING}/of/tomorrow`, { task: TASK }),
    ],
  },
  {
    makes: { on: `GET ${KLING}/text2video/${TASK}` },
    response: { data: { task_id: TASK, task_result: { videos: [{ id: VIDEO }] } } },
    names: [
      post(`${KLING}/video-extend`, { video_id: VIDEO }),
      post(`${KLING}/lip-sync`, { input: { video_id: VIDEO } }),
      post(`${KLING}/effects`, { input: { video_id: VIDEO } }),
    ],
    nobodys: [post(`${KLING}/video-extend`, { video_id: UUID })],
  },
]
