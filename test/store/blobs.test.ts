// What every store of blobs does: one suite, run on each kind.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { buffer } from 'node:stream/consumers'
import { FOR_NOW, dropBlobs, keepBlob, sweepBlobs } from '../../server/store/blobs/blobs.ts'
import type { BlobStore } from '../../server/store/blobs/blobs.ts'
import { folderBlobs } from '../../server/store/blobs/folder.ts'
import { s3Blobs } from '../../server/store/blobs/s3.ts'
import { openStore } from '../../server/store/open.ts'
import type { Store } from '../../server/store/store.ts'
import { openScratch } from '../../server/store/scratch.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { release, take } from './blob-steps.ts'
import { S3_CREDENTIALS, startS3 } from './s3-server.ts'

interface Opened {
  blobs: BlobStore
  /** Where its bytes are. */
  folder: string
  /** Makes the store unreachable. */
  breakIt: () => Promise<void>
}

/** TABLE of the kinds. */
const KINDS: { kind: string; open: (t: TestContext) => Promise<Opened> }[] = [
  {
    kind: 'a folder',
    open: async (t) => {
      const folder = join(temporaryFolder(t), 'blobs')
      return {
        blobs: folderBlobs(folder),
        folder,
        breakIt: async () => writeFileSync(folder, 'a file in place of the folder'),
      }
    },
  },
  {
    kind: 'S3',
    open: async (t) => {
      const server = await startS3(t)
      const blobs = await blobsAt(t, server.endpoint)
      await blobs.check()
      return { blobs, folder: join(server.directory, 'tollmark'), breakIt: server.stop }
    },
  },
]

async function blobsAt(t: TestContext, endpoint: string): Promise<BlobStore> {
  const scratch = await openScratch(temporaryFolder(t), 'ins', async () => ['ins'])
  const blobs = await s3Blobs(
    {
      endpoint: new URL(endpoint),
      bucket: 'tollmark',
      region: 'us-east-1',
      credentials: S3_CREDENTIALS,
    },
    scratch,
  )
  t.after(() => blobs[Symbol.dispose]())
  return blobs
}

/** The blobs of a service that responds like this, and a file to store there. */
async function blobsOf(
  t: TestContext,
  respond: RequestListener,
): Promise<{ blobs: BlobStore; path: string }> {
  const server = createServer(respond).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const path = join(temporaryFolder(t), 'file')
  writeFileSync(path, 'x')
  const { port } = server.address() as AddressInfo
  return { blobs: await blobsAt(t, `http://127.0.0.1:${port}`), path }
}

const MB = 1_048_576
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

async function openRows(t: TestContext): Promise<Store> {
  const store = await openStore({ data: temporaryFolder(t), databaseUrl: null, now: 0 })
  t.after(() => store.close())
  for (const id of ['ins_a', 'ins_b'])
    await store.db
      .insertInto('instances')
      .values({ id, host: 'here', pid: 1, seen_at: 0 })
      .execute()
  return store
}

