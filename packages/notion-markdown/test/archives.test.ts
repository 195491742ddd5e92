import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import * as yauzl from 'yauzl'
import { noise } from '../../../test/support/archives/bombs.ts'
import {
  CHILD,
  HOME,
  IMAGE,
  pageHtml,
  sitemapHtml,
  someEntries,
} from '../../../test/support/archives/pages.ts'
import { archive, SOME_TIME, type EntrySpec } from '../../../test/support/archives/writer.ts'
import {
  bytesSource,
  convertShare,
  fileSource,
  InvalidArchive,
  joinShares,
  openExport,
  pathKey,
  unpackArchive,
  type ByteSource,
} from '../src/archive/index.ts'
import { contentOf, latin1, page, part, SOUND, withEach } from './sound-archives.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollmark-archives-'))
})
after(() => rm(folder, { recursive: true }))

/** Everything that an export holds, files too, by path. */
async function readAll(source: ByteSource): Promise<Record<string, string>> {
  await using opened = await openExport(source, { scratch: folder })
  const content: Record<string, string> = {}
  for (const page of opened.pages)
    content[page.path] = Buffer.from(await page.read()).toString('latin1')
  for (const path of opened.files.values()) {
    const pieces = []
    for await (const piece of opened.readFile(path)) pieces.push(piece)
    content[path] = Buffer.concat(pieces).toString('latin1')
  }
  return content
}

for (const { name, entries, spec, holds } of SOUND) {
  test(`reads: ${name}`, async () => {
    const bytes = archive(entries, spec)
    const expected = holds ?? contentOf(...entries)
    assert.deepEqual(await readAll(bytesSource(bytes)), expected)
    const path = join(folder, 'export.zip')
    await writeFile(path, bytes)
    const file = await fileSource(path)
    try {
      assert.deepEqual(await readAll(file), expected)
    } finally {
      await file.close()
    }
    assert.deepEqual(await readdir(folder), ['export.zip'])
  })
}

test('an independent reader finds the same in every form', async () => {
  for (const { name, entries, spec } of SOUND) {
    const zip = await yauzl.fromBufferPromise(archive(entries, spec), { decodeStrings: false })
    const found: Record<string, string> = {}
    for await (const entry of zip.eachEntry()) {
      const stream = await zip.openReadStreamPromise(entry)
      found[String(entry.fileNameRaw)] = latin1(Buffer.concat(await stream.toArray()))
    }
    assert.deepEqual(
      found,
      contentOf(...entries.map((entry) => ({ ...entry, name: String(entry.name) }))),
      name,
    )
  }
})

test('a large part leaves no trace when closed, and its pages can be read until then, again and at once', async () => {
  const bytes = archive([part(1, page, { name: 'noise.bin', data: noise(9e6), stored: true })])
  const opened = await openExport(bytesSource(bytes), { scratch: folder })
  const [first] = opened.pages
  const reads = await Promise.all([1, 2, 3].map(async () => latin1(await first!.read())))
  assert.deepEqual(reads, [latin1(page.data), latin1(page.data), latin1(page.data)])
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.endsWith('.part')),
    [],
  )
  await opened.close()
})

/**
 * TABLE of forms of a large part. A form that hides where its pictures end costs one more reading.
 */
const LARGE_PARTS: { name: string; lies: Partial<EntrySpec>; reads: number }[] = [
  { name: 'sizes before the data', lies: {}, reads: 1 },
  { name: 'sizes after the data', lies: { descriptor: 'signed' }, reads: 1 },
  { name: 'sizes after the data, unsigned', lies: { descriptor: 'bare' }, reads: 2 },
]

