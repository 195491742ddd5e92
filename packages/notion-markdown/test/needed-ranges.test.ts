import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { noise } from '../../../test/support/archives/bombs.ts'
import { pageHtml } from '../../../test/support/archives/pages.ts'
import { archive, raw, unicodePath, type EntrySpec } from '../../../test/support/archives/writer.ts'
import { NeededRanges, skipsOnlyUnneeded } from '../src/archive/needed-ranges.ts'
import { LIMITS } from '../src/archive/limits.ts'
import { bytesSource } from '../src/archive/byte-source.ts'
import { readZip } from '../src/archive/zip.ts'

const isNeeded = (path: string): boolean => path.endsWith('.html')

/** The archive as a file with holes, and how much of it was skipped. */
function copyOf(
  bytes: Buffer,
  pieceSize: number,
): { copy: Buffer; ranges: NeededRanges; skipped: number } {
  const copy = Buffer.alloc(bytes.length)
  const ranges = new NeededRanges(isNeeded)
  let kept = 0
  const keep = (found: Iterable<{ at: number; bytes: Uint8Array }>): void => {
    for (const range of found) {
      copy.set(range.bytes, range.at)
      kept += range.bytes.length
    }
  }
  for (let at = 0; at < bytes.length; at += pieceSize)
    keep(ranges.next(bytes.subarray(at, at + pieceSize)))
  keep(ranges.last())
  const skipped = ranges.skipped.reduce((sum, { from, to }) => sum + to - from, 0)
  assert.equal(kept + skipped, bytes.length)
  return { copy, ranges, skipped }
}

const page: EntrySpec = {
  name: 'Page.html',
  data: pageHtml('Page', '<p>Some words.</p>'.repeat(2000)),
}
const picture: EntrySpec = { name: 'picture.png', data: noise(50_000) }
const photo: EntrySpec = { name: 'photo.jpg', data: noise(20_000), stored: true }

/**
 * TABLE of forms of an archive, and how much of its pictures is not copied: all of it but 4 KB
 * each.
 */
const FORMS: { name: string; entries: EntrySpec[]; skips: boolean }[] = [
  { name: 'sizes before the data', entries: [page, picture, photo], skips: true },
  {
    name: 'sizes after the data, as Notion writes',
    entries: [page, picture, photo, page].map((entry, i) => ({
      ...entry,
      name: `${i}-${String(entry.name)}`,
      descriptor: 'signed',
    })),
    skips: true,
  },
  {
    name: 'sizes after the data in 64 bits',
    entries: [page, picture, photo].map((entry) => ({ ...entry, descriptor: 'signed64' })),
    skips: true,
  },
  {
    name: 'a folder without a descriptor',
    entries: [{ name: 'a/', flags: 8, stored: true }, picture, page],
    skips: true,
  },
]

for (const { name, entries, skips } of FORMS) {
  for (const pieceSize of [7, 1000, 65_536, 10_000_000]) {
    test(`pages and directory are kept, pictures are not: ${name}, in pieces of ${pieceSize} bytes`, async () => {
      const bytes = archive(entries)
      const { copy, ranges, skipped } = copyOf(bytes, pieceSize)
      const listed = await readZip(bytesSource(copy), LIMITS)
      assert.deepEqual(listed, await readZip(bytesSource(bytes), LIMITS))
      assert.ok(skipsOnlyUnneeded(ranges.skipped, listed, isNeeded))
      for (const { path, dataAt, packedSize } of listed.filter((entry) => isNeeded(entry.path))) {
        assert.deepEqual(
          copy.subarray(dataAt, dataAt + packedSize),
          bytes.subarray(dataAt, dataAt + packedSize),
          path,
        )
      }
      const pictures = listed
        .filter((entry) => !isNeeded(entry.path) && entry.size > 0)
        .reduce((sum, { packedSize }) => sum + packedSize - 4096, 0)
      assert.equal(skipped, skips ? pictures : 0)
    })
  }
}

/**
 * TABLE of archives whose entries hide what follows them, or need more than their own headers say.
 */
const MISLEADING: { name: string; entries: EntrySpec[] }[] = [
  {
    name: 'sizes after the data, unsigned',
    entries: [picture, page].map((entry) => ({ ...entry, descriptor: 'bare' })),
  },
  {
    name: 'a picture that announces more than it has',
    entries: [{ ...picture, local: { packedSize: 60_000 } }, page],
  },
  {
    name: 'a descriptor inside the data of a picture',
    entries: [
      {
        ...picture,
        descriptor: 'signed',
        packed: { bytes: quotedDescriptor(), size: 10_000, crc: 1 },
      },
      page,
    ],
  },
]

/**
 * Data in which a descriptor stands that would end it, and the header of an entry that would reach
 * beyond.
 */
function quotedDescriptor(): Buffer {
  const bytes = noise(10_000)
  bytes.set(raw('PK\x07\x08'), 6000)
  bytes.writeUInt32LE(6000, 6008)
  bytes.set(
    archive([
      { name: 'x', packed: { bytes: noise(0), size: 0, crc: 0 }, local: { packedSize: 8000 } },
    ]).subarray(0, 31),
    6016,
  )
  return bytes
}

for (const { name, entries } of MISLEADING) {
  test(`data skipped by mistake is noticed: ${name}`, async () => {
    const bytes = archive(entries)
    const { copy, ranges, skipped } = copyOf(bytes, 4000)
    assert.ok(skipped > 0)
    const listed = await readZip(bytesSource(copy), LIMITS).catch(() => null)
    assert.ok(listed === null || !skipsOnlyUnneeded(ranges.skipped, listed, isNeeded))
  })
}

test('an entry named by another field is kept', () => {
  const name = raw('page.bin')
  const { skipped } = copyOf(
    archive([{ ...picture, name, both: { extra: unicodePath(name, 'page.html') } }]),
    1000,
  )
  assert.equal(skipped, 0)
})

test('any input is split without gaps, in pieces of any size', () => {
  const forms = FORMS.map(({ entries }) =>
    archive(
      entries.map((entry) => ({
        ...entry,
        ...(String(entry.name).endsWith('.html') ? { data: 'x' } : { data: noise(9000) }),
      })),
    ),
  )
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    by: fc.integer({ min: 1, max: 255 }),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...forms),
      fc.array(change, { maxLength: 5 }),
      fc.integer({ min: 1, max: 20_000 }),
      (sound, changes, size) => {
        const bytes = Buffer.from(sound)
        for (const { at, by } of changes) bytes[Math.floor(at * bytes.length)]! ^= by
        const { copy, ranges } = copyOf(bytes, size)
        for (const { from, to } of ranges.skipped) bytes.fill(0, from, to)
        assert.deepEqual(copy, bytes)
      },
    ),
    { numRuns: 300 },
  )
})
