// Endpoint rows of the OpenAI API, shared by OpenAI, Azure and, in part, by all providers with its
// dialect.
import {
  BODY,
  body,
  form,
  GIVEN,
  given,
  OBJECTS,
  RAN,
  referring,
  responding,
  TOOL,
  toolsIn,
  within,
} from './body-rules.ts'
import type { EndpointRow, ModelPlace } from './endpoint-row.ts'
import type { BodyRule } from './body-rule.ts'
import { CITATION } from './object-ref.ts'
import { OPENAI_REALTIME, OPENAI_TRANSLATION } from './openai-sockets.ts'
import { creates, model, neutral, STORED } from './row-builders.ts'
import { OPENAI_TOOLS } from './tools.ts'

/** Bodies that name files and nothing that chooses a model. */
const FILE = { file_id: 'file' } as const
const FILES = { 'file_ids[]': 'file', 'files[].file_id': 'file' } as const
const TRAINING = { training_file: 'file', validation_file: 'file' } as const
const SOURCE = { 'data_source.source.id': 'file' } as const
const RESOURCES = {
  'tool_resources.code_interpreter.file_ids[]': 'file',
  'tool_resources.file_search.vector_store_ids[]': 'vector_store',
  'tool_resources.file_search.vector_stores[].file_ids[]': 'file',
} as const
const ATTACHED = {
  'attachments[].file_id': 'file',
  'content[].image_file.file_id': 'file',
} as const
const THREAD = { ...RESOURCES, ...within('messages[].', ATTACHED) }
/** A call, which a socket may listen to. */
const CALL = { call_id: 'call' } as const
/** The id of a video, in JSON and in a form. */
const VIDEO = { 'video.id': 'video', 'video[id]': 'video' } as const
const PICTURES = {
  'image.file_id': 'file',
  'images[].file_id': 'file',
  'mask.file_id': 'file',
} as const

/** Items that a conversation keeps for later responses. */
const ITEMS = body({
  required: [],
  also: ['items[].tools[].model'],
  tools: toolsIn('items[].', OPENAI_TOOLS),
  objects: {
    'items[].id': 'item',
    'items[].content[].file_id': 'file',
    ...within('items[].', RAN),
    ...within('items[].tools[].', TOOL),
  },
})

/**
 * Objects that a response creates: the containers in which its code ran, which may only be visible
 * through a cited file, and that file.
 */
const CITED = { 'annotations[]': CITATION } as const
const SHOWN = { ...RAN, ...within('content[].', CITED) }
const MADE = {
  ...within('output[].', SHOWN),
  ...within('item.', SHOWN),
  ...within('response.output[].', SHOWN),
  ...within('part.', CITED),
  annotation: CITATION,
}
/** A response, its containers and their files. */
export const RESPONSE = { creates: { id: 'response', 'response.id': 'response', ...MADE } } as const

// If responses are stored, so are their items, and a later request can name an item instead of
// repeating it, as the AI SDK does.
const MADE_ITEMS = { ...MADE, 'output[].id': 'item', 'response.output[].id': 'item' } as const
const naming = responding({ ...BODY, objects: { ...OBJECTS, 'input[].id': 'item' } })
/**
 * Responses, their background runs and other endpoints with the same body, if responses are stored.
 */
const responseRows = (prefix: string): EndpointRow[] => [
  model(`POST ${prefix}/responses`, naming, { creates: { ...RESPONSE.creates, ...MADE_ITEMS } }),
  // A response that runs in the background is read when it is complete.
  neutral(`GET ${prefix}/responses/{response}`, { creates: MADE_ITEMS }),
  neutral(`DELETE ${prefix}/responses/{response}`),
  neutral(`POST ${prefix}/responses/{response}/cancel`),
  neutral(`GET ${prefix}/responses/{response}/input_items`),
  model(`POST ${prefix}/responses/compact`, naming),
  model(`POST ${prefix}/responses/input_tokens`, naming),
]

/** The deletion of a fine-tuned model; public models stay. */
export const deletesTuned = (prefix: string): EndpointRow =>
  model(
    `DELETE ${prefix}/models/{model:}`,
    { at: 'path', body: { required: [] } },
    { modelObject: 'tuned_model' },
  )

