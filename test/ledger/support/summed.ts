// Sums as reports make them, for a test that compares where they come from.
import { procedure, type Steps } from '../../../server/store/procedure.ts'
import { sumUp, type SumLine } from '../../../server/ledger/rollups/summing.ts'

/** Sums of a time by key, provider and model, read by steps of so many milliseconds. */
export const summed = procedure(
  import.meta.url,
  'summed',
  function* (
    db,
    { from, to, finest }: { from: number; to: number; finest: number },
  ): Steps<SumLine[]> {
    const [lines = []] = yield* sumUp(db, { from, to }, finest, [
      { by: ['key_id', 'provider', 'model'] },
    ])
    const nameOf = ({ key_id, provider, model }: SumLine): string =>
      [key_id, provider, model].join()
    return lines
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .map((line) => ({ ...line, latest: 0 }))
  },
)
