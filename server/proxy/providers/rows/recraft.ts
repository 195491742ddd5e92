import { body, form } from '../body-rules.ts'
import { model } from '../row-builders.ts'
import type { ProviderRow } from '../provider.ts'

/** Recraft: https://www.recraft.ai/docs/api-reference */
export const recraft: ProviderRow = {
  id: 'recraft',
  name: 'Recraft',
  variable: 'RECRAFT_API_KEY',
  base: 'https://external.api.recraft.ai/v1',
  hosts: ['external.api.recraft.ai'],
  auth: { header: 'Authorization', scheme: 'Bearer' },
  probe: { path: '/v1/users/me' },
  endpoints: [
    model('POST /v1/images/generations', body({ prose: ['prompt', 'negative_prompt'] })),
    ...['imageToImage', 'inpaint', 'replaceBackground', 'generateBackground'].map((way) =>
      model(`POST /v1/images/${way}`, form()),
    ),
    ...['vectorize', 'removeBackground', 'crispUpscale', 'creativeUpscale', 'eraseRegion'].map(
      (way) =>
        model(
          `POST /v1/images/${way}`,
          { at: 'path', body: { required: [], also: ['model'], multipart: true } },
          { modelName: `recraft/${way}` },
        ),
    ),
  ],
  spelling: { uuids: true },
  errors: {
    error: { message: '{message}', type: '{type}', param: null, code: '{code}' },
    code: '{code}',
    message: '{message}',
  },
  usage: 'openai',
}
