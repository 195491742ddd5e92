// The route POST /api/v1/convert and its description.
import { z } from '@hono/zod-openapi'
import {
  COMMON_PROBLEMS,
  createRoute,
  json,
  createApi,
  noQueryBesideForm,
  problems,
  type Api,
} from './api.ts'
import { authorized, security } from './guard.ts'
import { ConvertRequests, type ConvertDependencies } from './convert-request.ts'
import { documentResponse } from './document-response.ts'
import { JobSchema } from './jobs.ts'
import { findField } from '../conversion/upload/upload-options.ts'

const convertRoute = createRoute({
  method: 'post',
  path: '/api/v1/convert',
  summary: 'Convert a Notion export to Markdown',
  security,
  request: {
    headers: z.object({
      'idempotency-key': z.string().optional().openapi({
        description:
          'For 24 hours, the same key with the same content gets the first response again.',
      }),
    }),
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: z.object({
            file: z
              .string()
              .openapi({ format: 'binary', description: 'A .html file or a .zip archive.' }),
            format: z.enum(['markdown', 'json', 'chunks']).default('markdown').openapi({
              description:
                '`json` lists every page separately; `chunks` is JSON Lines for retrieval.',
            }),
            include_metadata: z
              .boolean()
              .default(false)
              .openapi({ description: 'Adds front matter: title, export date and source.' }),
            certificate: z.boolean().optional().openapi({
              description:
                'Compares the export with the document. The result is in `X-Tollmark-Certificate`, and in JSON also in `certificate`. Jobs are certified unless this is `false`.',
            }),
            source_map: z.boolean().default(false).openapi({
              description:
                'With `format=json`: adds where each block of Notion stands in the Markdown.',
            }),
            layout: z.enum(['document', 'pages']).default('document').openapi({
              description:
                '`pages`: a ZIP archive with a Markdown file for each page, and the files of the export.',
            }),
            flavor: z.enum(['gfm', 'obsidian', 'docusaurus']).optional().openapi({
              description:
                'With `layout=pages`: the program that will read the pages. Default: `gfm`.',
            }),
          }),
        },
      },
    },
  },
  responses: {
    200: documentResponse,
    415: problems('unsupported_file_type')[400],
    202: json('The job that converts a large ZIP archive in the background', JobSchema),
    ...problems(
      'missing_file',
      'invalid_file',
      'unsupported_file_type',
      'invalid_field',
      'file_too_large',
      'result_expired',
      'idempotency_conflict',
      'quota_exceeded',
      'too_many_uploads',
      'request_timeout',
      ...COMMON_PROBLEMS,
    ),
  },
})

/** The conversion's routes. */
export function convertRoutes(deps: ConvertDependencies): Api {
  const api = createApi()
  const requests = new ConvertRequests(deps)
  api.openAPIRegistry.registerPath(convertRoute)
  api.post(
    convertRoute.path,
    authorized(deps.store, ['convert'], deps.clock),
    noQueryBesideForm((name) => name === 'file' || findField(name) !== undefined),
    (c) => requests.respond(c),
  )
  return api
}
