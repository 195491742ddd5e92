import { body, toolsIn } from '../body-rules.ts'
import { compatibleRows } from '../openai-rows.ts'
import { creates, model, neutral, STORED } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'
import { CALLER_TOOLS } from '../tools.ts'

/** Text to embed, draw or speak. */
const PROSE = ['input.texts[]', 'input.text', 'input.prompt', 'input.messages[].content']

/**
 * Alibaba Cloud Model Studio (Qwen, Wan): https://www.alibabacloud.com/help/en/model-studio. It has
 * its own API in addition to OpenAI's dialect.
 */
export const alibaba: ProviderRow = {
  id: 'alibaba',
  name: 'Alibaba Model Studio',
  variable: 'ALIBABA_API_KEY',
  base: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  hosts: ['dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com', 'dashscope.aliyuncs.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/compatible-mode/v1/models' },
  endpoints: [
    ...compatibleRows('/compatible-mode/v1', { tools: toolsIn('', CALLER_TOOLS) }),
    ...[
      'embeddings/text-embedding/text-embedding',
      'embeddings/multimodal-embedding/multimodal-embedding',
      'rerank/text-rerank/text-rerank',
    ].map((path) =>
      model(`POST /api/v1/services/${path}`, body({ prose: PROSE }), { usage: 'embedding' }),
    ),
    ...['aigc/text-generation/generation', 'aigc/multimodal-generation/generation'].map((path) =>
      model(`POST /api/v1/services/${path}`, body({ prose: PROSE })),
    ),
    // These respond with a task, which is polled.
    ...[
      'aigc/video-generation/video-synthesis',
      'aigc/image2video/video-synthesis',
      'aigc/text2image/image-synthesis',
      'aigc/image2image/image-synthesis',
      'aigc/image-generation/generation',
    ].map((path) =>
      model(
        `POST /api/v1/services/${path}`,
        body({ prose: PROSE }),
        creates('task', 'output.task_id'),
      ),
    ),
    // An app is the operator's, and runs the model stored with it.
    model('POST /api/v1/apps/{app}/completion', STORED),
    neutral('GET /api/v1/tasks/{task}'),
    neutral('POST /api/v1/tasks/{task}/cancel'),
  ],
  // Hardware that is billed by the hour.
  admin: [/^\/api\/v\d\/deployments(?:$|\/)/],
  // A message may be a list of files, `fileid://file-fe-…,fileid://file-fe-…`:
  // https://www.alibabacloud.com/help/en/model-studio/long-context-qwen-long
  spelling: { uuids: true, dialect: true, schemes: { fileid: 'file' } },
  // OpenAI's and its own combined.
  errors: {
    error: { message: '{message}', type: '{type}', param: null, code: '{code}' },
    code: '{code}',
    message: '{message}',
  },
  usage: 'openai',
  accountChoice: ['x-dashscope-workspace'],
}
