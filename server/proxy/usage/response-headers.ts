// What the headers of a response tell: tokens that were used, and an upload that begins.
import { nameAt, valueAt, valueOf, valuesOf } from '../../http1/header-fields.ts'
import { askedFor, parametersOf } from '../providers/endpoint.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import { UNKNOWN, type Usage } from './usage.ts'

const BEDROCK = 'x-amzn-bedrock-'

/**
 * The id of the upload that a response began, from the address of its next request
 * (https://ai.google.dev/api/files).
 */
export function begunUploads(
  raw: readonly string[],
  { asks = {}, objectHeaders = {} }: Provider,
): readonly ObjectRef[] {
  const address = valueOf(raw, 'x-goog-upload-url')
  if (address === undefined || !URL.canParse(address)) return []
  const named = Object.entries(objectHeaders).flatMap(([name, kind]) =>
    valuesOf(raw, name).map((id) => ({ kind, id })),
  )
  return [...askedFor(asks, parametersOf(new URL(address).search.slice(1))), ...named]
}

/**
 * Bedrock's token counts; null if there are none
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-invoke.html).
 */
export function usageInHeaders(raw: readonly string[]): Usage | null {
  const tokens: Record<string, number> = {}
  for (let i = 0; i < raw.length; i += 2) {
    const name = nameAt(raw, i)
    if (name.length <= BEDROCK.length || !name.toLowerCase().startsWith(BEDROCK)) continue
    if (/^\d{1,9}$/.test(valueAt(raw, i)))
      tokens[name.toLowerCase().slice(BEDROCK.length)] = Number(raw[i + 1])
  }
  const cached = tokens['cache-read-input-token-count'] ?? null
  const written = tokens['cache-write-input-token-count'] ?? null
  const input = tokens['input-token-count'] ?? null
  const output = tokens['output-token-count'] ?? null
  return input === null && output === null
    ? null
    : {
        ...UNKNOWN,
        tokens_in: input === null ? null : input + (cached ?? 0) + (written ?? 0),
        tokens_out: output,
        tokens_cached: cached,
        tokens_cache_write: written,
      }
}
