// The result of the last test call with each credential, stored so that it outlives the page that
// started it.
import { isoTime } from '../../common/clock.ts'
import type { Store } from '../../store/store.ts'
import type { Probe } from './probe.ts'

/** A test call as the API shows it. */
export type ShownTest = Probe & { at: string }

/** Stores the result of a test call in place of the previous one. */
export async function keepTest(
  store: Store,
  credentialId: string,
  { ok, status, detail }: Probe,
  now: number,
): Promise<ShownTest> {
  const row = { credential_id: credentialId, at: now, ok: Number(ok), status, detail }
  await store.db
    .insertInto('credential_tests')
    .values(row)
    .onConflict((conflict) => conflict.column('credential_id').doUpdateSet(row))
    .execute()
  return { ok, status, detail, at: isoTime(now) }
}

/** The last test of each credential that was tested, by its id. */
export async function lastTests(store: Store): Promise<ReadonlyMap<string, ShownTest>> {
  const rows = await store.db.selectFrom('credential_tests').selectAll().execute()
  return new Map(
    rows.map(({ credential_id, at, ok, status, detail }) => [
      credential_id,
      { ok: ok === 1, status, detail, at: isoTime(at) },
    ]),
  )
}
