// Requests of known keys that the proxy refused. They have no row in the ledger, so that a caller
// that keeps retrying does not cost a write each time. They are collected in memory and written in
// batches: a few samples per key and second, and counts by key, code and minute. Each sample has
// the number of refusals that it represents, so the samples of a batch add up to all of them. A
// killed process loses its last second.
import { DAY, MINUTE } from '../../common/clock.ts'
import { first, procedure, run, type Steps } from '../../store/procedure.ts'
import type { Store } from '../../store/store.ts'
import type { RefusalMinuteRow, RefusalRow } from '../../store/schema.ts'
import { expire } from '../retention/expiry.ts'

/** One refused request. */
export type Refusal = Omit<RefusalRow, 'count'>

/** How long refusals wait to be written together (milliseconds). */
const FLUSH_MS = 1_000
/**
 * Maximum number of samples of one key in a bunch. The first refusal of each key, code and minute
 * is always a sample.
 */
export const SAMPLES = 5
/** Maximum number of samples of all keys in a bunch. */
const MOST_SAMPLES = 1_000
/** Rows of one batch, which limits the wait of admissions behind it. */
const AT_ONCE = 100
/**
 * The number of newest samples of a key that are kept, and how many more there may be before older
 * ones are deleted.
 */
export const MAX_OF_KEY = 1_000
const SLACK = 100
/** Characters of a message that are kept. */
const MAX_DETAIL = 1_000
/** How long refusals are kept at most (milliseconds). */
export const RETENTION_MS = 30 * DAY

/** Records refused requests. One per process; dispose of it to write pending rows. */
export interface RefusalLog extends AsyncDisposable {
  /** Records one refusal. It only touches memory, and never throws. */
  note(refusal: Refusal): void
  /** Resolves when all refusals so far are written, or could not be. */
  flush(): Promise<void>
}

/** The refusals of one key with one code in one minute. */
interface Tally extends RefusalMinuteRow {
  /** The newest sample; refusals that are not samples are counted in it. */
  sample: RefusalRow | null
}

/** Adds samples and counts. */
export const writeRefusals = procedure(
  import.meta.url,
  'writeRefusals',
  function* (
    db,
    { samples, counts }: { samples: RefusalRow[]; counts: RefusalMinuteRow[] },
  ): Steps<void> {
    for (const sample of samples)
      yield* run(
        db
          .insertInto('refusals')
          .values(sample)
          .onConflict((conflict) => conflict.column('id').doNothing()),
      )
    for (const count of counts) {
      yield* run(
        db
          .insertInto('refusal_minutes')
          .values(count)
          .onConflict((conflict) =>
            conflict.columns(['key_id', 'minute', 'code']).doUpdateSet((e) => ({
              refused: e('refusal_minutes.refused', '+', e.ref('excluded.refused')),
            })),
          ),
      )
    }
  },
  'rows',
)

/** Deletes the oldest samples of a key that has more than MAX_OF_KEY. */
export const pruneRefusals = procedure(
  import.meta.url,
  'pruneRefusals',
  function* (db, { key }: { key: string }): Steps<void> {
    const newest = db
      .selectFrom('refusals')
      .select('created_at')
      .where('key_id', '=', key)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
    const edge = yield* first(newest.limit(1).offset(MAX_OF_KEY - 1))
    if (edge !== undefined)
      yield* run(
        db
          .deleteFrom('refusals')
          .where('key_id', '=', key)
          .where('created_at', '<', edge.created_at),
      )
  },
  'rows',
)

/** Samples, and counts by key, code and minute, that wait to be written. */
class RefusalBunch {
  readonly samples: RefusalRow[] = []
  /** Samples of each key. */
  readonly samplesOf = new Map<string, number>()
  readonly #tallies = new Map<string, Tally>()