/** Endpoints of nearly every OpenAI-compatible server, under a prefix such as `/v1`. */
export function compatibleRows(prefix: string, rule: Partial<BodyRule> = {}): EndpointRow[] {
  const whole = { ...BODY, ...rule }
  const chatBody = body(whole)
  // A provider with fallback models uses them at every endpoint.
  const { also = [], stored = [] } = whole
  const givenHere = (more: Partial<BodyRule> = {}): ModelPlace => given({ also, stored, ...more })
  return [
    model(`POST ${prefix}/chat/completions`, chatBody),
    model(`POST ${prefix}/completions`, body({ ...whole, prose: GIVEN })),
    model(`POST ${prefix}/embeddings`, givenHere()),
    model(`POST ${prefix}/responses`, responding(whole), RESPONSE),
    // `moderation: "low"` is how strictly a picture is checked.
    model(`POST ${prefix}/images/generations`, givenHere({ texts: ['moderation'] })),
    model(`POST ${prefix}/images/edits`, form({ objects: PICTURES })),
    model(`POST ${prefix}/images/variations`, form()),
    model(`POST ${prefix}/audio/speech`, givenHere()),
    model(`POST ${prefix}/audio/transcriptions`, form()),
    model(`POST ${prefix}/audio/translations`, form()),
    model(`POST ${prefix}/moderations`, givenHere()),
    model(`POST ${prefix}/rerank`, givenHere()),
    neutral(`GET ${prefix}/models`),
    neutral(`GET ${prefix}/models/{any:}`),
    ...fileRows(prefix),
    ...batchRows(prefix),
  ]
}

/** Files, as at OpenAI. */
const fileRows = (prefix: string): EndpointRow[] => [
  neutral(`POST ${prefix}/files`, { ...creates('file'), uploads: 'form' }),
  neutral(`GET ${prefix}/files`),
  neutral(`GET DELETE ${prefix}/files/{file}`),
  neutral(`GET ${prefix}/files/{file}/content`),
]

/** Batches: the models are in an uploaded file. */
const batchRows = (prefix: string): EndpointRow[] => [
  model(`POST ${prefix}/batches`, STORED, {
    ...creates('batch'),
    names: { input_file_id: 'batch_input' },
  }),
  neutral(`GET ${prefix}/batches`),
  // The files with results and errors are created by the batch, and belong to its owner.
  neutral(`GET ${prefix}/batches/{batch}`, creates('file', 'output_file_id', 'error_file_id')),
  neutral(
    `POST ${prefix}/batches/{batch}/cancel`,
    creates('file', 'output_file_id', 'error_file_id'),
  ),
]

/** Videos, as at OpenAI. */
export const videoRows = (prefix: string): EndpointRow[] => [
  model(
    `POST ${prefix}/videos`,
    form({
      objects: {
        'input_reference.file_id': 'file',
        'input_reference[file_id]': 'file',
        'characters[].id': 'character',
      },
    }),
    creates('video'),
  ),
  neutral(`GET ${prefix}/videos`),
  neutral(`GET DELETE ${prefix}/videos/{video}`),
  neutral(`GET ${prefix}/videos/{video}/content`),
]

/** Stored chat completions. */
const completionRows = (p: string): EndpointRow[] => [
  model(`POST ${p}/chat/completions`, body({ keeps: { at: 'store', by: [true] } }), {
    ...creates('completion'),
    kept: 'completion',
  }),
]

const conversationRows = (p: string): EndpointRow[] => [
  model(`POST ${p}/conversations`, ITEMS, creates('conversation')),
  neutral(`GET POST DELETE ${p}/conversations/{conversation}`),
  neutral(`GET ${p}/conversations/{conversation}/items`),
  model(`POST ${p}/conversations/{conversation}/items`, ITEMS),
  neutral(`GET DELETE ${p}/conversations/{conversation}/items/{any}`),
]

/** Custom voices. */
const voiceRows = (p: string): EndpointRow[] => [
  model(`POST ${p}/audio/speech`, given({ objects: referring('voice', 'voice') })),
  neutral(`GET POST ${p}/audio/voice_consents`, creates('voice_consent')),
  neutral(`GET POST DELETE ${p}/audio/voice_consents/{voice_consent}`),
  neutral(`GET POST ${p}/audio/voices`, {
    ...creates('voice'),
    names: { consent: 'voice_consent' },
  }),
  neutral(`GET DELETE ${p}/audio/voices/{voice}`),
]

/** Files that are uploaded in parts. */
const uploadRows = (p: string): EndpointRow[] => [
  neutral(`POST ${p}/uploads`, creates('upload')),
  neutral(`POST ${p}/uploads/{upload}/parts`, { ...creates('upload_part'), uploads: 'form' }),
  neutral(`POST ${p}/uploads/{upload}/complete`, {
    ...creates('file', 'file.id'),
    names: { 'part_ids[]': 'upload_part' },
  }),
  neutral(`POST ${p}/uploads/{upload}/cancel`),
]

