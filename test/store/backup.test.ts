// Backups: made while the store is written, restored whole, and readable for nobody but the owner
// of the private key.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { readConfig } from '../../server/config/settings.ts'
import { makeBackup } from '../../server/store/backup/backup.ts'
import {
  decryptWith,
  encryptFor,
  readIdentity,
  readRecipient,
} from '../../server/store/backup/encryption.ts'
import { filling } from '../../server/store/backup/failures.ts'
import { restoreBackup } from '../../server/store/backup/restore.ts'
import { openJournal } from '../../server/store/backup/target.ts'
import type { Store } from '../../server/store/store.ts'
import { settingsOf, type Place } from '../support/place.ts'
import { onEveryStore, openAt, emptyPlaceOn } from '../support/stores.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { S3_CREDENTIALS, startS3 } from './s3-server.ts'

const never = new AbortController().signal

const storageAt = (place: Place, more: Record<string, string> = {}) =>
  readConfig({ ...settingsOf(place), ...more }).storage

const keyPair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  return {
    recipient: readRecipient(publicKey.export({ type: 'spki', format: 'pem' }).toString()),
    identity: readIdentity(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  }
}

const insert = (store: Store, number: number) =>
  store.db
    .insertInto('accounts')
    .values({
      id: `acc_${number}`,
      name: `name ${number}`,
      email: null,
      plan: 'free',
      role: 'member',
      created_at: number,
      disabled: 0,
    })
    .execute()

const accounts = async (store: Store): Promise<number[]> =>
  (await store.db.selectFrom('accounts').select('created_at').orderBy('created_at').execute()).map(
    (row) => row.created_at,
  )

/** PostgreSQL's programs, where the machine has them: those that npm brings lack them. */
const hasTools =
  globSync('/usr/lib/postgresql/*/bin/pg_dump').length > 0 ||
  (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'pg_dump')))

onEveryStore('a backup under load is a consistent snapshot', async (t, place) => {
  const store = await openAt(t, place)
  for (let i = 0; i < 20; i++) await insert(store, i)
  let done = 20
  const over = new AbortController()
  const load = (async () => {
    for (; !over.signal.aborted; done++) await insert(store, done)
  })()
  const target = temporaryFolder(t)
  // pg_dump knows neither of these.
  const { DATABASE_URL = '' } = settingsOf(place)
  const more: Record<string, string> =
    store.dialect === 'postgres'
      ? { DATABASE_URL: `${DATABASE_URL}?uselibpqcompat=true&sslmode=disable` }
      : {}
  const make = () =>
    makeBackup({
      signal: never,
      storage: storageAt(place, more),
      target,
      recipient: null,
      env: process.env,
      now: 1_800_000_000_000,
    })
  const acknowledged = done
  if (store.dialect === 'postgres' && !hasTools) {
    await assert.rejects(make(), /pg_dump is not installed/)
    over.abort()
    return load
  }
  const { location, manifest } = await make().finally(() => over.abort())
  await load
  assert.equal(location, join(target, 'tollmark-2027-01-15T08-00-00.000Z'))
  assert.deepEqual(
    [manifest.store, manifest.encrypted, manifest.files.length],
    [store.dialect, false, 1],
  )
  const elsewhere = await emptyPlaceOn[store.dialect](t)
  const restore = () =>
    restoreBackup({
      signal: never,
      storage: storageAt(elsewhere),
      source: location,
      identity: null,
      env: process.env,
    })
  await restore()
  const restored = await accounts(await openAt(t, elsewhere))
  assert.ok(restored.length >= acknowledged)
  assert.deepEqual(
    restored,
    restored.map((_, i) => i),
  )
  await assert.rejects(restore(), /There is a database already\./)
  assert.deepEqual(
    readdirSync(place.data).filter((name) => name.startsWith('.')),
    [],
  )
})

async function made(t: TestContext) {
  const place = await emptyPlaceOn.sqlite(t)
  const store = await openAt(t, place)
  await insert(store, 1)
  writeFileSync(join(place.data, 'master.key'), 'the master key')
  mkdirSync(join(place.data, 'blobs', 'Xy'), { recursive: true })
  writeFileSync(join(place.data, 'blobs', 'Xy', 'blob_1Xy'), 'bytes of a blob')
  return place
}

