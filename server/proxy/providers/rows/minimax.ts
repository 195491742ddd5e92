import { messagesBody } from './anthropic.ts'
import { NEW } from '../object-ref.ts'
import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

const VOICE = {
  'voice_setting.voice_id': 'voice',
  'timbre_weights[].voice_id': 'voice',
  'timber_weights[].voice_id': 'voice',
} as const

/** MiniMax: https://platform.minimax.io/docs/api-reference */
export const minimax: ProviderRow = {
  id: 'minimax',
  name: 'MiniMax',
  variable: 'MINIMAX_API_KEY',
  base: 'https://api.minimax.io/v1',
  hosts: ['api.minimax.io'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/anthropic/v1/models', headers: ['anthropic-version', '2023-06-01'] },
  endpoints: [
    ...compatibleRows('/v1', { tools: toolsIn('', CALLER_TOOLS) }).filter(
      ({ on }) => !/\/(?:files|batches)/.test(on),
    ),
    model('POST /anthropic/v1/messages', messagesBody(''), { usage: 'anthropic' }),
    neutral('GET /anthropic/v1/models'),
    neutral('GET /anthropic/v1/models/{any:}'),
    ...['/v1', '/v2'].flatMap((at) => [
      model(
        `POST ${at}/video_generation`,
        body({ prose: ['prompt', 'content[].text'] }),
        creates('task', 'task_id'),
      ),
      neutral(
        `GET ${at}/query/video_generation/{task}`,
        creates('file', 'file_id', 'task.file_id'),
      ),
    ]),
    neutral('DELETE /v2/video_generation/{task}'),
    neutral('GET /v1/query/video_generation', {
      asks: { task_id: 'task' },
      ...creates('file', 'file_id'),
    }),
    model('POST /v1/t2a_v2', body({ prose: ['text'], objects: VOICE })),
    // https://platform.minimax.io/docs/api-reference/voice-cloning-clone: callers choose the voice's
    // id, and the file's is a number.
    model(
      'POST /v1/voice_clone',
      body({
        prose: ['text', 'clone_prompt.prompt_text'],
        objects: { file_id: 'file', 'clone_prompt.prompt_audio': 'file', voice_id: `${NEW}voice` },
      }),
      // The voice is stored, although the response does not name it.
      { changes: true },
    ),
    model('POST /v1/image_generation', body({ prose: ['prompt'] })),
    model('POST /v1/music_generation', body({ prose: ['prompt', 'lyrics'] })),
    neutral('POST /v1/files/upload', { ...creates('file', 'file.file_id'), uploads: 'form' }),
    neutral('GET /v1/files/retrieve', { asks: { file_id: 'file' } }),
    neutral('GET /v1/files/retrieve_content', { asks: { file_id: 'file' } }),
    neutral('POST /v1/files/delete', { names: { file_id: 'file' } }),
  ],
  spelling: { uuids: true, dialect: true, digits: true },
  errors: { type: 'error', error: { type: '{type}', message: '{message}', code: '{code}' } },
  usage: 'openai',
  // Its own voices have descriptive names: English_Graceful_Lady, male-qn-qingse.
  publicObjects: {
    voice:
      /^(?:(?:English|Chinese|Japanese|Korean|Spanish|Portuguese|French|German|Italian|Russian|Arabic|Indonesian|Dutch|Turkish|Ukrainian|Thai|Polish|Romanian|Greek|Czech|Finnish|Hindi|Vietnamese|Cantonese)(?:\s\(Mandarin\))?_[A-Za-z_-]+|(?:fe)?male-qn-[a-z]+|(?:fe)?male-[a-z]+|presenter_(?:fe)?male)$/,
  },
}
