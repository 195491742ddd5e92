// One row for each running process. Rows that belong to its requests (quota, idempotency keys)
// refer to its row and are deleted with it. So nothing stays reserved for a killed process, and a
// live one never loses anything.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { bootId } from '../common/clock.ts'
import { codeOf } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import type { Store } from './store.ts'
import { first, procedure, run } from './procedure.ts'
import { StoreError, type StoreErrorCode } from './store-error.ts'

/**
 * Interval of heartbeats (milliseconds), and so the longest time until the rows of a killed process
 * of this machine are released, and until `/readyz` notices that the store fails or works again.
 */
const BEAT = 5000
/**
 * A process on another machine is considered dead after this time (milliseconds) without a
 * heartbeat. On this machine we check whether it runs.
 */
const LEASE = 30_000
/**
 * If our own last heartbeat is older (milliseconds), we or the store were suspended, or its clock
 * was set. Then do not expire others.
 */
const LATE = 15_000
/**
 * How many of our heartbeats in a row must be in time before we expire others again: meanwhile,
 * they can send theirs.
 */
const STEADY = 2

/**
 * Instances of this process. A row with our process id and another instance id is from before a
 * restart.
 */
const ours = new Set<string>()

/**
 * This process's row. Dispose of it at shutdown; the rows that refer to it are deleted with it.
 */
export interface Instance extends AsyncDisposable {
  readonly id: string
  /** Why the last heartbeat failed; null if it succeeded. */
  failure(): StoreErrorCode | null
  /** Sends a heartbeat now, or awaits the one in progress; returns why it failed. */
  beat(): Promise<StoreErrorCode | null>
}

/** The identity of an instance, and the location of its process. */
export interface InstanceIdentity {
  readonly id: string
  /** See `processSpace`. */
  readonly host: string
  readonly pid: number
}

interface Self extends InstanceIdentity {
  /** `all`, `web` or `worker`. */
  readonly role: string
}

/**
 * Records an instance's heartbeat and deletes dead instances: those in `dead`, and if it is
 * `steady`, those without a heartbeat for too long. Returns whether its own heartbeat was in time.
 */
export const beat = procedure(
  import.meta.url,
  'beat',
  function* (
    db,
    {
      id,
      host,
      pid,
      role,
      now,
      dead,
      steady,
    }: Self & { now: number; dead: string[]; steady: boolean },
  ) {
    const mine = yield* first(db.selectFrom('instances').select('seen_at').where('id', '=', id))
    const inTime = mine === undefined || Math.abs(now - mine.seen_at) <= LATE
    yield* run(
      db
        .insertInto('instances')
        .values({ id, host, pid, role, seen_at: now })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now })),
    )
    const others = db.deleteFrom('instances').where('id', '!=', id)
    if (steady && inTime)
      yield* run(
        others.where((e) => e.or([e('seen_at', '<', now - LEASE), e('seen_at', '>', now + LEASE)])),
      )
    for (const gone of dead) yield* run(others.where('id', '=', gone))
    return inTime
  },
)

/**
 * Returns a function that sends one heartbeat of an instance; call it again only when it has
 * resolved.
 */
export function signer(self: Self): (store: Store, now: number, dead: string[]) => Promise<void> {
  // The first process on a store whose processes have all died cleans it up immediately.
  let inTime = STEADY
  return async (store, now, dead) => {
    inTime = (await store.run(beat, { ...self, now, dead, steady: inTime >= STEADY }))
      ? inTime + 1
      : 0
  }
}

/**
 * Registers this process as an instance, deletes dead ones, and keeps doing both.
 *
 * @param onError called when a heartbeat fails; the next one follows as usual
 * @param role `all`, `web` or `worker`: processes that admit requests share limits in an outage
 */
export async function enterInstance(
  store: Store,
  clock: () => number,
  onError: (error: unknown) => void,
  role = 'all',
): Promise<Instance> {
  const id = newId('ins', clock())
  const host = processSpace()
  ours.add(id)
  const tell = signer({ id, host, pid: process.pid, role })
  const sign = async (): Promise<void> => {
    const neighbours = await store.db
      .selectFrom('instances')
      .select(['id', 'pid'])
      .where('host', '=', host)
      .execute()
    const dead = neighbours
      .filter((row) => !ours.has(row.id) && (row.pid === process.pid || !isRunning(row.pid)))
      .map((row) => row.id)
    await tell(store, await store.time(clock()), dead)
  }
  await sign().catch((error: unknown) => {
    ours.delete(id)
    throw error
  })
  let failure: StoreErrorCode | null = null
  let signing: Promise<StoreErrorCode | null> | undefined
  const signAgain = async (): Promise<StoreErrorCode | null> => {
    try {
      await sign()
      failure = null
    } catch (error) {
      failure = error instanceof StoreError ? error.code : 'failed'
      onError(error)
    }
    signing = undefined
    return failure
  }
  const beatNow = (): Promise<StoreErrorCode | null> => (signing ??= signAgain())
  const timer = setInterval(() => void beatNow(), BEAT).unref()
  return {
    id,
    failure: () => failure,
    beat: beatNow,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      ours.delete(id)
      // A heartbeat in progress would record this instance again.
      await signing?.catch(onError)
      // If the store is unavailable, others expire this instance, as after a kill.
      await store.db.deleteFrom('instances').where('id', '=', id).execute().catch(onError)
    },
  }
}

/**
 * Whether an instance's process runs. On this machine, the process is looked up; elsewhere, its row
 * decides.
 *
 * @throws StoreError
 */
export async function isAlive(store: Store, { id, host, pid }: InstanceIdentity): Promise<boolean> {
  if (ours.has(id)) return true
  if (host === processSpace()) return pid !== process.pid && isRunning(pid)
  const row = await store.db
    .selectFrom('instances')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Identifies the scope of process ids: this host, since its start, within this container. Other
 * machines may have the same host name, and containers may share one; a lookup would mistake a live
 * process for a dead one.
 */
export function processSpace(): string {
  let space = ''
  try {
    space = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Not Linux, so there are no such containers.
  }
  return [hostname(), bootId(), space].join(' ').trim()
}

/** Whether a process of this machine runs. A zombie still has a process id, but does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // EPERM: it runs as another user.
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Linux only. Field 3 of proc_pid_stat(5), found after the command's name, which may contain
 * anything.
 */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(') ') + 2))
  } catch {
    return false
  }
}