const vectorStoreRows = (p: string): EndpointRow[] => [
  neutral(`POST ${p}/vector_stores`, { ...creates('vector_store'), names: FILES }),
  neutral(`GET ${p}/vector_stores`),
  neutral(`GET POST DELETE ${p}/vector_stores/{vector_store}`),
  neutral(`POST ${p}/vector_stores/{vector_store}/search`, { changes: false }),
  neutral(`GET POST ${p}/vector_stores/{vector_store}/files`, { names: FILE }),
  neutral(`GET POST DELETE ${p}/vector_stores/{vector_store}/files/{file}`),
  neutral(`GET ${p}/vector_stores/{vector_store}/files/{file}/content`),
  neutral(`POST ${p}/vector_stores/{vector_store}/file_batches`, { names: FILES }),
  neutral(`GET ${p}/vector_stores/{vector_store}/file_batches/{any}`),
  neutral(`POST ${p}/vector_stores/{vector_store}/file_batches/{any}/cancel`),
  neutral(`GET ${p}/vector_stores/{vector_store}/file_batches/{any}/files`),
]

const containerRows = (p: string): EndpointRow[] => [
  neutral(`POST ${p}/containers`, { ...creates('container'), names: FILES }),
  neutral(`GET ${p}/containers`),
  neutral(`GET DELETE ${p}/containers/{container}`),
  neutral(`GET POST ${p}/containers/{container}/files`, { names: FILE, uploads: 'form' }),
  neutral(`GET DELETE ${p}/containers/{container}/files/{any}`),
  neutral(`GET ${p}/containers/{container}/files/{any}/content`),
]

const skillRows = (p: string): EndpointRow[] => [
  neutral(`POST ${p}/skills`, { ...creates('skill'), uploads: 'form' }),
  neutral(`GET ${p}/skills`),
  neutral(`GET POST DELETE ${p}/skills/{skill}`),
  neutral(`GET ${p}/skills/{skill}/content`),
  neutral(`GET POST ${p}/skills/{skill}/versions`, { uploads: 'form' }),
  neutral(`GET DELETE ${p}/skills/{skill}/versions/{any}`),
  neutral(`GET ${p}/skills/{skill}/versions/{any}/content`),
]

/** A fine-tuning method or an evaluation may use grader models, at any depth. */
const trainingRows = (p: string): EndpointRow[] => [
  model(
    `POST ${p}/fine_tuning/jobs`,
    body({ stored: ['method', 'integrations'], objects: TRAINING }),
    creates('fine_tuning_job'),
  ),
  neutral(`GET ${p}/fine_tuning/jobs`),
  neutral(`GET ${p}/fine_tuning/jobs/{fine_tuning_job}`, {
    creates: { 'result_files[]': 'file', fine_tuned_model: 'tuned_model' },
  }),
  neutral(`POST ${p}/fine_tuning/jobs/{fine_tuning_job}/cancel`),
  neutral(`POST ${p}/fine_tuning/jobs/{fine_tuning_job}/pause`),
  model(`POST ${p}/fine_tuning/jobs/{fine_tuning_job}/resume`, STORED),
  neutral(`GET ${p}/fine_tuning/jobs/{fine_tuning_job}/events`),
  neutral(
    `GET ${p}/fine_tuning/jobs/{fine_tuning_job}/checkpoints`,
    creates('tuned_model', 'data[].fine_tuned_model_checkpoint'),
  ),
  model(`POST ${p}/fine_tuning/alpha/graders/run`, STORED),
  model(`POST ${p}/evals`, STORED, creates('eval')),
  neutral(`GET ${p}/evals`),
  model(`POST ${p}/fine_tuning/alpha/graders/validate`, STORED),
  neutral(`GET DELETE ${p}/evals/{eval}`),
  model(`POST ${p}/evals/{eval}`, STORED),
  model(`POST ${p}/evals/{eval}/runs`, STORED, { names: SOURCE }),
  neutral(`GET ${p}/evals/{eval}/runs`),
  neutral(`GET POST DELETE ${p}/evals/{eval}/runs/{any}`),
  neutral(`POST ${p}/evals/{eval}/runs/{any}/cancel`),
  neutral(`GET ${p}/evals/{eval}/runs/{any}/output_items`),
  neutral(`GET ${p}/evals/{eval}/runs/{any}/output_items/{any}`),
]

