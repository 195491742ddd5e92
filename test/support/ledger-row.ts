// Writes settled ledger rows, as proxied requests leave them, without a provider.
import assert from 'node:assert/strict'
import { systemClock } from '../../server/common/clock.ts'
import { UNKNOWN_TOKENS } from '../../server/common/token-kinds.ts'
import { newId } from '../../server/common/ids.ts'
import { openLedger } from '../../server/ledger/ledger.ts'
import { openLog } from '../../server/common/log.ts'
import type { Store } from '../../server/store/store.ts'

export interface Row {
  account: string
  key: string
  model: string
  at?: number
  status?: number
  error?: string
}

/** Writes a row and its roll-up. @returns the row's id */
export async function ledgerRow(
  store: Store,
  { account, key, model, at, status = 200, error }: Row & { at: number },
): Promise<string> {
  const id = newId('req', at)
  const { id: instance } = await store.db
    .selectFrom('instances')
    .select('id')
    .executeTakeFirstOrThrow()
  await using ledger = await openLedger(
    store,
    instance,
    { ...systemClock(() => at), now: () => at },
    openLog('silent'),
  )
  const whose = { account_id: account, key_id: key, provider: 'openai', model }
  const admission = await ledger.admit({
    id,
    ...whose,
    rpm: null,
    endpoint: '/v1/chat/completions',
    method: 'POST',
    context: null,
    child_id: null,
    child_rpm: null,
    end_user: null,
  })
  assert.ok(admission.admitted)
  ledger.settle({
    ...whose,
    seq: admission.seq,
    created_at: at,
    state: 'settled',
    status,
    error: error ?? null,
    credential_id: null,
    first_byte_ms: 100,
    total_ms: 300,
    bytes_in: 10,
    bytes_out: 20,
    ...UNKNOWN_TOKENS,
    tokens_in: 7,
    tokens_out: 5,
    tokens_cached: 2,
    upstream_request_id: null,
  })
  return id
}

/** The same on a test's server, at its current time. */
export function requestNow(server: { store: Store; clock(): number }, row: Row): Promise<string> {
  return ledgerRow(server.store, { at: server.clock(), ...row })
}