  note(refusal: Refusal): void {
    const { key_id, account_id, code } = refusal
    const minute = Math.floor(refusal.created_at / MINUTE) * MINUTE
    const name = nameOf({ key_id, code, minute })
    const tally = this.#tallies.get(name)
    if (tally === undefined) {
      const sample = this.#take(refusal)
      this.#tallies.set(name, { key_id, account_id, code, minute, refused: 1, sample })
      return
    }
    tally.refused++
    const isSample = tally.sample === null || (this.samplesOf.get(key_id) ?? 0) < SAMPLES
    const taken = isSample ? this.#take(refusal) : null
    if (taken !== null) tally.sample = taken
    else if (tally.sample !== null) tally.sample.count++
  }

  /** Adds counts that could not be written with the bunch before. */
  add(counts: readonly RefusalMinuteRow[]): void {
    for (const row of counts) {
      const tally = this.#tallies.get(nameOf(row))
      if (tally !== undefined) tally.refused += row.refused
      else this.#tallies.set(nameOf(row), { ...row, sample: null })
    }
  }

  counts(): RefusalMinuteRow[] {
    return [...this.#tallies.values()].map(({ sample: _, ...count }) => count)
  }

  #take(refusal: Refusal): RefusalRow | null {
    if (this.samples.length >= MOST_SAMPLES) return null
    const sample = { ...refusal, detail: refusal.detail.slice(0, MAX_DETAIL), count: 1 }
    this.samples.push(sample)
    this.samplesOf.set(refusal.key_id, (this.samplesOf.get(refusal.key_id) ?? 0) + 1)
    return sample
  }
}

function nameOf({ minute, code, key_id }: Pick<Tally, 'minute' | 'code' | 'key_id'>): string {
  return `${minute} ${code} ${key_id}`
}

/**
 * Opens the log. @param onError called when refusals could not be written: their counts are written
 * with the next ones, their samples are lost
 */
export function openRefusalLog(
  store: Pick<Store, 'run'>,
  onError: (error: unknown) => void,
): RefusalLog {
  return new BunchedRefusalLog(store, onError)
}

class BunchedRefusalLog implements RefusalLog {
  readonly #store: Pick<Store, 'run'>
  readonly #onError: (error: unknown) => void
  #bunch = new RefusalBunch()
  /** Set while a bunch waits for more refusals. */
  #timer: NodeJS.Timeout | null = null
  /** Settles when the bunches before are written, or could not be. */
  #writing = Promise.resolve()
  /** Samples of each key since its older ones were last deleted. */
  readonly #unpruned = new Map<string, number>()

  constructor(store: Pick<Store, 'run'>, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  note(refusal: Refusal): void {
    this.#bunch.note(refusal)
    this.#plan()
  }

  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    return (this.#writing = this.#writing.then(() => this.#write()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.flush()
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  async #write(): Promise<void> {
    const { samples, samplesOf } = this.#bunch
    const counts = this.#bunch.counts()
    this.#bunch = new RefusalBunch()
    for (let at = 0; at < Math.max(samples.length, counts.length); at += AT_ONCE) {
      const to = at + AT_ONCE
      try {
        await this.#store.run(writeRefusals, {
          samples: samples.slice(at, to),
          counts: counts.slice(at, to),
        })
      } catch (error) {
        this.#bunch.add(counts.slice(at))
        this.#plan()
        return this.#onError(error)
      }
    }
    for (const [key, more] of samplesOf) await this.#prune(key, more).catch(this.#onError)
  }

  async #prune(key: string, more: number): Promise<void> {
    const since = (this.#unpruned.get(key) ?? 0) + more
    this.#unpruned.set(key, since < SLACK ? since : 0)
    if (since >= SLACK) await this.#store.run(pruneRefusals, { key })
  }
}

/**
 * Deletes refusals from before a time (milliseconds since 1970), a few at a time, and the counts of
 * minutes before it.
 */
export async function expireRefusals(
  store: Store,
  before: number,
  goesOn: () => boolean = () => true,
): Promise<void> {
  await expire(store, 'refusals', before, goesOn)
  await expire(store, 'refusal_minutes', before - MINUTE + 1, goesOn)
}
