import { body } from '../body-rules.ts'
import { creates, model, neutral } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** A frame may be an earlier generation. */
const FRAMES = { 'keyframes.frame0.id': 'generation', 'keyframes.frame1.id': 'generation' } as const

/** Luma Dream Machine: https://docs.lumalabs.ai/reference */
export const luma: ProviderRow = {
  id: 'luma',
  name: 'Luma',
  variable: 'LUMA_API_KEY',
  base: 'https://api.lumalabs.ai/dream-machine/v1',
  hosts: ['api.lumalabs.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/dream-machine/v1/credits' },
  sites: [
    { hosts: ['storage.cdn-luma.com'], anonymous: true, endpoints: [neutral('GET /{path*}')] },
  ],
  endpoints: [
    ...['', '/image', '/video', '/image/reframe', '/video/reframe', '/video/modify'].map((way) =>
      model(
        `POST /dream-machine/v1/generations${way}`,
        body({ prose: ['prompt'], objects: FRAMES }),
        creates('generation'),
      ),
    ),
    // These continue a video, and name no model.
    ...['audio', 'upscale'].map((what) =>
      model(
        `POST /dream-machine/v1/generations/{generation}/${what}`,
        {
          at: 'path',
          body: { required: [], also: ['model'], prose: ['prompt', 'negative_prompt'] },
        },
        { modelName: `luma/${what}` },
      ),
    ),
    neutral('GET /dream-machine/v1/ping', { listed: null }),
    neutral('GET /dream-machine/v1/generations', { listed: { 'generations[].id': 'generation' } }),
    neutral('GET DELETE /dream-machine/v1/generations/{generation}'),
    neutral('GET /dream-machine/v1/generations/concepts/list', { listed: null }),
    // Pictures, at the root of the API.
    ...['png', 'jpg', 'mp4'].map((type) => neutral(`GET /{any}.${type}`, { listed: null })),
  ],
  spelling: { uuids: true },
  errors: { detail: [{ type: '{code}', loc: ['proxy'], msg: '{message}', input: '' }] },
  usage: 'openai',
}
