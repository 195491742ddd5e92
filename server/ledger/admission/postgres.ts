// Admission where many machines share the ledger, on PostgreSQL.
//
// Everything that asks within a moment is one call of one function in the database
// (store/migrations/0041-shared-ledger.ts). Under a lock for each key it looks at the key's N-th
// newest admission, lets through what may pass, stamps and writes it, and commits. So of all
// processes one at a time decides about a key, and sees everything that was decided before.
//
// Why no interval of 60 s ever holds more than N: · Stamps of a key never go back, and request n
// passes only where request n − N has a stamp that is older by more than the window. So by
//   their stamps, any N + 1 admissions in a row span more than the window. · A stamp is no later
//   than the moment when the request is let go, by the time of the commit and the way back. Where
//   that took longer than
//   PROMPT_MS, the stamp is moved to the moment of letting go; nobody looks at it as a stamp to
//   expire for most of a minute, so that may happen
//   afterwards. And the window is longer than 60 s by SLACK_MS, which is more than PROMPT_MS and
//   the tolerance of the clock together. · Stamps are measured by one clock, the database's. When
//   that is set forward or back, the function's time no longer fits what each process
//   expects by its own monotonic clock (database-clock.ts); then it decides nothing, and the
//   process that notices corrects the ledger's time by the step.
//   So the ledger's time runs on. With no process to notice, a clock that was set back is still
//   noticed by the newest stamp, which then counts as
//   just now. Only a clock that was set forward while no process ran goes unnoticed, like a longer
//   pause.
//
// And whatever can pass does: the caller that is early by no more than the slack is held, not
// refused.
import { crc32 } from 'node:zlib'
import { sql } from 'kysely'
import type { Clock } from '../../common/clock.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/open.ts'
import { procedure, type Steps } from '../../store/procedure.ts'
import type { SqlValue, Statement } from '../../store/statement.ts'
import {
  callerLeftError,
  supersededError,
  type AdmissionBackend,
  type PendingAdmission,
} from './backend.ts'
import { AccountKeyQueue } from '../../common/fairness/account-key-queue.ts'
import { recentAdmissions, timesByKey } from './sqlite-reserve.ts'
import { upstreamErrorsOf } from '../settlement/row-codec.ts'
import { recordUpstreamErrors } from '../settlement/sqlite.ts'
import { settlePostgres, storable } from '../settlement/postgres.ts'
import { DatabaseClock, TOLERANCE_MS } from './database-clock.ts'
import { wholeWait, WINDOW_MS } from './sliding-window.ts'

/** What may pass between a stamp and the letting go (milliseconds). */
const PROMPT_MS = 25
const SLACK_MS = PROMPT_MS + TOLERANCE_MS + 5
const WIDTH_MS = WINDOW_MS + SLACK_MS
/** A request that could pass so soon is held rather than refused (milliseconds). */
const HOLD_MS = SLACK_MS + 10
/**
 * Requests and keys of one call at most; each key is a lock, of which PostgreSQL has some
 * thousands.
 */
const MOST_ROWS = 2_000
const MOST_KEYS = 200
/** Requests that may wait for their call; then accounts and keys have shares. */
const MOST_WAITING = 50_000
/**
 * Requests of one key that are held at once; more are refused, or they would be asked for again and
 * again.
 */
const MOST_HELD = 1_000
/** Requests of a full key that are refused in one go. */
const REFUSED_AT_ONCE = 256
/** How often the ledger's time is compared where nothing is admitted. */
const COMPARE_MS = 5_000
/** Sets the locks of keys apart from others in the same database. */
const LOCKS = 0x546c6467n << 32n

/** Requests of one key in a call, in their order. */
type Group = { id: string; rpm: number | null; asked: PendingAdmission[] }

/**
 * What tollmark_admit gives: `passed` and `waits` (microseconds) by key, `numbers` of the written
 * rows in their order.
 */
type Answer =
  | { doubt: true; present: number }
  | { doubt: false; present: number; passed: number[]; waits: number[]; numbers: number[] }

