// Compressed responses are decoded beside the stream, in the main thread's turns: a few kilobytes
// may decode to gigabytes, and one key may have thousands of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { decodeWhole } from '../../../server/proxy/forward/content-decoding.ts'
import { Decoding } from '../../../server/proxy/forward/decoding.ts'

const MB = 1024 * 1024
const [GREEDY, MODEST] = ['greedy', 'modest'].map((id) => ({ account_id: id, key_id: id }))

/** Decodes a body and counts its bytes. */
function decode(
  codings: readonly string[],
  body: Buffer,
  onBytes: (length: number) => void = () => {},
  owner = GREEDY!,
): Promise<{ length: number; hasFailed: boolean }> {
  return new Promise((resolve) => {
    let length = 0
    const decoding = new Decoding(
      codings,
      owner,
      (bytes) => {
        length += bytes.length
        onBytes(bytes.length)
      },
      () => resolve({ length, hasFailed: decoding.hasFailed }),
    )
    decoding.write(body)
    decoding.end()
  })
}

test('however many bodies are decoded, a turn of the event loop reads little, and owners take turns', async () => {
  const bomb = gzipSync(Buffer.alloc(MB))
  let inTurn = 0
  let most = 0
  let greedy = 0
  let decoded = Promise.resolve<unknown>(null)
  const count = (length: number): void => {
    most = Math.max(most, (inTurn += length))
    greedy += length
    // Reading takes longer than decoding, so that all decoders have bytes ready.
    gzipSync(bomb)
  }
  const nextTurn = (): void => {
    inTurn = 0
    timer = setImmediate(nextTurn)
  }
  let timer = setImmediate(nextTurn)
  const bombs = Array.from({ length: 16 }, () => decode(['gzip'], bomb, count))
  const before = new Promise<number>((resolve) => {
    setImmediate(() => {
      decoded = decode(['gzip'], gzipSync('{}'), () => resolve(greedy), MODEST)
    })
  })
  assert.ok((await before) < MB, 'a small body is read before all of the others')
  await decoded
  for (const { length, hasFailed } of await Promise.all(bombs))
    assert.deepEqual([length, hasFailed], [MB, false])
  clearImmediate(timer)
  assert.ok(most <= 8 * 1024, `${most} bytes in one turn`)
})

test('of one key, a few bodies are decoded at a time, and those of another key meanwhile', async () => {
  const body = gzipSync(Buffer.alloc(MB / 4))
  const begun = new Set<number>()
  let most = 0
  let greedy = 0
  const bodies = Array.from({ length: 40 }, async (_, i) => {
    await decode(['gzip'], body, () => {
      begun.add(i)
      most = Math.max(most, begun.size)
    })
    begun.delete(i)
    greedy++
  })
  await decode(['gzip'], body, () => {}, MODEST)
  assert.ok(greedy < 10, `${greedy} of the other key were first`)
  await Promise.all(bodies)
  assert.ok(most <= 4, `${most} at a time`)
})

test('of whole bodies, too, a few of a key are decoded at a time, and those of another meanwhile', async () => {
  const [large, small] = [gzipSync(Buffer.alloc(4 * MB)), gzipSync('{}')]
  const ended: string[] = []
  const whole = async (name: string, body: Buffer, owner = GREEDY!): Promise<void> => {
    assert.ok(await decodeWhole(['gzip'], body, 4 * MB, owner))
    ended.push(name)
  }
  const greedy = [large, large, small, small].map((body) =>
    whole(body === large ? 'large' : 'small', body),
  )
  await Promise.all([...greedy, whole('modest', small, MODEST)])
  assert.deepEqual(ended.slice(0, 2), ['modest', 'large'])
})

test('a body of which nothing more has come takes no slot from the others of its key', async () => {
  const body = gzipSync(Buffer.from('data: {}\n\n'.repeat(1_000)))
  const begun = Array.from({ length: 40 }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const decoding = new Decoding(
      ['gzip'],
      GREEDY!,
      () => resolve(),
      () => {},
    )
    decoding.write(body.subarray(0, -8))
    return { decoding, promise }
  })
  await Promise.all(begun.map(({ promise }) => promise))
  assert.deepEqual(await decode(['gzip'], body), { length: 10_000, hasFailed: false })
  for (const { decoding } of begun) decoding.stop()
})

test('bodies of one key wait up to 64 MB together; more is not decoded', async () => {
  const zeros = gzipSync(Buffer.alloc(16 * MB))
  const begun = Array.from({ length: 4 }, () => decode(['gzip'], zeros))
  const piece = Buffer.alloc(8 * MB)
  const bodies = Array.from({ length: 9 }, () => {
    const body = new Decoding(
      ['gzip'],
      GREEDY!,
      () => assert.fail('it waits'),
      () => {},
    )
    body.write(piece)
    return body
  })
  assert.deepEqual(
    bodies.map(({ hasFailed }) => hasFailed),
    [...Array.from({ length: 8 }, () => false), true],
  )
  assert.deepEqual(await decode(['gzip'], gzipSync('{}'), () => {}, MODEST), {
    length: 2,
    hasFailed: false,
  })
  for (const body of bodies) body.stop()
  await Promise.all(begun)
  assert.equal((await decode(['gzip'], zeros)).hasFailed, false)
})

test('however a body ends, the next one of its key is decoded', async () => {
  const body = gzipSync('data: {}\n\n'.repeat(1_000))
  for (const spoilt of [
    body.subarray(0, -3),
    Buffer.concat([body, Buffer.from('more')]),
    Buffer.from('not encoded at all'),
    Buffer.alloc(0),
  ]) {
    await Promise.all(Array.from({ length: 5 }, () => decode(['gzip', 'gzip'], spoilt)))
    await Promise.all(Array.from({ length: 5 }, () => decode(['gzip'], spoilt)))
    assert.deepEqual(await decode(['gzip'], body), { length: 10_000, hasFailed: false })
  }
})

test('only the beginning of a body that decodes to an implausible size is read', async () => {
  const zeros = Buffer.alloc(24 * MB)
  const gzipped = gzipSync(zeros)
  for (const [codings, bomb] of [
    [['gzip'], gzipped],
    [['zstd'], zstdCompressSync(zeros)],
    [['gzip', 'gzip', 'gzip'], gzipSync(gzipSync(gzipped))],
  ] as const) {
    const { length, hasFailed } = await decode(codings, bomb)
    assert.ok(hasFailed && length >= 16 * MB && length < 20 * MB, `${codings.join()}: ${length}`)
  }
})

test('a truncated body is decoded as far as it goes, even while others are read', async () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join('')
  const cut = gzipSync(text).subarray(0, -8)
  const alone = await decode(['gzip'], cut)
  assert.deepEqual(alone, { length: text.length, hasFailed: true })
  // Reading takes longer than decoding, so that the decoders fail before their bytes are read.
  const slowly = (): void => void gzipSync(text.slice(0, 2_000))
  const all = await Promise.all(Array.from({ length: 8 }, () => decode(['gzip'], cut, slowly)))
  for (const one of all) assert.deepEqual(one, alone)
})
