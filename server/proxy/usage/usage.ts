// Finds the usage in a response, and interprets its numbers.
import {
  TOKEN_COLUMNS,
  TOKEN_KINDS,
  UNKNOWN_TOKENS,
  type TokenKind,
  type Tokens,
} from '../../common/token-kinds.ts'
import type { UsageKind } from '../providers/wire-format.ts'

/** Tokens of one response, by their column in the ledger. */
export type Usage = Readonly<Tokens>

/** The usage of a response that reports none. */
export const UNKNOWN: Usage = UNKNOWN_TOKENS

/**
 * TABLE of places of a usage object in a response, or in an event of a stream; the first that
 * exists counts. `usageMarker` in `event-stream.ts` decides which events of a stream are searched.
 */
export const PLACES = [
  'usage', // nearly everybody
  'usageMetadata', // Gemini, Vertex
  'response.usage', // OpenAI Responses: response.completed, .incomplete, .failed
  'message.usage', // Anthropic: message_start
  'delta.usage', // Cohere: message-end
  'x_groq.usage', // Groq
  'interaction.usage', // Gemini Interactions: interaction.completed
  'meta.tokens', // Cohere v1 and embeddings
  'meta.billed_units',
  'response.meta.tokens', // Cohere v1, at the end of a stream
  'response.meta.billed_units',
  'amazon-bedrock-invocationMetrics', // Bedrock InvokeModelWithResponseStream, behind the model's own last event
] as const

/**
 * TABLE of counts at the root of a response without a usage object: Ollama's own API
 * (github.com/ollama/ollama, docs/api.md).
 */
export const ROOT_COUNTS = ['prompt_eval_count', 'eval_count'] as const

/**
 * The count of each text in a response of Vertex's `:predict`, which has no usage object
 * (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api).
 */
export const EMBEDDED_COUNT = 'predictions[].embeddings.statistics.token_count'

/** A usage object as found; the root's place is empty. */
export interface Finding {
  readonly place: string
  readonly usage: Readonly<Record<string, unknown>>
}

/** The value at a path such as `response.usage`. */
function at(value: unknown, path: string): unknown {
  let here = value
  for (const step of path.split('.')) here = isObject(here) ? here[step] : undefined
  return here
}

/** Finds the usage object of a parsed response or event. */
export function findUsage(response: unknown): Finding | null {
  for (const place of PLACES) {
    const usage = at(response, place)
    if (isObject(usage)) return { place, usage }
  }
  return null
}

/** Whether a value of JSON is an object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * More tokens than any response has: sums of such counts would overflow the integers of databases.
 */
const MOST_TOKENS = 1e9

/** A provider's count: a number that is not negative. */
const count = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= MOST_TOKENS ? Math.round(value) : null
const part = (object: unknown, name: string): number | null =>
  isObject(object) ? count(object[name]) : null
/** The sum of the known values; null if none is known. */
const sum = (...counts: (number | null)[]): number | null =>
  counts.reduce((total, one) => (one === null ? total : (total ?? 0) + one), null)

/**
 * Merges the findings of one response, in order. Anthropic reports its input first and its output
 * last; Bedrock's metrics count only if the model itself reported nothing; everywhere else, the
 * last one is complete.
 */
export function mergeFindings(findings: readonly Finding[], kind: UsageKind): Usage {
  let merged: Record<string, unknown> | null = null
  let started = false
  for (const { place, usage } of findings) {
    if (place === 'message.usage') {
      // The output in message_start is a placeholder.
      merged = { ...usage, output_tokens: null }
      started = true
    } else if (place === 'amazon-bedrock-invocationMetrics' && merged !== null) continue
    else if (started)
      merged = Object.assign(
        {},
        merged,
        Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)),
      )
    else merged = { ...usage }
  }
  return merged === null ? UNKNOWN : readUsage(merged, kind)
}

/**
 * Reads one usage object. The field names show the dialect; `kind` decides if the same names have
 * different meanings. Sources: each provider's API reference, and the usage conversion of its AI
 * SDK package.
 */
function readUsage(usage: Readonly<Record<string, unknown>>, kind: UsageKind): Usage {
  if ('promptTokenCount' in usage || 'candidatesTokenCount' in usage || 'totalTokenCount' in usage)
    return parts(gemini(usage))
  if ('total_input_tokens' in usage || 'total_output_tokens' in usage)
    return parts(interactions(usage))
  if (isAiSdks(usage)) return parts(aiSdk(usage))
  if (
    ['inputTokens', 'outputTokens', 'inputTokenCount', 'outputTokenCount'].some(
      (name) => name in usage,
    )
  )
    return parts(bedrock(usage))
  if (isObject(usage['tokens']) || isObject(usage['billed_units'])) return parts(cohere(usage))
  if (kind === 'anthropic' || isClaudes(usage)) return parts(anthropic(usage))
  return parts(openai(usage, kind))
}