/** Videos derived from others, and the characters in them. */
const videoChangeRows = (p: string): EndpointRow[] => [
  model(`POST ${p}/videos/{video}/remix`, STORED, creates('video')),
  model(`POST ${p}/videos/edits`, STORED, { ...creates('video'), names: VIDEO }),
  model(`POST ${p}/videos/extensions`, STORED, { ...creates('video'), names: VIDEO }),
  model(`POST ${p}/videos/characters`, STORED, creates('character')),
  neutral(`GET ${p}/videos/characters/{character}`),
]

/**
 * Threads of ChatKit. They are created in its sessions, which do not pass through the proxy; an
 * administrator may share a thread.
 */
const chatkitRows = (p: string): EndpointRow[] => [
  neutral(`GET ${p}/chatkit/threads`, { listed: { 'data[].id': 'chatkit_thread' } }),
  neutral(`GET DELETE ${p}/chatkit/threads/{chatkit_thread}`),
  neutral(`GET ${p}/chatkit/threads/{chatkit_thread}/items`),
]

/** Assistants: a run uses the assistant's stored model unless its body names one. */
const assistantRows = (p: string): EndpointRow[] => [
  model(`POST ${p}/assistants`, body({ objects: RESOURCES }), creates('assistant')),
  neutral(`GET ${p}/assistants`),
  neutral(`GET DELETE ${p}/assistants/{assistant}`),
  model(`POST ${p}/assistants/{assistant}`, body({ objects: RESOURCES })),
]

const threadRows = (p: string): EndpointRow[] => [
  neutral(`POST ${p}/threads`, { ...creates('thread'), names: THREAD }),
  model(
    `POST ${p}/threads/runs`,
    body({ objects: { assistant_id: 'assistant', ...RESOURCES, ...within('thread.', THREAD) } }),
    creates('thread', 'thread_id'),
  ),
  neutral(`GET POST DELETE ${p}/threads/{thread}`, { names: RESOURCES }),
  neutral(`GET POST ${p}/threads/{thread}/messages`, { names: ATTACHED }),
  neutral(`GET POST DELETE ${p}/threads/{thread}/messages/{any}`),
  model(
    `POST ${p}/threads/{thread}/runs`,
    body({
      objects: { assistant_id: 'assistant', ...within('additional_messages[].', ATTACHED) },
    }),
  ),
  neutral(`GET ${p}/threads/{thread}/runs`),
  neutral(`GET POST ${p}/threads/{thread}/runs/{any}`),
  neutral(`POST ${p}/threads/{thread}/runs/{any}/cancel`),
  model(`POST ${p}/threads/{thread}/runs/{any}/submit_tool_outputs`, STORED),
  neutral(`GET ${p}/threads/{thread}/runs/{any}/steps`),
  neutral(`GET ${p}/threads/{thread}/runs/{any}/steps/{any}`),
]

/**
 * The whole public surface of OpenAI (platform.openai.com/docs/api-reference), under `/v1` or
 * Azure's `/openai/v1`.
 */
export function openaiRows(prefix: string): EndpointRow[] {
  const p = prefix
  return [
    ...compatibleRows(p),
    ...completionRows(p),
    ...responseRows(p),
    model(`POST ${p}/decisions`),
    neutral(`POST ${p}/content_provenance_checks`, { uploads: 'form' }),
    neutral(`GET ${p}/chat/completions`, { lists: 'completion' }),
    neutral(`GET POST DELETE ${p}/chat/completions/{completion}`),
    neutral(`GET ${p}/chat/completions/{completion}/messages`),
    deletesTuned(p),
    ...conversationRows(p),
    ...voiceRows(p),
    ...uploadRows(p),
    ...vectorStoreRows(p),
    ...containerRows(p),
    ...skillRows(p),
    ...trainingRows(p),
    ...videoRows(p),
    ...videoChangeRows(p),
    ...assistantRows(p),
    ...threadRows(p),
    ...chatkitRows(p),
    model(`GET ${p}/realtime`, { at: 'query' }, { socket: OPENAI_REALTIME, asks: CALL }),
    model(`GET ${p}/realtime/translations`, { at: 'query' }, { socket: OPENAI_TRANSLATION }),
  ]
}

/** OpenAI's account surfaces. */
export const OPENAI_ADMIN: readonly RegExp[] = [
  /^\/(v1|openai\/v1)\/(projects|dashboard|usage|me|login|billing|webhooks)($|[/:])/,
  /^\/dashboard($|[/:])/,
  /\/fine_tuning\/checkpoints\/.+\/permissions($|[/:])/,
  // Data about the users of the whole account.
  /\/safety\/(alerts|cases)($|[/:])/,
]
