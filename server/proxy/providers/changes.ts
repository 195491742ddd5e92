// Whether a request is there to make, change or end something that the provider stores: what a
// read-only key may not send.
import type { Match } from './endpoint.ts'

/**
 * Kinds that come into being with an answer, whether or not anybody wants to keep them: making one
 * is generation.
 */
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
  // What the code that a model writes runs in, and leaves behind.
  'container',
  'environment',
  'file',
])

/** Decided by the endpoint's row: what cannot be decided counts as a change. */
export function changesStored({ class: kind, endpoint, objects }: Match, method: string): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  if (method !== 'POST' || kind === 'unknown' || endpoint === null) return true
  if (endpoint.changes !== undefined) return endpoint.changes
  // What runs, or alters, something stored is not known from the request; a tuned model is run as
  // any other.
  if (
    kind !== 'model' ||
    endpoint.model?.at === 'stored' ||
    objects.some((object) => object.kind !== 'tuned_model')
  )
    return true
  return Object.values(endpoint.creates ?? {}).some((made) => !GENERATED.has(made))
}