/** @param complain told where the ledger's time cannot be compared */
export async function openPostgresAdmission(
  store: Store,
  instance: string,
  clock: Clock,
  complain: (error: unknown) => void,
): Promise<AdmissionBackend> {
  const timeline = new DatabaseClock()
  /** Keys that are full, and until when at least (our monotonic time). */
  const full = new Map<string, { rpm: number; until: number }>()
  const queue = new AccountKeyQueue<PendingAdmission>(MOST_WAITING, ({ request }) => request)
  /** How many of each key are held. */
  const held = new Map<string, number>()
  let flying = false
  let planned = false
  let version = 0
  let ended: (() => void) | undefined

  await sql`
    update ledger_clock set correction = correction + ahead, version = version + 1
    from (select max(mono) - tollmark_ledger_time() as ahead from (select mono from requests order by seq desc limit 1000) as newest) as found
    where one and ahead > ${TOLERANCE_MS * 1000}`.execute(store.db)
  await compare()
  const timer = setInterval(() => {
    for (const [key, { until }] of full) if (until < clock.mono()) full.delete(key)
    queue.tidy()
    compare().catch(complain)
  }, COMPARE_MS).unref()

  /** Compares the ledger's time with ours, and corrects it where the database's clock was set. */
  async function compare(): Promise<void> {
    for (;;) {
      const sent = clock.mono()
      const { rows } = await sql<{
        present: number
        version: number
      }>`select tollmark_ledger_time() as present, version from ledger_clock where one`.execute(
        store.db,
      )
      const received = clock.mono()
      const [now] = rows
      if (!now) throw new StoreError('failed', 'the ledger has no clock')
      const there = now.present / 1000
      if (timeline.observe(sent, received, there)) {
        version = now.version
        return
      }
      if (now.version !== version) {
        // Another process has corrected it: what it says holds.
        version = now.version
        timeline.restart(sent, received, there)
        return
      }
      const [earliest, latest] = timeline.at((sent + received) / 2)
      const step = Math.round(((earliest + latest) / 2 - there) * 1000)
      await sql`update ledger_clock set correction = correction + ${step}, version = version + 1 where one and version = ${version}`.execute(
        store.db,
      )
    }
  }

  /**
   * For how long a key is full by the last answer about it (milliseconds); null where it may have
   * room soon.
   */
  function closedFor(key: string, rpm: number | null): number | null {
    const closed = full.get(key)
    if (closed === undefined || closed.rpm !== rpm) return null
    const wait = closed.until - clock.mono()
    return wait > HOLD_MS ? wait : null
  }

  function ask(asked: PendingAdmission): void {
    const { key_id, rpm } = asked.request
    const wait = closedFor(key_id, rpm)
    if (wait !== null) return refuse(asked, wait)
    queue.push(asked)?.reject(new StoreError('busy', 'too many requests wait for the ledger'))
    plan()
  }

  /** One call at a time: what comes meanwhile shares the next. */
  function plan(): void {
    if (planned || flying) return
    if (queue.size === 0) return ended?.()
    planned = true
    setImmediate(() => {
      planned = false
      flying = true
      void fly(gather()).finally(() => {
        flying = false
        plan()
      })
    })
  }

  /**
   * Takes from the queue, in turns, what the next call can decide. Of a key no more than its limit:
   * the rest hangs on how those fare.
   */
  function gather(): Group[] {
    const groups = new Map<string, Group>()
    const over: PendingAdmission[] = []
    queue.take(MOST_ROWS, (asked) => {
      if (asked.superseded || asked.callerLeft) {
        over.push(asked)
        return true
      }
      const { key_id, rpm } = asked.request
      let group = groups.get(key_id)
      if (group === undefined && groups.size < MOST_KEYS)
        groups.set(key_id, (group = { id: key_id, rpm, asked: [] }))
      if (group === undefined || group.rpm !== rpm || group.asked.length >= (rpm ?? Infinity))
        return false
      group.asked.push(asked)
      return true
    })
    for (const asked of over) asked.reject(asked.superseded ? supersededError() : callerLeftError())
    return [...groups.values()]
  }

  async function fly(groups: Group[]): Promise<void> {
    if (groups.length === 0) return
    try {
      const sent = clock.mono()
      const now = clock.now()
      let answer = await call(groups, now, timeline.at(sent))
      if (answer.doubt) {
        // Either the call was on its way for long, or the clock was set. After a look at it the
        // time is good.
        await compare()
        answer = await call(groups, now, null)
      }
      if (answer.doubt) throw new StoreError('failed', 'the ledger doubts its time')
      await decided(groups, answer, sent, now)
    } catch (error) {
      // Who waits for the next call would hear the same, only later.
      for (const asked of [...groups.flatMap(({ asked }) => asked), ...queue.clear()])
        asked.reject(error)
    }
  }

  async function call(
    groups: Group[],
    now: number,
    bounds: [number, number] | null,
  ): Promise<Answer> {
    const keys = groups.map(({ id, rpm, asked }) => ({ id, rpm, wanted: asked.length }))
    const rows = groups.flatMap(({ asked }, key) =>
      asked.map(({ request }, place) => rowOf(request, key + 1, place + 1, now)),
    )
    const [earliest, latest] =
      bounds === null
        ? [null, null]
        : [
            Math.round((bounds[0] - TOLERANCE_MS) * 1000),
            Math.round((bounds[1] + TOLERANCE_MS) * 1000),
          ]
    const { rows: answers } = await sql<{
      answer: Answer
    }>`select tollmark_admit(${JSON.stringify(rows)}, ${JSON.stringify(keys)}, ${locksOf(groups.map(({ id }) => id))}, ${instance},
      ${WIDTH_MS * 1000}, ${earliest}, ${latest}) as answer`.execute(store.db)
    return answers[0]!.answer
  }

  async function decided(
    groups: Group[],
    answer: Extract<Answer, { doubt: false }>,
    sent: number,
    created_at: number,
  ): Promise<void> {
    const received = clock.mono()
    const counted = received - sent > PROMPT_MS ? received : sent
    timeline.observe(sent, received, answer.present / 1000)
    let written = 0
    const late: Group[] = []
    const firsts: number[] = []
    groups.forEach((group, place) => {
      const { id, rpm, asked } = group
      const passed = answer.passed[place]!
      if (passed > 0 && rpm !== null) {
        late.push(group)
        firsts.push(answer.numbers[written]!)
      }
      for (const one of asked.slice(0, passed))
        one.resolve({ admitted: true, seq: answer.numbers[written++]!, created_at })
      // Full now: what did not pass has to wait, and so has what was left in the queue where all of
      // a minute have passed.
      const wait =
        passed < asked.length ? answer.waits[place]! / 1000 : passed === rpm ? WIDTH_MS : null
      if (wait === null || rpm === null) return
      if (wait > HOLD_MS)
        full.set(id, { rpm, until: (passed > 0 && passed === rpm ? counted : sent) + wait })
      for (const one of asked.slice(passed)) {
        if (wait > HOLD_MS || !hold(one, wait)) refuse(one, wait - (received - sent))
      }
      if (wait > HOLD_MS) askAgain(queue.takeKey(id))
    })
    if (counted === received && late.length > 0)
      await restamp(
        late,
        firsts,
        Math.min(timeline.at(received)[1], answer.present / 1000 + received - sent),
      )
  }

  /** Asks again for one that is early; false where too many of its key are. */
  function hold(one: PendingAdmission, wait: number): boolean {
    const { key_id } = one.request
    const count = held.get(key_id) ?? 0
    if (count >= MOST_HELD) return false
    held.set(key_id, count + 1)
    setTimeout(() => {
      const left = held.get(key_id)! - 1
      if (left === 0) held.delete(key_id)
      else held.set(key_id, left)
      ask(one)
    }, wait)
    return true
  }

  function askAgain(some: PendingAdmission[]): void {
    for (const one of some.slice(0, REFUSED_AT_ONCE)) ask(one)
    if (some.length > REFUSED_AT_ONCE) setImmediate(() => askAgain(some.slice(REFUSED_AT_ONCE)))
  }

  async function restamp(groups: Group[], numbers: number[], time: number): Promise<void> {
    const keys = groups.map(({ id }) => id)
    await sql`select tollmark_restamp(${locksOf(keys)}, ${keys}, ${numbers}, ${Math.round(time * 1000)})`
      .execute(store.db)
      .catch(complain)
  }

  /** Our time to the ledger's, as well as it is known (milliseconds). */
  function ahead(): number {
    const now = clock.mono()
    const [earliest, latest] = timeline.at(now)
    return (earliest + latest) / 2 - now
  }

  return {
    submit: ask,
    fullFor: (key, rpm) => {
      const wait = closedFor(key, rpm)
      return wait === null ? null : wholeWait(wait)
    },
    // Only the database knows what all processes admitted, and it is asked for the N-th newest
    // admission alone.
    leftFor: (key, rpm) => {
      const wait = closedFor(key, rpm)
      return wait === null ? null : { requests: 0, reset: wait }
    },
    settle: async (rows) => {
      const failures = upstreamErrorsOf(rows)
      // First, so that no row which has ended misses what was said of it.
      if (failures.length > 0)
        await store.run(
          recordUpstreamErrors,
          failures.map(({ text, ...row }) => ({ ...row, text: text && storable(text) })),
        )
      if (rows.length > 0) await settlePostgres(store, rows)
    },
    recordAdmitted: (rows, origin = { instance, boot: clock.boot }) => {
      const there = ahead()
      // After a restart of the machine its old monotonic times mean nothing; its wall clock does.
      const stampOf = (mono: number, created_at: number): number =>
        origin.boot === clock.boot ? mono : (clock.mono() - (clock.now() - created_at)) * 1000
      const stamped = rows.map(({ mono, ...row }) => ({
        ...row,
        model: row.model === null ? null : storable(row.model),
        endpoint: storable(row.endpoint),
        mono: Math.round(stampOf(mono, row.created_at) + there * 1000),
      }))
      return store.run(recordPostgres, {
        rows: JSON.stringify(stamped),
        locks: locksOf(rows.map(({ key_id }) => key_id)),
        instance: origin.instance,
      })
    },
    recentAdmissions: async () => {
      const there = ahead()
      const found = timesByKey(
        await store.readNow(recentAdmissions, {
          boot: 0,
          since: (clock.mono() + there - WINDOW_MS) * 1000,
        }),
      )
      return found.map(([key, times]) => [key, times.map((time) => time - there)])
    },
    close: async () => {
      clearInterval(timer)
      if (flying || planned || queue.size > 0)
        await new Promise<void>((resolve) => (ended = resolve))
    },
  }
}