for (const { name, lies, reads } of LARGE_PARTS) {
  test(`a large deflated part is inflated ${reads === 1 ? 'once' : 'twice'} to convert it: ${name}`, async () => {
    const picture = { name: 'picture.png', data: noise(9e6) }
    const bytes = archive([
      part(
        1,
        { ...picture, ...lies },
        { ...page, ...lies },
        { ...page, name: 'Last.html', ...lies },
      ),
    ])
    const source = bytesSource(bytes)
    let read = 0
    const counted: ByteSource = {
      size: source.size,
      read: (offset, length) => {
        read += length
        return source.read(offset, length)
      },
    }
    await using opened = await openExport(counted, { scratch: folder })
    for (const one of opened.pages) assert.equal(latin1(await one.read()), latin1(page.data))
    assert.ok(
      read / bytes.length > reads - 0.1 && read / bytes.length < reads + 0.1,
      `read ${read / bytes.length} times`,
    )
    const pieces = []
    for await (const piece of opened.readFile('picture.png')) pieces.push(piece)
    assert.ok(Buffer.concat(pieces).equals(picture.data))
  })
}

/** The options of a conversion of an archive to Markdown. */
const toMarkdown = (path: string, scratch: string) => ({
  path,
  kind: 'zip' as const,
  fileName: 'export.zip',
  format: 'markdown' as const,
  includeMetadata: false,
  uploadedAt: new Date(0),
  scratch,
})

/** The document of an archive, converted by two processes' worth of steps. */
async function convertInShares(path: string, scratch: string): Promise<string> {
  const options = toMarkdown(path, scratch)
  await Promise.all([unpackArchive(options), unpackArchive(options)])
  for (const index of [0, 1]) await convertShare(options, { index, of: 2, isUnpacked: true })
  let document = ''
  await joinShares(options, 2, (text) => void (document += text))
  return document
}

test('large parts are unpacked once for all shares, deflated or stored', async () => {
  const path = join(folder, 'export.zip')
  const pages = [1, 2, 3].map((n) => ({
    name: `Page ${n}.html`,
    data: pageHtml(`Page ${n}`, `<p>${n}</p>`),
  }))
  const large = (n: number, ...entries: EntrySpec[]): EntrySpec =>
    part(n, ...entries, { name: `${n}.bin`, data: noise(9e6), stored: true })
  await writeFile(
    path,
    archive([large(1, pages[0]!), { ...large(2, pages[1]!), stored: true }, part(3, pages[2]!)]),
  )
  const scratch = await mkdtemp(join(folder, 'scratch-'))
  assert.equal(
    await convertInShares(path, scratch),
    '# Page 1\n\n1\n\n---\n\n# Page 2\n\n2\n\n---\n\n# Page 3\n\n3\n',
  )
  assert.deepEqual((await readdir(scratch)).filter((name) => name.startsWith('part-')).sort(), [
    'part-0',
    'part-1',
  ])
  await rm(scratch, { recursive: true })
  await rm(path)
})

test('a large part that is damaged is refused when it is unpacked, and leaves no copy', async () => {
  const path = join(folder, 'export.zip')
  const bytes = archive([part(1, page, { name: 'noise.bin', data: noise(9e6), stored: true })])
  bytes[(bytes.length / 2) | 0]! ^= 1
  await writeFile(path, bytes)
  const scratch = await mkdtemp(join(folder, 'scratch-'))
  await assert.rejects(convertInShares(path, scratch), { code: 'invalid_file' })
  assert.deepEqual(await readdir(scratch), [])
  await rm(scratch, { recursive: true })
  await rm(path)
})

test('pages carry the time of their entry as UTC, and null where there is none', async () => {
  const times = [
    SOME_TIME,
    0,
    0x00210000,
    (46 << 25) | (2 << 21) | (30 << 16),
    (46 << 25) | (3 << 21) | (4 << 16) | (25 << 11),
  ]
  const entries = times.map((dosTime, i) => ({ name: `${i}.html`, dosTime }))
  await using opened = await openExport(bytesSource(archive(entries)))
  assert.deepEqual(
    opened.pages.map((page) => page.modifiedAt?.toISOString() ?? null),
    ['2026-03-04T09:12:44.000Z', null, null, null, null],
  )
})

