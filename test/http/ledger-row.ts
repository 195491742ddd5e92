// A settled row of the ledger, as a proxied request would have left it, without a provider.
import { newId } from '../../server/id.ts'
import { reserve, settle } from '../../server/ledger/rows.ts'
import type { Store } from '../../server/store/open.ts'

export interface Row {
  account: string
  key: string
  model: string
  at?: number
  status?: number
}

/** Writes a row and its roll-up; gives its id. */
export async function ledgerRow(store: Store, { account, key, model, at, status = 200 }: Row & { at: number }): Promise<string> {
  const id = newId('req', at)
  const { id: instance } = await store.db.selectFrom('instances').select('id').executeTakeFirstOrThrow()
  const row = { id, account_id: account, key_id: key, rpm: null, provider: 'openai', model, endpoint: '/v1/chat/completions', method: 'POST', context: null, created_at: at, mono: 0, boot: 0 }
  await store.run(reserve, { instance, seen: Number.MAX_SAFE_INTEGER, since: 0, boot: 0, rows: [row], room: [] })
  await store.run(settle, [
    {
      id, account_id: account, key_id: key, provider: 'openai', created_at: at, state: 'settled', model, status, error: null, credential_id: null, first_byte_ms: 100, total_ms: 300,
      bytes_in: 10, bytes_out: 20, tokens_in: 7, tokens_out: 5, tokens_cached: 2, tokens_reasoning: null,
    },
  ])
  return id
}

/** The same on a test's server, at its present moment. */
export function requestNow(server: { store: Store; clock(): number }, row: Row): Promise<string> {
  return ledgerRow(server.store, { at: server.clock(), ...row })
}