function query(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters }
}

/**
 * Inserts rows that were admitted in an outage, unless they are there already; gives the `seq` of
 * each, in order. A row of the last minute goes to the end of its key's window, with its own time
 * but never one before what is written: stamps of a key never go back. An older row is in no
 * window, and has no `nth`.
 */
export const recordPostgres = procedure(
  import.meta.url,
  'recordPostgres',
  function* (
    _db,
    { rows, locks, instance }: { rows: string; locks: string[]; instance: string },
  ): Steps<number[]> {
    for (const lock of locks) yield query('select pg_advisory_xact_lock($1)', lock)
    yield query(
      `insert into requests (id, account_id, key_id, rpm, provider, model, endpoint, method, context, state, created_at, instance, boot, outage, mono, nth)
     select g.id, g.account_id, g.key_id, g.rpm, g.provider, g.model, g.endpoint, g.method, g.context, 'reserved', g.created_at, $2, 0, 1,
       case when g.counts then greatest(max(g.mono) over per_key, newest.mono) else g.mono end,
       case when g.counts then coalesce(newest.nth, 0) + row_number() over per_key end
     from (select *, mono >= tollmark_ledger_time() - ${WIDTH_MS * 1000} as counts
       from rows from (json_to_recordset($1::json) as (id text, account_id text, key_id text, rpm int, provider text, model text, endpoint text,
           method text, context text, created_at bigint, mono bigint)) with ordinality
         as r(id, account_id, key_id, rpm, provider, model, endpoint, method, context, created_at, mono, place)) as g
     left join lateral (select nth, mono from requests where key_id = g.key_id and nth is not null order by nth desc limit 1) as newest on true
     where not exists (select from requests r where r.id = g.id)
     window per_key as (partition by g.key_id, g.counts order by g.mono, g.place)
     order by g.mono, g.place`,
      rows,
      instance,
    )
    const { rows: found } = yield query(
      `select r.seq from rows from (json_to_recordset($1::json) as (id text)) with ordinality as g(id, line) join requests r on r.id = g.id order by g.line`,
      rows,
    )
    return found.map((row) => Number((row as { seq: number }).seq))
  },
  'rows',
)

function refuse(asked: PendingAdmission, wait: number): void {
  asked.resolve({ admitted: false, wait: wholeWait(wait) })
}

/** Numbers of the locks of keys, ascending, so that no two calls wait for each other in a ring. */
function locksOf(keys: string[]): string[] {
  return [...new Set(keys.map((id) => crc32(id)))]
    .sort((a, b) => a - b)
    .map((hash) => String(LOCKS | BigInt(hash)))
}

function rowOf(
  { id, account_id, provider, model, endpoint, method, context }: PendingAdmission['request'],
  key: number,
  place: number,
  created_at: number,
) {
  return {
    id,
    account_id,
    key,
    place,
    provider,
    model: model === null ? null : storable(model),
    endpoint: storable(endpoint),
    method,
    context,
    created_at,
  }
}
