// What a JSON body or a form names: models, stored objects, tools and prose. OpenAI's bodies, and
// what bodies of all dialects share.
import type { ModelPlace } from './endpoint-row.ts'
import type { BodyRule } from './body-rule.ts'
import { OPENAI_TOOLS } from './tools.ts'
import type { ToolPlace, ToolTypes } from './tool-types.ts'

/** The same places, deeper in a body. */
export const within = (
  at: string,
  places: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(places).map(([place, kind]) => [at + place, kind]))

/** A place with an id, or with an object that contains one. */
export const referring = (place: string, kind: string): Record<string, string> => ({
  [place]: kind,
  [`${place}.id`]: kind,
})

/** The tools of a body, and those inside a namespace or a sub-agent. */
export function toolsIn(at: string, tools: ToolTypes): ToolPlace[] {
  return [`${at}tools[]`, `${at}tools[].tools[]`].map((place) => ({ at: place, by: 'type', tools }))
}

/** Stored objects that a tool may name. */
export const TOOL: Readonly<Record<string, string>> = {
  'vector_store_ids[]': 'vector_store',
  ...referring('container', 'container'),
  'container.file_ids[]': 'file',
  'container.skills[].skill_id': 'skill',
  'environment.container_id': 'container',
  'environment.file_ids[]': 'file',
  'environment.skills[].skill_id': 'skill',
  'input_image_mask.file_id': 'file',
}

/** The container in which an item's code ran, and may continue. */
export const RAN = { container_id: 'container', 'environment.container_id': 'container' } as const

/** Stored objects that a chat or responses body may name. */
export const OBJECTS: Readonly<Record<string, string>> = {
  previous_response_id: 'response',
  ...referring('conversation', 'conversation'),
  'prompt.id': 'prompt',
  'input[].content[].file_id': 'file',
  'input[].output[].file_id': 'file',
  'input[].output.file_id': 'file',
  ...within('input[].', RAN),
  'messages[].content[].file.file_id': 'file',
  ...within('tools[].', TOOL),
  'prompt.variables.*.file_id': 'file',
  ...referring('audio.voice', 'voice'),
  'prompt_cache_options.comparison_response_id': 'response',
}

/** Prose in a chat: by people, tools and models. */
const SAID = ['messages[].content', 'messages[].content[].text']
/** Prose in a request for a response (`/responses`). */
const SAID_IN_RESPONSE = [
  'input',
  'instructions',
  'input[].content',
  'input[].content[].text',
  'input[].output',
  'input[].output[].text',
  'input[].summary[].text',
]
/** Prose that is embedded, moderated, drawn, spoken or searched for. */
export const GIVEN = [
  'input',
  'input[]',
  'input[].text',
  'prompt',
  'prompt[]',
  'suffix',
  'instructions',
  'query',
  'documents[]',
  'documents[].text',
]

/**
 * `{"model": "…"}`; tools may bring a model of their own (image generation), and so may moderation;
 * routers and gateways try `models` in turn.
 */
export const BODY: BodyRule = {
  required: ['model'],
  also: ['models[]', 'tools[].model', 'moderation.model'],
  tools: toolsIn('', OPENAI_TOOLS),
  prose: SAID,
  objects: OBJECTS,
}
/** The model is in a JSON body. @param rule other places of the body */
export const body = (rule: Partial<BodyRule> = {}): ModelPlace => ({
  at: 'body',
  body: { ...BODY, ...rule },
})
/** The model is a field of a form. @param rule other places of the form */
export const form = (rule: Partial<BodyRule> = {}): ModelPlace => ({
  at: 'body',
  body: { required: ['model'], multipart: true, ...rule },
})
/** Places of tools inside the input. */
const brought = (places: readonly string[]): string[] =>
  places.flatMap((place) => (place.startsWith('tools[].') ? [`input[].${place}`] : []))

/** The body of a response: its input may be one text, and may also contain tools. */
export const responding = ({
  also = [],
  stored = [],
  tools = [],
  objects,
  ...rule
}: BodyRule): ModelPlace => {
  const inInput = tools.flatMap((place) =>
    place.at.startsWith('tools[]') ? [{ ...place, at: `input[].${place.at}` }] : [],
  )
  return body({
    ...rule,
    also: [...also, ...brought(also)],
    // A stored prompt brings a model and tools of its own:
    // platform.openai.com/docs/guides/prompting
    stored: [...stored, ...brought(stored), 'prompt.id'],
    tools: [...tools, ...inInput],
    texts: ['input', 'input[]'],
    prose: SAID_IN_RESPONSE,
    objects: { ...objects, ...within('input[].tools[].', TOOL) },
  })
}

/** The body of a request with text for something other than a chat. */
export const given = (rule: Partial<BodyRule> = {}): ModelPlace => body({ prose: GIVEN, ...rule })
