// Names of files: readable, stable, and one file each on every file system, whatever titles are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  foldName,
  FolderNames,
  nameOf,
} from '../../../packages/notion-markdown/src/archive/pages/file-names.ts'
import { FLAVORS } from '../../../packages/notion-markdown/src/archive/pages/flavors.ts'
import { placePages } from '../../../packages/notion-markdown/src/archive/pages/page-paths.ts'

const STYLES = ['spaces', 'dashes', 'letters'] as const

/** TABLE of titles and their names with spaces, with dashes, of letters alone. */
const NAMES: [title: string, spaces: string, dashes: string, letters: string][] = [
  ['Team handbook', 'Team handbook', 'Team-handbook', 'Team-handbook'],
  ['../x', 'x', 'x', 'x'],
  ['C:\\', 'C', 'C', 'C'],
  ['CON', 'CON_', 'CON_', 'CON_'],
  ['nul.txt', 'nul_.txt', 'nul_.txt', 'nul_.txt'],
  ['com¹', 'com¹_', 'com¹_', 'com¹_'],
  ['Console', 'Console', 'Console', 'Console'],
  ['', 'Untitled', 'Untitled', 'Untitled'],
  ['???', 'Untitled', 'Untitled', 'Untitled'],
  ['.env', 'env', 'env', 'env'],
  ['-rf', 'rf', 'rf', 'rf'],
  ['end.  ', 'end', 'end', 'end'],
  ['notes.md', 'notes-md', 'notes-md', 'notes-md'],
  ['Größe: 10.5 / 20', 'Größe 10.5 20', 'Größe-10.5-20', 'Größe-10.5-20'],
  ['Gro\u0308ße', 'Größe', 'Größe', 'Größe'],
  ['C++ & Rust', 'C++ & Rust', 'C++-&-Rust', 'C-Rust'],
  ['日本語のページ', '日本語のページ', '日本語のページ', '日本語のページ'],
  ['a\u202etxt.exe\u200b', 'a txt.exe', 'a-txt.exe', 'a-txt.exe'],
  ['[[link]]|#^%', 'link', 'link', 'link'],
]

test('titles become recognisable file names', () => {
  for (const [title, ...names] of NAMES)
    assert.deepEqual(
      STYLES.map((style) => nameOf(title, style)),
      names,
      title,
    )
})

/** Titles, of those above, of pieces that are apt to do harm, and of any characters. */
const title = fc.oneof(
  fc.constantFrom(...NAMES.map(([one]) => one)),
  fc
    .array(
      fc.constantFrom(
        '.',
        ' ',
        'con',
        'AUX',
        '/',
        '\\',
        ':',
        'e\u0301',
        'é',
        'ß',
        'SS',
        '-',
        '~',
        '💡',
        '.md',
        '\ud800',
        'x'.repeat(90),
      ),
    )
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 120 }),
)

/** What no name may be, by the rules of Windows, and of whoever reads links. */
const WRONG =
  /[\\/:*?"<>|#^[\]%\p{Cc}\p{Cs}]|^[\s.~-]|[\s.]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.(?:md|csv)$/iu

test('a file name is valid on every file system, at most 72 bytes, and stable', () => {
  fc.assert(
    fc.property(title, fc.constantFrom(...STYLES), (source, style) => {
      const name = nameOf(source, style)
      assert.doesNotMatch(name, WRONG)
      assert.ok(name !== '' && Buffer.byteLength(name) <= 73, name)
      assert.equal(name, name.normalize('NFC'))
      assert.equal(nameOf(source, style), name)
    }),
    { numRuns: 2000 },
  )
})

test('no two names in a folder collide on any file system, in any order', () => {
  const entry = fc.record({
    name: title.map((one) => nameOf(one, 'dashes')),
    key: fc.stringMatching(/^[0-9a-f]{32}$/),
  })
  const entries = fc.uniqueArray(entry, { selector: ({ key }) => key, maxLength: 40 })
  fc.assert(
    fc.property(entries, (wanted) => {
      const names = new FolderNames(['README']).add(wanted)
      assert.equal(new Set([...names, 'README'].map(foldName)).size, wanted.length + 1)
      const reversed = new FolderNames(['README']).add(wanted.toReversed())
      assert.deepEqual(reversed.toReversed(), names)
      for (const name of names) assert.ok(Buffer.byteLength(name) <= 90, name)
    }),
    { numRuns: 500 },
  )
})

test('ten thousand pages of one name have a file each, and a deep tree has short paths', () => {
  const key = (n: number): string => n.toString(16).padStart(32, '0')
  const pages = Array.from({ length: 10_000 }, (_, n) => ({
    path: `Same ${key(n)}.html`,
    id: n % 2 === 0 ? key(n) : null,
    title: n % 3 === 0 ? 'SAME' : 'same',
  }))
  const flat = pages.map((_, page) => ({ page, parent: -1 }))
  const paths = [...placePages(pages, flat, -1, FLAVORS.gfm).values()].map(({ page }) => page)
  assert.equal(new Set(paths.map(foldName)).size, pages.length)
  const chain = pages.map((_, page) => ({ page, parent: page - 1 }))
  for (const rules of Object.values(FLAVORS)) {
    const deep = [...placePages(pages, chain, -1, rules).values()].map(({ page }) => page)
    assert.equal(new Set(deep.map(foldName)).size, pages.length)
    for (const path of deep) assert.ok(Buffer.byteLength(path) <= 240, path)
  }
})
