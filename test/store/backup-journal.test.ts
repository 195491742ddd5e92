// A backup that is kept up to date while the store is written: whatever was written until the last
// piece is restored, and a piece that is missing or damaged is noticed.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfig } from '../../server/config/settings.ts'
import { readIdentity, readRecipient } from '../../server/store/backup/encryption.ts'
import { startShipping } from '../../server/store/backup/journal.ts'
import { restoreBackup } from '../../server/store/backup/restore.ts'
import { sqlitePath } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { Connection } from '../../server/store/sqlite/connection.ts'
import { settingsOf, type Place } from '../support/place.ts'
import { openAt, emptyPlaceOn } from '../support/stores.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const storageAt = (place: Place) => readConfig(settingsOf(place)).storage

const { publicKey, privateKey } = generateKeyPairSync('x25519')
const recipient = readRecipient(publicKey.export({ type: 'spki', format: 'pem' }).toString())
const identity = readIdentity(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())

/** A row without anything that refers to it. */
const account = (number: number) => ({
  id: `acc_${number}`,
  name: `name ${number}`,
  email: null,
  plan: 'free',
  role: 'member' as const,
  created_at: number,
  disabled: 0,
})
const insert = (store: Store, number: number) =>
  store.db.insertInto('accounts').values(account(number)).execute()
const rowsOf = (store: Store) =>
  store.db.selectFrom('accounts').select(['id', 'name']).orderBy('created_at').execute()

async function shipped(t: TestContext) {
  const place = await emptyPlaceOn.sqlite(t)
  const store = await openAt(t, place)
  const target = temporaryFolder(t)
  let now = 1_800_000_000_000
  const errors: unknown[] = []
  let turns = 0
  const shipping = startShipping({
    store: {
      ...store,
      takeChanges: async () => {
        turns++
        return (await store.takeChanges?.()) ?? { whole: true, changes: Buffer.alloc(0) }
      },
    },
    storage: storageAt(place),
    target,
    recipient,
    now: () => (now += 1000),
    onError: (error) => errors.push(error),
    period: 5,
  })
  t.after(() => shipping[Symbol.asyncDispose]())
  /** Complete backups, the oldest first. */
  const backups = () =>
    readdirSync(target)
      .filter((name) => name.startsWith('tollmark-'))
      .sort()
      .map((name) => join(target, name))
  const pieces = () => {
    const journal = join(backups().at(-1) ?? '', 'journal')
    // It is made after the backup.
    return existsSync(journal) ? readdirSync(journal).filter((name) => /^\d+$/.test(name)) : []
  }
  await until(() => backups().length === 1)
  /** Waits until changes were looked for `count` more times. */
  const pass = (count: number) => {
    const end = turns + count
    return until(() => turns >= end)
  }
  return { place, store, errors, shipping, backups, pieces, pass }
}

async function restored(t: TestContext, source: string) {
  const place = await emptyPlaceOn.sqlite(t)
  const { journal } = await restoreBackup({
    storage: storageAt(place),
    source,
    identity,
    env: {},
    signal: new AbortController().signal,
  })
  return { journal, rows: await rowsOf(await openAt(t, place)) }
}

test('changes after a full backup are restored with it', async (t) => {
  const { store, errors, shipping, backups, pieces } = await shipped(t)
  for (let i = 0; i < 200; i++) {
    await insert(store, i)
    if (i % 3 === 0)
      await store.db
        .updateTable('accounts')
        .set({ name: `new ${i}` })
        .where('id', '=', `acc_${i}`)
        .execute()
    if (i % 5 === 0)
      await store.db
        .deleteFrom('accounts')
        .where('id', '=', `acc_${i - 5}`)
        .execute()
    // More than one piece, whatever the machine does meanwhile.
    if (i === 100) await until(() => pieces().length > 0)
  }
  await shipping[Symbol.asyncDispose]()
  const [source = ''] = backups()
  const { journal, rows } = await restored(t, source)
  assert.deepEqual(rows, await rowsOf(store))
  assert.ok(rows.length > 150 && journal > 1 && journal === pieces().length, String(journal))
  assert.deepEqual(errors, [])

  const piece = join(source, 'journal', '00000001')
  const bytes = readFileSync(piece)
  assert.ok(!bytes.includes('name 1'))
  bytes[bytes.length - 20]! ^= 1
  writeFileSync(piece, bytes)
  await assert.rejects(restored(t, source), /cannot be decrypted/)
  rmSync(piece)
  await assert.rejects(restored(t, source), /Piece 1 of the backup's journal is missing/)
})

test('a failure that lasts is reported once, and again after a success', async (t) => {
  const { store, errors, backups, pieces, pass } = await shipped(t)
  const journal = join(backups()[0] ?? '', 'journal')
  await until(() => existsSync(journal))
  for (const failures of [1, 2]) {
    rmSync(journal, { recursive: true })
    await insert(store, failures)
    await until(() => errors.length === failures)
    await pass(5)
    assert.equal(errors.length, failures)
    mkdirSync(journal)
    await until(() => pieces().length > 0)
    // A turn begins after the last piece was stored whole.
    await pass(1)
  }
})

test('a change by another process triggers a full backup immediately', async (t) => {
  const { place, store, backups, pieces } = await shipped(t)
  const beside = new Connection(sqlitePath(storageAt(place)) ?? '', 'write')
  beside.execute({
    sql: `insert into accounts (id, name, plan, role, created_at, disabled) values ('acc_1', 'beside', 'free', 'member', 1, 0)`,
    parameters: [],
  })
  beside.close()
  await until(() => backups().length === 2)
  await insert(store, 2)
  await until(() => pieces().length > 0)
  // The server is killed: nothing ends in order.
  const copy = join(temporaryFolder(t), 'copy')
  cpSync(backups().at(-1) ?? '', copy, { recursive: true })
  assert.deepEqual(
    (await restored(t, copy)).rows.map(({ name }) => name),
    ['beside', 'name 2'],
  )
})