for (const { kind, open } of KINDS) {
  test(`${kind}: a blob is kept byte for byte until it is removed`, async (t) => {
    const { blobs } = await open(t)
    const folder = temporaryFolder(t)
    for (const size of [0, 1, 70_000, 12 * MB]) {
      const [id, path, bytes] = [`blob_${size}`, join(folder, `${size}`), randomBytes(size)]
      writeFileSync(path, bytes)
      await blobs.put(id, path)
      const opened = await blobs.open(id)
      assert.equal(opened.size, size)
      assert.equal(hashOf(await buffer(opened.stream)), hashOf(bytes))
      assert.equal(await blobs.size(id), size)
      // The S3 server of these tests responds to a range of the first byte alone with everything.
      for (const [start, end] of size < 2
        ? []
        : ([
            [0, 1],
            [size - 1, size - 1],
            [size >> 1, size - 1],
          ] as const)) {
        const part = await blobs.open(id, { start, end })
        assert.equal(part.size, end - start + 1)
        assert.equal(hashOf(await buffer(part.stream)), hashOf(bytes.subarray(start, end + 1)))
      }
      {
        await using file = await blobs.file(id)
        assert.equal(hashOf(readFileSync(file.path)), hashOf(bytes))
      }
      for (let round = 0; round < 2; round++) await blobs.remove(id)
      await assert.rejects(blobs.open(id), { code: 'missing' })
      await assert.rejects(blobs.size(id), { code: 'missing' })
      await assert.rejects(blobs.file(id), { code: 'missing' })
    }
  })

  test(`${kind}: nothing is known of a blob while its folder or bucket is gone`, async (t) => {
    const { blobs, folder } = await open(t)
    const path = join(temporaryFolder(t), 'file')
    writeFileSync(path, 'x')
    await blobs.put('blob_x', path)
    rmSync(folder, { recursive: true })
    for (const deed of [
      () => blobs.open('blob_x'),
      () => blobs.size('blob_x'),
      () => blobs.file('blob_x'),
    ])
      await assert.rejects(deed, { name: 'StoreError', code: 'blobs' })
  })

  test(`${kind}: a reader that stops midway affects no other reader`, async (t) => {
    const { blobs } = await open(t)
    const path = join(temporaryFolder(t), 'large')
    writeFileSync(path, randomBytes(8 * MB))
    await blobs.put('blob_large', path)
    for (let round = 0; round < 60; round++) {
      const { stream } = await blobs.open('blob_large')
      await new Promise((resolve) => stream.once('data', resolve))
      stream.destroy()
    }
    assert.equal((await buffer((await blobs.open('blob_large')).stream)).length, 8 * MB)
  })

  test(`${kind}: while it cannot be reached, everything fails with its own error`, async (t) => {
    const { blobs, breakIt } = await open(t)
    const path = join(temporaryFolder(t), 'file')
    await breakIt()
    for (const deed of [
      () => blobs.put('blob_x', path),
      () => blobs.open('blob_x'),
      () => blobs.check(),
    ]) {
      writeFileSync(path, 'x')
      await assert.rejects(deed, { name: 'StoreError', code: 'blobs' })
    }
  })

  test(`${kind}: the sweep deletes only expired and abandoned blobs`, async (t) => {
    const { blobs } = await open(t)
    const store = await openRows(t)
    const folder = temporaryFolder(t)
    const keep = async (instance: string): Promise<string> => {
      const path = join(folder, 'file')
      writeFileSync(path, 'x')
      return keepBlob(store, blobs, path, instance, 0)
    }
    const [underWay, ofDead, taken, expired, released] = [
      await keep('ins_a'),
      await keep('ins_b'),
      await keep('ins_b'),
      await keep('ins_b'),
      await keep('ins_b'),
    ]
    await store.run(take, { id: taken, instance: 'ins_b', until: 1000 })
    await store.run(take, { id: expired, instance: 'ins_b', until: 10 })
    await store.run(take, { id: released, instance: 'ins_b', until: 1000 })
    await store.run(release, { id: released })
    await store.db.deleteFrom('instances').where('id', '=', 'ins_b').execute()
    assert.equal(await sweepBlobs(store, blobs, 100), 3)
    assert.equal(await sweepBlobs(store, blobs, 100), 0)
    for (const id of [underWay, taken])
      assert.equal((await buffer((await blobs.open(id)).stream)).length, 1)
    for (const id of [ofDead, expired, released])
      await assert.rejects(blobs.open(id), { code: 'missing' })
    // What was swept away cannot be taken, what is under way can.
    await assert.rejects(store.run(take, { id: ofDead, instance: 'ins_b', until: 1000 }))
    await store.run(take, { id: underWay, instance: 'ins_a', until: 1000 })
    await dropBlobs(store, blobs, [taken])
    assert.deepEqual(
      await store.db
        .selectFrom('blobs')
        .select('id')
        .execute()
        .then((rows) => rows.map(({ id }) => id)),
      [underWay],
    )
  })

  test(`${kind}: a blob swept while it was being stored is not left over`, async (t) => {
    const { blobs } = await open(t)
    const store = await openRows(t)
    const path = join(temporaryFolder(t), 'file')
    writeFileSync(path, 'x')
    let stored = ''
    const slow: Pick<BlobStore, 'put' | 'remove'> = {
      remove: (id) => blobs.remove(id),
      put: async (id, from) => {
        // This process stands still, and is taken for dead.
        await store.db.deleteFrom('instances').where('id', '=', 'ins_a').execute()
        assert.equal(await sweepBlobs(store, blobs, 0), 1)
        await blobs.put(id, from)
        stored = id
      },
    }
    await assert.rejects(keepBlob(store, slow, path, 'ins_a', 0), { code: 'blobs' })
    assert.notEqual(stored, '')
    await assert.rejects(blobs.open(stored), { code: 'missing' })
  })
}