test('an encrypted backup has the master key, and only its private key decrypts it', async (t) => {
  const place = await made(t)
  const { recipient, identity } = keyPair()
  const { location, manifest } = await makeBackup({
    signal: never,
    storage: storageAt(place),
    target: temporaryFolder(t),
    recipient,
    env: {},
    now: 0,
  })
  assert.deepEqual(manifest.files.map(({ name }) => name).sort(), [
    'blobs/Xy/blob_1Xy',
    'master.key',
    'tollmark.db',
  ])
  for (const { name } of manifest.files)
    assert.doesNotMatch(
      readFileSync(join(location, name), 'latin1'),
      /SQLite|master key|bytes of a blob/,
    )
  const target = await emptyPlaceOn.sqlite(t)
  const restore = (key: typeof identity | null) =>
    restoreBackup({
      signal: never,
      storage: storageAt(target),
      source: location,
      identity: key,
      env: {},
    })
  await assert.rejects(restore(null), /Name the private key with --identity\./)
  await assert.rejects(restore(keyPair().identity), /the private key is wrong/)
  assert.deepEqual(readdirSync(target.data), [])
  await restore(identity)
  assert.equal(readFileSync(join(target.data, 'master.key'), 'utf8'), 'the master key')
  assert.equal(
    readFileSync(join(target.data, 'blobs', 'Xy', 'blob_1Xy'), 'utf8'),
    'bytes of a blob',
  )
  assert.deepEqual(await accounts(await openAt(t, target)), [1])
})

test('a damaged or invalid backup changes nothing', async (t) => {
  const place = await made(t)
  const { location } = await makeBackup({
    signal: never,
    storage: storageAt(place),
    target: temporaryFolder(t),
    recipient: null,
    env: {},
    now: 0,
  })
  assert.ok(!existsSync(join(location, 'master.key')))
  const target = await emptyPlaceOn.sqlite(t)
  const restore = (source: string) =>
    restoreBackup({ signal: never, storage: storageAt(target), source, identity: null, env: {} })
  const blob = join(location, 'blobs', 'Xy', 'blob_1Xy')
  writeFileSync(blob, 'bytes of A blob')
  await assert.rejects(restore(location), /The file blobs\/Xy\/blob_1Xy of the backup is damaged\./)
  await assert.rejects(restore(temporaryFolder(t)), /is not a backup: its manifest\.json cannot/)
  const manifest = readFileSync(join(location, 'manifest.json'), 'utf8')
  rmSync(blob)
  await assert.rejects(restore(location), {
    name: 'SetupError',
    message: 'The file blobs/Xy/blob_1Xy of the backup cannot be read (ENOENT).',
  })
  writeFileSync(join(location, 'manifest.json'), manifest.replace('blobs/Xy', '../../Xy'))
  await assert.rejects(restore(location), /This is not a backup/)
  assert.deepEqual(readdirSync(target.data), [])
})

test('a backup in a bucket is restored from there, with its journal', async (t) => {
  const place = await made(t)
  const store = await openAt(t, place)
  await store.takeChanges?.()
  const { endpoint, directory } = await startS3(t)
  const s3 = {
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    S3_BUCKET: 'files',
  }
  const { location } = await makeBackup({
    signal: never,
    storage: { ...storageAt(place, s3), s3Bucket: null },
    target: 's3://backups/some/where',
    recipient: null,
    env: {},
    now: 0,
  })
  assert.equal(location, 's3://backups/some/where/tollmark-1970-01-01T00-00-00.000Z')
  const journal = await openJournal(location, storageAt(place, s3))
  await insert(store, 2)
  const { changes } = (await store.takeChanges?.()) ?? assert.fail()
  await journal.put(1, inOnes(gzipSync(changes), 100))
  await journal[Symbol.asyncDispose]()
  const target = await emptyPlaceOn.sqlite(t)
  const restore = (to: Place) =>
    restoreBackup({
      signal: never,
      storage: storageAt(to, s3),
      source: location,
      identity: null,
      env: {},
    })
  await restore(target)
  assert.deepEqual(await accounts(await openAt(t, target)), [1, 2])
  assert.ok(existsSync(join(target.data, 'blobs', 'Xy', 'blob_1Xy')))

  // A piece that cannot be read is not the end of the journal.
  const piece = join(directory, location.slice('s3://'.length), 'journal/00000001._S3rver_object')
  writeFileSync(piece, 'something else')
  const other = await emptyPlaceOn.sqlite(t)
  await assert.rejects(restore(other), /^SetupError: Piece 1 .* not those that were stored\)\.$/)
})