/**
 * Whether Claude reported it, which it also does at Vertex and Bedrock. Gateways add its names to
 * OpenAI's, whose numbers are totals.
 */
function isClaudes(usage: Readonly<Record<string, unknown>>): boolean {
  if ('prompt_tokens' in usage) return false
  return (
    ['cache_read_input_tokens', 'cache_creation_input_tokens', 'iterations'].some(
      (name) => name in usage,
    ) || part(usage['output_tokens_details'], 'thinking_tokens') !== null
  )
}

/**
 * A part can be reported larger than its whole (Together, Fireworks, Cerebras): it is then capped.
 */
function parts(usage: Usage): Usage {
  const capped: Tokens = { ...usage }
  for (const column of TOKEN_COLUMNS) {
    const { partOf }: TokenKind = TOKEN_KINDS[column]
    const [tokens, whole] = [usage[column], partOf === undefined ? null : usage[partOf]]
    if (tokens !== null && whole !== null) capped[column] = Math.min(tokens, whole)
  }
  return capped
}

/**
 * The tokens of audio in a list of Google's counts by modality
 * (https://ai.google.dev/api/generate-content#ModalityTokenCount).
 */
function audioOf(details: unknown, name: 'tokenCount' | 'tokens'): number | null {
  if (!Array.isArray(details)) return null
  let total: number | null = null
  for (const one of details)
    if (isObject(one) && (one['modality'] === 'AUDIO' || one['modality'] === 'audio'))
      total = sum(total, part(one, name))
  return total
}

function gemini(usage: Readonly<Record<string, unknown>>): Usage {
  const reasoning = count(usage['thoughtsTokenCount'])
  return {
    ...UNKNOWN,
    tokens_in: sum(count(usage['promptTokenCount']), count(usage['toolUsePromptTokenCount'])),
    // A Live session calls them responses: https://ai.google.dev/api/live#UsageMetadata
    tokens_out: sum(
      count(usage['candidatesTokenCount']) ?? count(usage['responseTokenCount']),
      reasoning,
    ),
    tokens_cached: count(usage['cachedContentTokenCount']),
    tokens_reasoning: reasoning,
    tokens_audio_in: sum(
      audioOf(usage['promptTokensDetails'], 'tokenCount'),
      audioOf(usage['toolUsePromptTokensDetails'], 'tokenCount'),
    ),
    tokens_audio_out:
      audioOf(usage['candidatesTokensDetails'], 'tokenCount') ??
      audioOf(usage['responseTokensDetails'], 'tokenCount'),
  }
}

function interactions(usage: Readonly<Record<string, unknown>>): Usage {
  const reasoning = count(usage['total_thought_tokens'])
  return {
    ...UNKNOWN,
    tokens_in: sum(count(usage['total_input_tokens']), count(usage['total_tool_use_tokens'])),
    tokens_out: sum(count(usage['total_output_tokens']), reasoning),
    tokens_cached: count(usage['total_cached_tokens']),
    tokens_reasoning: reasoning,
    tokens_audio_in: sum(
      audioOf(usage['input_tokens_by_modality'], 'tokens'),
      audioOf(usage['tool_use_tokens_by_modality'], 'tokens'),
    ),
    tokens_audio_out: audioOf(usage['output_tokens_by_modality'], 'tokens'),
  }
}

/**
 * Bedrock's input excludes tokens read from or written to the cache. Converse uses `…Tokens`, its
 * metrics `…TokenCount`, and Nova some of both.
 */
function bedrock(usage: Readonly<Record<string, unknown>>): Usage {
  const of = (what: string): number | null =>
    count(usage[`${what}Tokens`]) ?? count(usage[`${what}TokenCount`])
  const [cached, written] = [of('cacheReadInput'), of('cacheWriteInput')]
  return {
    ...UNKNOWN,
    tokens_in: sum(of('input'), cached, written),
    tokens_out: of('output'),
    tokens_cached: cached,
    tokens_cache_write: written,
  }
}

/**
 * Whether it is one of the AI SDK's own usages, which Vercel's gateway reports: counts in objects
 * (`LanguageModelV3Usage`), as numbers (`LanguageModelV2Usage`), or the tokens of an embedding.
 */
const isAiSdks = (usage: Readonly<Record<string, unknown>>): boolean =>
  isObject(usage['inputTokens']) ||
  isObject(usage['outputTokens']) ||
  ['cachedInputTokens', 'reasoningTokens'].some((name) => name in usage) ||
  typeof usage['tokens'] === 'number'