test('a blob being swept cannot be taken, even while its instance lives', async (t) => {
  const { blobs } = await KINDS[0]!.open(t)
  const store = await openRows(t)
  const path = join(temporaryFolder(t), 'file')
  writeFileSync(path, 'x')
  const id = await keepBlob(store, blobs, path, 'ins_a', 0)
  const remove = async (swept: string): Promise<void> => {
    await assert.rejects(store.run(take, { id: swept, instance: 'ins_a', until: FOR_NOW }))
    await blobs.remove(swept)
  }
  assert.equal(await sweepBlobs(store, { remove }, 3_600_001), 1)
  await assert.rejects(blobs.open(id), { code: 'missing' })
})

test('S3: a fetched file is removed after its use', async (t) => {
  const { blobs } = await KINDS[1]!.open(t)
  const path = join(temporaryFolder(t), 'file')
  writeFileSync(path, 'x')
  await blobs.put('blob_x', path)
  const file = await blobs.file('blob_x')
  assert.ok(existsSync(file.path))
  await file[Symbol.asyncDispose]()
  assert.ok(!existsSync(file.path))
})

test('S3: bytes other than those stored are never a whole blob', async (t) => {
  const { blobs, folder } = await KINDS[1]!.open(t)
  const path = join(temporaryFolder(t), 'file')
  const bytes = randomBytes(200_000)
  const changed = Buffer.from(bytes)
  changed[100_000] = (changed[100_000] ?? 0) ^ 1
  for (const found of [changed, bytes.subarray(0, 100_000), Buffer.alloc(0)]) {
    writeFileSync(path, bytes)
    await blobs.put('blob_x', path)
    writeFileSync(join(folder, 'blob_x._S3rver_object'), found)
    const { size, stream } = await blobs.open('blob_x')
    let read = 0
    await assert.rejects(async () => {
      for await (const piece of stream as AsyncIterable<Buffer>) read += piece.length
    }, /not those that were stored/)
    assert.ok(read < size || size === 0)
    await assert.rejects(blobs.file('blob_x'), { code: 'blobs' })
  }
})

test('S3: the error says what is wrong with a bucket, or with the address', async (t) => {
  const { blobs, path } = await blobsOf(t, (request, response) => {
    request.resume()
    response.statusCode = request.method === 'HEAD' ? 403 : 200
    response.end('<html>Sign in</html>')
  })
  await assert.rejects(blobs.put('blob_x', path), { code: 'blobs', message: /not that of an S3/ })
  await assert.rejects(blobs.check(), { code: 'blobs', message: /status 403 .* bucket tollmark/ })
})

test('S3: an object that is not there is missing, even without the right to list the bucket', async (t) => {
  const objects = new Set<string>()
  let mayRead = true
  const { blobs, path } = await blobsOf(t, (request, response) => {
    request.resume()
    const { pathname } = new URL(request.url ?? '', 'http://s3')
    const { method = '' } = request
    if (method === 'PUT') objects.add(pathname)
    if (method === 'DELETE') objects.delete(pathname)
    const isDenied =
      pathname === '/tollmark' ||
      (['GET', 'HEAD'].includes(method) && !(mayRead && objects.has(pathname)))
    response.writeHead(isDenied ? 403 : 200, { etag: '"x"' })
    response.end(
      method === 'HEAD' ? '' : isDenied ? '<Error><Code>AccessDenied</Code></Error>' : 'x',
    )
  })
  await blobs.put('blob_x', path)
  for (const code of ['missing', 'blobs']) {
    mayRead = code === 'missing'
    for (const read of [blobs.open('blob_y'), blobs.size('blob_y'), blobs.file('blob_y')])
      await assert.rejects(read, { code })
  }
  assert.deepEqual([...objects], ['/tollmark/blob_x', '/tollmark/tollmark-check'])
})

test('S3: after a failure to store an object, a check stores one, too', async (t) => {
  let isDenied = true
  let stored = 0
  const { blobs, path } = await blobsOf(t, (request, response) => {
    request.resume()
    if (request.method === 'PUT') stored++
    const isRefused = request.method === 'PUT' && isDenied
    response.writeHead(isRefused ? 403 : 200, { etag: '"x"' })
    response.end(isRefused ? '<Error><Code>AccessDenied</Code></Error>' : '')
  })
  await blobs.check()
  assert.equal(stored, 0)
  await assert.rejects(blobs.put('blob_x', path), { code: 'blobs' })
  await assert.rejects(blobs.check(), { code: 'blobs' })
  isDenied = false
  stored = 0
  for (let round = 0; round < 3; round++) await blobs.check()
  assert.equal(stored, 1)
})
