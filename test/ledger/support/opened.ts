// A ledger on a store in a folder, with clocks that the test moves.
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { systemClock, type Clock } from '../../../server/common/clock.ts'
import { UNKNOWN_TOKENS } from '../../../server/common/token-kinds.ts'
import {
  openLedger,
  type AdmissionRequest,
  type Ledger,
  type Settlement,
} from '../../../server/ledger/ledger.ts'
import { openLog } from '../../../server/common/log.ts'
import { enterInstance } from '../../../server/store/instance.ts'
import { openStore } from '../../../server/store/open.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Place } from '../../support/place.ts'
import { query } from '../../support/postgres.ts'

export type Opened = {
  store: Store
  ledger: Ledger
  clock: Moved
  close(): Promise<void>
}

/** The machine's clocks, set forward or back. */
export type Moved = Clock & { wallBy: number; monoBy: number }

export function movedClock(): Moved {
  const real = systemClock(Date.now)
  return {
    wallBy: 0,
    monoBy: 0,
    boot: real.boot,
    now() {
      return real.now() + this.wallBy
    },
    mono() {
      return real.mono() + this.monoBy
    },
  }
}

/** What a ledger is opened with where its store may stand still. */
export type OutageOptions = {
  /** Milliseconds for which requests go on passing. */
  maxOutage: number
  /** Told when the store does not take a sign of life. */
  onTrouble(error: unknown): void
}

export async function openOn(
  place: Place,
  clock: Moved = movedClock(),
  more?: OutageOptions,
): Promise<Opened> {
  const store = await openStore({ ...place, now: clock.now() })
  // As a server does: what a request waits for long counts as an outage.
  store.warm()
  const rethrow = (error: unknown) => {
    throw error
  }
  const instance = await enterInstance(store, () => clock.now(), more?.onTrouble ?? rethrow)
  const ledger = await openLedger(store, instance.id, clock, openLog('silent'), {
    maxOutage: more?.maxOutage ?? 0,
    folder: join(place.data, 'outage'),
  })
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await ledger.close()
    await instance[Symbol.asyncDispose]()
    await store.close()
  }
  return { store, ledger, clock, close }
}

export async function openFor(
  t: TestContext,
  place: Place,
  clock?: Moved,
  more?: OutageOptions,
): Promise<Opened> {
  const opened = await openOn(place, clock, more)
  t.after(() => opened.close())
  return opened
}

/** Lets time pass for everybody: our clocks, and the ledger's where it has one of its own. */
export async function pass(
  { databaseUrl }: Place,
  milliseconds: number,
  ...clocks: Moved[]
): Promise<void> {
  for (const clock of clocks) clock.monoBy += milliseconds
  if (databaseUrl)
    await query(
      databaseUrl,
      `update ledger_clock set correction = correction + ${milliseconds * 1000}`,
    )
}

let count = 0

export function admissionRequest(
  key: string,
  rpm: number | null,
  more: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  return {
    id: `req_${process.pid}_${++count}`,
    account_id: 'acc',
    key_id: key,
    rpm,
    provider: 'openai',
    model: 'gpt-5',
    endpoint: 'chat',
    method: 'POST',
    context: null,
    child_id: null,
    child_rpm: null,
    end_user: null,
    ...more,
  }
}

export function settlement(
  { account_id, key_id, provider, model }: AdmissionRequest,
  { seq, created_at }: { seq: number; created_at: number },
  more: Partial<Settlement> = {},
): Settlement {
  return {
    seq,
    account_id,
    key_id,
    provider,
    model,
    created_at,
    state: 'settled',
    status: 200,
    error: null,
    credential_id: 'cred',
    first_byte_ms: 10,
    total_ms: 20,
    bytes_in: 100,
    bytes_out: 200,
    ...UNKNOWN_TOKENS,
    tokens_in: 3,
    tokens_out: 4,
    upstream_request_id: 'req_1',
    ...more,
  }
}
