import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** Each way to create a video or a picture is a collection of tasks. */
const VIDEOS = ['text2video', 'image2video', 'motion-control', 'multi-image2video', 'omni-video']
const IMAGES = ['generations', 'multi-image2image', 'omni-image']
/** Endpoints that continue an earlier video, and the place of its id, or its task's. */
const ON_VIDEOS = {
  'video-extend': { video_id: 'video' },
  'lip-sync': { 'input.video_id': 'video', 'input.task_id': 'task' },
} as const
/** A finished task has its videos. */
const MADE = creates('video', 'data.task_result.videos[].id')
const BODY = {
  required: ['model_name'],
  also: ['model'],
  prose: ['prompt', 'negative_prompt'],
} as const
/**
 * The suffix that the AI SDK adds to a model's name, which selects the endpoint: @ai-sdk/klingai.
 */
const MODES = ['t2v', 'i2v', 'motion-control']

/** `kling-v2-6`, and in the AI SDK's spelling: `kling-v2.6-t2v`, `kling-v2.6-i2v`, … */
function modelNames(name: string): string[] {
  const [, major, minor, variant = ''] = /^kling-v(\d+)(?:-(\d+))?(-[a-z]+)?$/.exec(name) ?? []
  if (major === undefined) return [name]
  const versions = minor === undefined ? [major, `${major}.0`] : [`${major}.${minor}`]
  return [
    name,
    ...versions.flatMap((version) => MODES.map((mode) => `kling-v${version}${variant}-${mode}`)),
  ]
}

/**
 * Kling AI: https://app.klingai.com/global/dev/document-api. A credential is an API token: a JWT that
 * is signed with the access key and the secret key.
 */
export const klingai: ProviderRow = {
  id: 'klingai',
  name: 'Kling AI',
  variable: 'KLINGAI_API_TOKEN',
  base: 'https://api-singapore.klingai.com/v1',
  hosts: ['api-singapore.klingai.com'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/videos/text2video?pageSize=1' },
  endpoints: [
    ...[
      ...VIDEOS.map((way) => `/v1/videos/${way}`),
      ...IMAGES.map((way) => `/v1/images/${way}`),
    ].flatMap((path) => [
      model(`POST ${path}`, { at: 'body', body: BODY }, creates('task', 'data.task_id')),
      neutral(`GET ${path}`, { listed: { 'data[].task_id': 'task' } }),
      neutral(`GET ${path}/{task}`, MADE),
    ]),
    ...Object.entries(ON_VIDEOS).flatMap(([way, objects]) => [
      model(
        `POST /v1/videos/${way}`,
        {
          at: 'path',
          body: { ...BODY, required: [], also: ['model', 'model_name'], objects },
        },
        { modelName: `klingai/${way}`, ...creates('task', 'data.task_id') },
      ),
      neutral(`GET /v1/videos/${way}`, { listed: { 'data[].task_id': 'task' } }),
      neutral(`GET /v1/videos/${way}/{task}`, MADE),
    ]),
  ],
  admin: [/^\/account(?:$|\/)/],
  // A video's id is a UUID, a task's a number.
  spelling: { uuids: true, digits: true },
  errors: { code: '{status}', message: '{message}', request_id: '' },
  usage: 'openai',
  modelNames,
}
