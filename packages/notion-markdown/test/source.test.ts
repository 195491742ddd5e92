import assert from 'node:assert/strict'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { seeded } from '../../../test/support/random.ts'
import { bytesSource, rangeSource, type ByteSource } from '../src/archive/byte-source.ts'
import { fileSource } from '../src/archive/source.ts'

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) % 256)
let folder = ''
let path = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollmark-source-'))
  path = join(folder, 'bytes')
  await writeFile(path, bytes)
})
after(() => rm(folder, { recursive: true }))

/** TABLE of sources of the same 1000 bytes. */
const SOURCES: [name: string, open: () => Promise<ByteSource & { close?: () => Promise<void> }>][] =
  [
    ['memory', async () => bytesSource(bytes)],
    ['a file', () => fileSource(path)],
    [
      'a range',
      async () =>
        rangeSource(bytesSource(Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(5)])), 3, 1000),
    ],
  ]

for (const [name, open] of SOURCES) {
  test(`${name}: every range is read exactly, everything else is a RangeError`, async () => {
    const source = await open()
    assert.equal(source.size, 1000)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -10, max: 1010 }),
        fc.integer({ min: -10, max: 1010 }),
        async (offset, length) => {
          if (offset >= 0 && length >= 0 && offset + length <= 1000) {
            assert.deepEqual(
              Buffer.from(await source.read(offset, length)),
              Buffer.from(bytes.subarray(offset, offset + length)),
            )
          } else {
            await assert.rejects(async () => source.read(offset, length), RangeError)
          }
        },
      ),
    )
    for (const odd of [Number.NaN, 0.5, Infinity, 2 ** 60])
      await assert.rejects(async () => source.read(odd, 1), RangeError)
    await source.close?.()
  })
}

test('sequential and random small reads return the same bytes', async () => {
  const large = join(folder, 'large')
  const content = Buffer.from(Uint8Array.from({ length: 400_000 }, (_, i) => (i * 31) % 251))
  await writeFile(large, content)
  await using source = await fileSource(large)
  const random = seeded(1)
  const pick = (n: number): number => Math.floor(random() * n)
  for (let at = 0, n = 0; n < 2000; n++) {
    const length = pick(n % 50 === 0 ? 100_000 : 800)
    if (n % 9 === 0 || at + length > content.length) at = pick(content.length - length)
    // What is returned is the caller's.
    const bytes = await source.read(at, length)
    assert.ok(content.subarray(at, at + length).equals(bytes), `${length} from ${at}`)
    bytes.fill(0)
    at += length + pick(n % 7 === 0 ? 8000 : 100)
  }
})

test('a file that shrinks ends in a RangeError', async () => {
  const shrinking = join(folder, 'shrinking')
  await writeFile(shrinking, bytes)
  const source = await fileSource(shrinking)
  await truncate(shrinking, 10)
  await assert.rejects(source.read(0, 1000), RangeError)
  await source.close()
})

test('a range outside the source and a missing file are errors', async () => {
  assert.throws(() => rangeSource(bytesSource(bytes), 990, 11), RangeError)
  await assert.rejects(fileSource(join(folder, 'missing')), { code: 'ENOENT' })
})