/** The AI SDK's totals include all of their parts. */
function aiSdk(usage: Readonly<Record<string, unknown>>): Usage {
  const { inputTokens: input, outputTokens: output } = usage
  return {
    ...UNKNOWN,
    tokens_in: part(input, 'total') ?? count(input) ?? count(usage['tokens']),
    tokens_out: part(output, 'total') ?? count(output),
    tokens_cached: part(input, 'cacheRead') ?? count(usage['cachedInputTokens']),
    tokens_reasoning: part(output, 'reasoning') ?? count(usage['reasoningTokens']),
    tokens_cache_write: part(input, 'cacheWrite'),
  }
}

/** Cohere reports two counts: `tokens` were processed, `billed_units` charged. */
function cohere(usage: Readonly<Record<string, unknown>>): Usage {
  const { tokens, billed_units: billed } = usage
  return {
    ...UNKNOWN,
    tokens_in: part(tokens, 'input_tokens') ?? part(billed, 'input_tokens'),
    tokens_out: part(tokens, 'output_tokens') ?? part(billed, 'output_tokens'),
    tokens_cached: count(usage['cached_tokens']),
  }
}

/**
 * Anthropic's input excludes tokens read from or written to the cache. With compaction or an
 * advisor, the totals exclude the extra iterations; after a fallback they are those of the served
 * response.
 */
function anthropic(usage: Readonly<Record<string, unknown>>): Usage {
  const cached = count(usage['cache_read_input_tokens'])
  const written =
    count(usage['cache_creation_input_tokens']) ??
    sum(
      part(usage['cache_creation'], 'ephemeral_5m_input_tokens'),
      part(usage['cache_creation'], 'ephemeral_1h_input_tokens'),
    )
  const iterations = Array.isArray(usage['iterations']) ? usage['iterations'].filter(isObject) : []
  const whole =
    iterations.length > 0 &&
    !iterations.some((iteration) => iteration['type'] === 'fallback_message')
  const total = (name: string): number | null =>
    (whole ? sum(...iterations.map((iteration) => count(iteration[name]))) : null) ??
    count(usage[name])
  return {
    ...UNKNOWN,
    tokens_in: sum(total('input_tokens'), cached, written),
    tokens_out: total('output_tokens'),
    tokens_cached: cached,
    tokens_reasoning: part(usage['output_tokens_details'], 'thinking_tokens'),
    tokens_cache_write: written,
  }
}

/**
 * TABLE of the objects with parts of OpenAI's input: chat, Responses, Realtime; Mistral, at times.
 */
const INPUT_DETAILS = [
  'prompt_tokens_details',
  'input_tokens_details',
  'input_token_details',
  'prompt_token_details',
] as const
/** TABLE of the objects with parts of its output: chat, Responses, Realtime. */
const OUTPUT_DETAILS = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
] as const

/** Reads a count from the first of some objects that has it. */
const detailsIn =
  (usage: Readonly<Record<string, unknown>>, places: readonly string[]) =>
  (name: string): number | null => {
    for (const place of places) {
      const found = part(usage[place], name)
      if (found !== null) return found
    }
    return null
  }

/**
 * OpenAI's names: chat (`prompt_tokens`) and Responses, images, audio (`input_tokens`), and
 * additions by others.
 */
function openai(usage: Readonly<Record<string, unknown>>, kind: UsageKind): Usage {
  const chat = 'prompt_tokens' in usage || 'completion_tokens' in usage
  const input =
    count(usage['prompt_tokens']) ??
    count(usage['input_tokens']) ??
    count(usage['prompt_eval_count']) ?? // Ollama
    (kind === 'embedding' ? count(usage['total_tokens']) : null)
  const output =
    count(usage['completion_tokens']) ?? count(usage['output_tokens']) ?? count(usage['eval_count'])
  const ofInput = detailsIn(usage, INPUT_DETAILS)
  const ofOutput = detailsIn(usage, OUTPUT_DETAILS)
  const cached =
    ofInput('cached_tokens') ??
    count(usage['prompt_cache_hit_tokens']) ?? // DeepSeek
    count(usage['num_cached_tokens']) ?? // Mistral
    count(usage['cached_tokens'])
  const reasoning = ofOutput('reasoning_tokens') ?? count(usage['reasoning_tokens'])
  // xAI's chat and Perplexity count reasoning in addition to the completion; xAI's prompt may
  // exclude the cached part.
  const apart = chat && (kind === 'xai' || kind === 'perplexity')
  const outside = kind === 'xai' && cached !== null && input !== null && cached > input
  return {
    ...UNKNOWN,
    tokens_in: outside ? sum(input, cached) : input,
    tokens_out: apart ? sum(output, reasoning) : output,
    tokens_cached: cached,
    tokens_reasoning: reasoning,
    tokens_cache_write:
      ofInput('cache_write_tokens') ??
      count(usage['cache_write_tokens']) ?? // OpenRouter
      count(usage['cache_creation_input_tokens']), // gateways, for Claude
    tokens_audio_in: ofInput('audio_tokens'),
    tokens_audio_out: ofOutput('audio_tokens'),
  }
}
