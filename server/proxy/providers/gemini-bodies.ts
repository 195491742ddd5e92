// Places in the bodies of Gemini's calls and batches that name models and stored objects, or
// contain prose.
import type { BodyRule } from './body-rule.ts'
import { GEMINI_TOOL_KEYS } from './tools.ts'

/** All spellings of a place: Google reads `camelCase` and `snake_case` alike. */
export const spellings = (place: string): string[] =>
  place.split('.').reduce<string[]>(
    (heads, step) => {
      const both = new Set([
        step,
        step.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      ])
      return heads.flatMap((head) => [...both].map((one) => (head === '' ? one : `${head}.${one}`)))
    },
    [''],
  )
export const geminiObjects = (kind: string, ...places: string[]): Record<string, string> =>
  Object.fromEntries(places.flatMap(spellings).map((place) => [place, kind]))

/**
 * Places that name a model to use instead of the path's:
 * cloud.google.com/vertex-ai/generative-ai/docs/model-optimizer
 */
export const GEMINI_ROUTED: readonly string[] = spellings(
  'generationConfig.routingConfig.manualMode.modelName',
)
/**
 * Places that leave the model to the provider, and RAG stores, which embed with a model that is
 * stored with them, and may rank with another one
 * (cloud.google.com/vertex-ai/generative-ai/docs/model-reference/rag-api).
 */
export const GEMINI_STORED: readonly string[] = [
  'generationConfig.routingConfig.autoMode',
  'generationConfig.modelSelectionConfig',
  'modelSelectionConfig',
  'tools[].retrieval.vertexRagStore',
].flatMap(spellings)

/** Stored objects that a call names, wherever the call is in a body. */
export const geminiObjectsOf = (call: string): Record<string, string> => ({
  ...geminiObjects('cached_content', `${call}cachedContent`),
  ...geminiObjects(
    'file',
    ...[
      'contents[].parts[]',
      'contents[].parts[].functionResponse.parts[]',
      'systemInstruction.parts[]',
      'content.parts[]',
    ].map((part) => `${call}${part}.fileData.fileUri`),
  ),
  ...geminiObjects('file_search_store', `${call}tools[].fileSearch.fileSearchStoreNames[]`),
})

/** Text of people, tools and models in a call. */
export const GEMINI_SAID: readonly string[] = [
  'contents[].parts[].text',
  'contents[].parts[].functionResponse.response.*',
  'systemInstruction.parts[].text',
  'content.parts[].text',
  'requests[].content.parts[].text',
].flatMap(spellings)

/**
 * Bodies of Gemini calls. The path names the model; a body that names another one, for itself or
 * for one of its parts, must be allowed too.
 */
export const GEMINI_CALL: BodyRule = {
  required: [],
  also: [
    'model',
    'requests[].model',
    ...spellings('generateContentRequest.model'),
    ...GEMINI_ROUTED,
  ],
  stored: GEMINI_STORED,
  keyedTools: {
    at: ['tools[]', 'requests[].tools[]', ...spellings('generateContentRequest.tools[]')],
    keys: GEMINI_TOOL_KEYS,
  },
  prose: GEMINI_SAID,
  objects: {
    ...['', 'requests[].', 'generateContentRequest.']
      .map(geminiObjectsOf)
      .reduce((all, one) => ({ ...all, ...one })),
    ...geminiObjects('file', 'instances[].video.uri', 'instances[].image.fileUri'),
    ...geminiObjects('corpus', 'semanticRetriever.source'),
  },
}

/** Batches: requests in the body may name models; requests in a file are unknown. */
const IN_BATCH = 'batch.inputConfig.requests.requests[].'
const BATCH_FILE = 'batch.inputConfig.fileName'
/** Places of a call inside a batch. */
const inBatch = (places: readonly string[]): string[] =>
  spellings(`${IN_BATCH}request`).flatMap((at) => places.map((place) => `${at}.${place}`))
export const GEMINI_BATCH: BodyRule = {
  required: [],
  also: [
    'model',
    'batch.model',
    ...spellings(`${IN_BATCH}request.model`),
    ...spellings(`${IN_BATCH}model`),
    ...inBatch(GEMINI_ROUTED),
  ],
  stored: [...spellings(BATCH_FILE), ...inBatch(GEMINI_STORED)],
  keyedTools: { at: inBatch(['tools[]']), keys: GEMINI_TOOL_KEYS },
  objects: {
    ...geminiObjectsOf(`${IN_BATCH}request.`),
    ...geminiObjects('batch_input', BATCH_FILE),
  },
}