async function* inOnes(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function all(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of source) pieces.push(piece)
  return Buffer.concat(pieces)
}

test('encryption round-trips at every length, and no byte can be changed or removed', async () => {
  const { recipient, identity } = keyPair()
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]) {
    const plain = Buffer.alloc(length, 'tollmark')
    const sealed = await all(encryptFor(recipient, inOnes(plain, 9_999)))
    for (const size of [7_001, 65_552, 1_000_000])
      assert.ok(plain.equals(await all(decryptWith(identity, inOnes(sealed, size)))), `${length}`)
    for (const cut of [1, 16, 65_552])
      if (cut < sealed.length)
        await assert.rejects(
          all(decryptWith(identity, inOnes(sealed.subarray(0, -cut), 9_999))),
          /SetupError|encrypted backup|decrypted/,
        )
    const changed = Buffer.from(sealed)
    changed[sealed.length - 17] = (changed[sealed.length - 17] ?? 0) ^ 1
    await assert.rejects(all(decryptWith(identity, inOnes(changed, 9_999))))
  }
  assert.throws(() => readRecipient('no key'), /holds no public X25519 key in PEM/)
  assert.throws(
    () =>
      readIdentity(
        generateKeyPairSync('ed25519')
          .privateKey.export({ type: 'pkcs8', format: 'pem' })
          .toString(),
      ),
    /holds no private X25519 key in PEM/,
  )
})

test('a full disk is named, in the same words each time', async () => {
  const full = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' })
  await assert.rejects(
    filling('/var/backups', () => Promise.reject(full)),
    { name: 'SetupError', message: 'The disk of /var/backups is full.' },
  )
})

test('the temporary copy of the database is readable only by its owner', async (t) => {
  const place = await made(t)
  const making = makeBackup({
    signal: never,
    storage: storageAt(place),
    target: temporaryFolder(t),
    recipient: null,
    env: {},
    now: 1,
  })
  const seen = new Set<number>()
  const over = new AbortController()
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) {
      for (const name of readdirSync(place.data))
        if (name.startsWith('.backup-')) {
          const found = statSync(join(place.data, name), { throwIfNoEntry: false })
          if (found) seen.add(found.mode & 0o777)
        }
      await setImmediate()
    }
  }
  const looking = look()
  await making.finally(() => over.abort())
  await looking
  assert.deepEqual([...seen], [0o600])
})

test('an interrupted backup or restore leaves nothing', async (t) => {
  const place = await made(t)
  const target = temporaryFolder(t)
  const stopping = new AbortController()
  const options = { storage: storageAt(place), target, recipient: null, env: {}, now: 1 }
  const { location } = await makeBackup({ ...options, signal: never })
  const making = makeBackup({ ...options, now: 2, signal: stopping.signal })
  const elsewhere = await emptyPlaceOn.sqlite(t)
  const restoring = restoreBackup({
    storage: storageAt(elsewhere),
    source: location,
    identity: null,
    env: {},
    signal: stopping.signal,
  })
  stopping.abort(new Error('the reason'))
  const ended = await Promise.allSettled([making, restoring])
  assert.deepEqual(
    ended.map((end) => end.status === 'rejected' && String(end.reason)),
    ['Error: the reason', 'Error: the reason'],
  )
  assert.deepEqual(readdirSync(target), [location.slice(target.length + 1)])
  const hidden = [place, elsewhere].flatMap(({ data }) =>
    existsSync(data) ? readdirSync(data).filter((name) => name.startsWith('.')) : [],
  )
  assert.deepEqual(hidden, [])
})