test('files are found by their path in either Unicode form, and keep the path that is stored', async () => {
  const stored = 'Einfu\u0308hrung/Bild.png'
  await using opened = await openExport(bytesSource(archive([page, { name: stored, data: 'x' }])))
  assert.equal(opened.files.get(pathKey('Einf\u00fchrung/Bild.png')), stored)
  assert.equal(opened.files.get(pathKey(stored)), stored)
  assert.throws(() => opened.readFile('elsewhere.png'), RangeError)
})

test('parts come in the order of their numbers', async () => {
  const numbers = [10, 2, 1]
  await using opened = await openExport(
    bytesSource(archive(numbers.map((n) => part(n, { name: `${n}.html` })))),
  )
  assert.deepEqual(
    opened.pages.map(({ path }) => path),
    ['1.html', '2.html', '10.html'],
  )
})

/** TABLE of places of an index.html, and whether it is the sitemap there. */
const SITEMAPS: { name: string; entries: EntrySpec[]; sitemap: string | null }[] = [
  {
    name: 'at the root',
    entries: [page, { name: 'index.html', data: sitemapHtml(HOME) }],
    sitemap: 'index.html',
  },
  {
    name: 'in the top folder',
    entries: [page, { name: 'Export-1/index.html', data: sitemapHtml() }],
    sitemap: 'Export-1/index.html',
  },
  {
    name: 'in a part',
    entries: [part(1, page, { name: 'Export-1/index.html', data: sitemapHtml() })],
    sitemap: 'Export-1/index.html',
  },
  {
    name: 'at the root rather than in a folder',
    entries: [
      page,
      ...['A/index.html', 'index.html'].map((name) => ({ name, data: sitemapHtml() })),
    ],
    sitemap: 'index.html',
  },
  {
    name: 'deeper, where it is an attachment',
    entries: [page, { name: 'A/B/index.html', data: sitemapHtml() }],
    sitemap: null,
  },
  {
    name: 'a page of that name',
    entries: [{ name: 'index.html', data: pageHtml('index') }],
    sitemap: null,
  },
  { name: 'none', entries: [page], sitemap: null },
]

for (const { name, entries, sitemap } of SITEMAPS) {
  test(`the sitemap: ${name}`, async () => {
    await using opened = await openExport(bytesSource(archive(entries)))
    assert.equal(opened.sitemap?.path ?? null, sitemap)
    assert.equal(
      opened.pages.some((page) => page === opened.sitemap),
      sitemap !== null,
    )
  })
}

test('an asset is not inflated, so a broken one does not stop the pages', async () => {
  const broken = { name: 'a.png', packed: { bytes: Buffer.alloc(20, 0xff), size: 30, crc: 1 } }
  await using opened = await openExport(bytesSource(archive([page, broken])))
  assert.equal(latin1(await opened.pages[0]!.read()), latin1(page.data))
  await assert.rejects(async () => {
    for await (const _ of opened.readFile('a.png')) continue
  }, InvalidArchive)
})

test('a highly repetitive page of up to 10 MB is not treated as a bomb', async () => {
  const data = '<p>hello world</p>'.repeat((10 * 1024 * 1024) / 18)
  assert.deepEqual(await readAll(bytesSource(archive([{ name: 'Page.html', data }]))), {
    'Page.html': data,
  })
})

test('limits can be lowered', async () => {
  const source = bytesSource(archive(someEntries()))
  await assert.rejects(openExport(source, { limits: { entries: 2 } }), {
    fault: 'too_many_entries',
  })
  await assert.rejects(openExport(source, { limits: { pageBytes: 400 } }), {
    fault: 'page_too_large',
  })
  await assert.rejects(openExport(source, { limits: { pagesBytes: 900 } }), {
    fault: 'pages_too_large',
  })
})

test('errors outside the archive are passed through unchanged', async () => {
  const bytes = archive([page])
  const failing = {
    size: bytes.length,
    read: () => Promise.reject(new Error('the disk is on fire')),
  }
  await assert.rejects(openExport(failing), /the disk is on fire/)
  const large = archive([part(1, page, { name: 'noise.bin', data: noise(9e6), stored: true })])
  await assert.rejects(openExport(bytesSource(large), { scratch: join(folder, 'missing') }), {
    code: 'ENOENT',
  })
})

