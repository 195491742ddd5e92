// Tells whether a request creates, changes or deletes something that the provider stores, which a
// read-only key may not do.
import type { Match } from './match.ts'
import { CITATION } from './object-ref.ts'

/** Kinds that a response always creates: creating one counts as generation. */
const GENERATED: ReadonlySet<string> = new Set([
  'response',
  'item',
  'completion',
  'message',
  'interaction',
  'operation',
  'video',
  'video_job',
  'generation',
  'result',
  'invocation',
  // The containers in which a model's code runs, and their files.
  'container',
  'environment',
  'file',
  CITATION,
])

/**
 * Whether a request changes what the provider stores, by its endpoint's row; if that is undecided,
 * it counts as a change.
 */
export function changesStored({ class: kind, endpoint, objects }: Match, method: string): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  if (method !== 'POST' || kind === 'unknown' || endpoint === null) return true
  if (endpoint.changes !== undefined) return endpoint.changes
  // The request does not show whether it runs or changes a stored object; a tuned model runs like
  // any other.
  if (
    kind !== 'model' ||
    endpoint.model?.at === 'stored' ||
    objects.some((object) => object.kind !== 'tuned_model')
  )
    return true
  return Object.values(endpoint.creates ?? {}).some((made) => !GENERATED.has(made))
}
