// A held body, inspected without a server: whole, and once more in pieces of one byte, which must
// tell the same.
import assert from 'node:assert/strict'
import type { Scope } from '../../../server/keys/scope.ts'
import { Inspection, type InspectionInput } from '../../../server/proxy/inspect/inspection.ts'
import {
  resolveModels,
  type ModelResolution,
} from '../../../server/proxy/inspect/resolve-models.ts'
import type { Match } from '../../../server/proxy/providers/match.ts'
import type { ObjectRef } from '../../../server/proxy/providers/object-ref.ts'
import type { Provider } from '../../../server/proxy/providers/provider.ts'

/** Bodies up to this size are inspected byte by byte as well. */
const MAX_SPLIT_BYTES = 20_000

async function run(question: InspectionInput, pieces: readonly Buffer[]): Promise<Inspection> {
  const inspection = new Inspection(question, pieces)
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const state = inspection.step(resolve)
    if (state === 'done') return inspection
    if (state === 'waiting') await promise
  }
}

/** The inspection of a body, complete. */
export async function inspect(question: InspectionInput, body: Buffer): Promise<Inspection> {
  const whole = await run(question, [body])
  if (body.length > MAX_SPLIT_BYTES) return whole
  const split = await run(
    question,
    [...body].map((byte) => Buffer.from([byte])),
  )
  assert.deepEqual(told(split), told(whole), 'in pieces of one byte')
  return whole
}

/** What came of it; of a body that is refused, that is all that counts. */
function told({ refusal, findings }: Inspection): object {
  const { models, model, named, objects, mentioned, refers, kept, hidden, problem, unclear } =
    findings
  return refusal === null && !findings.decided
    ? { models, model, named, objects, mentioned, refers, kept, hidden, problem, unclear }
    : { refused: (refusal ?? problem)?.code, unclear }
}

export interface ScopedRequest {
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
  readonly headers: readonly string[]
  readonly body: Buffer | null
  readonly limit: number
}

/** What becomes of a scoped key's request. */
export async function checkScope(scope: Scope, request: ScopedRequest): Promise<ModelResolution> {
  const { provider, match, headers, body, limit } = request
  const inspected =
    body === null ? null : await inspect({ provider, match, headers, strict: true, limit }, body)
  return resolveModels(scope, request, inspected)
}

/** What a key without limits on its models is found to name; null where that cannot be known. */
export async function readHeld(
  provider: Provider,
  match: Match,
  headers: readonly string[],
  body: Buffer,
  limit: number,
): Promise<{ objects: readonly ObjectRef[]; model: string | null } | null> {
  const { refusal, findings } = await inspect(
    { provider, match, headers, strict: false, limit },
    body,
  )
  return refusal !== null || findings.unclear
    ? null
    : { objects: [...match.objects, ...findings.objects], model: findings.model }
}