/** Entries with names and content of every kind, written in any of the sound ways. */
const anyEntries = fc
  .uniqueArray(
    fc.tuple(fc.string({ minLength: 1, unit: 'binary' }), fc.uint8Array({ maxLength: 2000 })),
    {
      minLength: 1,
      maxLength: 6,
      selector: ([name]) => pathKey(name.replaceAll(/[/\\:.\0]|\p{Cs}/gu, '_')),
    },
  )
  .chain((rows) =>
    fc.tuple(
      ...rows.map(([name, data]) =>
        fc.record({
          name: fc.constant(`${name.replaceAll(/[/\\:.\0]|\p{Cs}/gu, '_')}.html`),
          data: fc.constant(data),
          stored: fc.boolean(),
          flags: fc.constantFrom(0, 1 << 11, 1 << 1),
          descriptor: fc.constantFrom(
            undefined,
            'signed' as const,
            'bare' as const,
            'signed64' as const,
            'bare64' as const,
          ),
        }),
      ),
    ),
  )

test('every archive that is written can be read, in every form', async () => {
  await fc.assert(
    fc.asyncProperty(anyEntries, fc.boolean(), async (entries, isWide) => {
      const specs = entries.map(({ descriptor, ...entry }): EntrySpec => ({
        ...entry,
        ...(descriptor && { descriptor }),
      }))
      assert.deepEqual(
        await readAll(bytesSource(archive(specs, isWide ? { zip64: {} } : {}))),
        contentOf(...specs),
      )
    }),
    { numRuns: 200 },
  )
})

const forms = (['signed', 'bare', undefined] as const).flatMap((descriptor) =>
  [{}, { zip64: {} }].map((spec) => archive(withEach({ ...(descriptor && { descriptor }) }), spec)),
)
const nested = archive([part(1, ...someEntries())])
const pagesOf = contentOf(...someEntries())

/** Reads what has been tampered with: either it is refused, or the pages are what they were. */
async function refusedOrSame(bytes: Uint8Array): Promise<void> {
  try {
    await using opened = await openExport(bytesSource(bytes))
    assert.deepEqual(opened.pages.map(({ path }) => path).sort(), [CHILD, HOME].sort())
    for (const page of opened.pages) assert.equal(latin1(await page.read()), pagesOf[page.path])
    assert.deepEqual([...opened.files.values()], [IMAGE])
  } catch (error) {
    if (!(error instanceof InvalidArchive)) throw error
  }
}

test('changed bytes are noticed or harmless', async () => {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    by: fc.integer({ min: 1, max: 255 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...forms, nested),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      async (sound, changes) => {
        const bytes = Buffer.from(sound)
        for (const { at, by } of changes) bytes[Math.floor(at * bytes.length)]! ^= by
        await refusedOrSame(bytes)
      },
    ),
    { numRuns: 2000 },
  )
})

test('changing any single byte of the headers is noticed or harmless', async () => {
  for (const sound of forms) {
    for (let at = 0; at < sound.length; at++) {
      const bytes = Buffer.from(sound)
      bytes[at]! ^= 1 << (at % 8)
      await refusedOrSame(bytes)
    }
  }
})

test('an archive that is cut, lengthened or moved is refused', async () => {
  const sound = archive(someEntries())
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 100 }),
      fc.uint8Array({ maxLength: 100 }),
      fc.nat(sound.length - 1),
      async (before, end, cut) => {
        await assert.rejects(openExport(bytesSource(sound.subarray(0, cut))), InvalidArchive)
        if (before.length + end.length === 0) return
        await assert.rejects(
          openExport(bytesSource(Buffer.concat([before, sound, end]))),
          InvalidArchive,
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('random bytes are refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), fc.boolean(), async (bytes, hasEnd) => {
      await assert.rejects(
        openExport(bytesSource(hasEnd ? Buffer.concat([bytes, archive([])]) : bytes)),
        InvalidArchive,
      )
    }),
  )
})
