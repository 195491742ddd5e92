// An export that somebody has packed again makes the same document, whatever packed it.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { convertFile } from '@tollmark/notion-markdown/archive'
import * as yauzl from 'yauzl'
import { archive, type EntrySpec } from '../support/archives/writer.ts'
import { seeded } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { workspace } from './workspaces.ts'

interface File {
  name: string
  data: Buffer
}

const renamed = (files: readonly File[], rename: (name: string) => string): EntrySpec[] =>
  files.map(({ name, data }) => ({ name: rename(name), data }))

/** The folders of files. */
const foldersOf = (files: readonly File[]): string[] => [
  ...new Set(
    files.flatMap(({ name }) =>
      [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index + 1)),
    ),
  ),
]

/** TABLE of ways to pack files. */
const REPACKED: Readonly<Record<string, (files: readonly File[]) => EntrySpec[]>> = {
  'with backslashes': (files) => [
    ...foldersOf(files).map((name) => ({ name: name.replaceAll('/', '\\'), stored: true })),
    ...renamed(files, (name) => name.replaceAll('/', '\\')),
  ],
  'with the folder itself': (files) => [
    { name: './', stored: true },
    ...renamed(files, (name) => `./${name}`),
  ],
  'with folders, on macOS': (files) => [
    ...foldersOf(files).map((name) => ({ name, stored: true })),
    ...renamed(files, (name) => name.normalize('NFD')),
    { name: '.DS_Store', data: 'x' },
    ...renamed(files, (name) => `__MACOSX/${name.replace(/[^/]*$/, '._$&')}`),
  ],
  'in another order': (files) => renamed(files.toReversed(), (name) => name),
}

async function filesOf(bytes: Buffer): Promise<File[]> {
  const opened = await yauzl.fromBufferPromise(bytes)
  const files: File[] = []
  for await (const entry of opened.eachEntry()) {
    const stream = await opened.openReadStreamPromise(entry)
    files.push({ name: String(entry.fileName), data: Buffer.concat(await stream.toArray()) })
  }
  return files
}

test('a workspace that was packed again makes the same document', async (t) => {
  const folder = temporaryFolder(t)
  const documentOf = async (bytes: Buffer): Promise<string> => {
    const path = join(folder, 'export.zip')
    writeFileSync(path, bytes)
    let text = ''
    await convertFile(
      {
        path,
        kind: 'zip',
        fileName: 'export.zip',
        format: 'markdown',
        includeMetadata: false,
        uploadedAt: new Date(0),
      },
      (piece) => void (text += piece),
    )
    return text
  }
  for (let seed = 1; seed <= 30; seed++) {
    const { archive: original, shape } = workspace(seeded(seed))
    const files = await filesOf(original)
    const document = await documentOf(original)
    // Parts are packed again as they are.
    for (const [how, pack] of Object.entries(REPACKED))
      assert.equal(
        await documentOf(archive(pack(files))),
        document,
        `${how}, seed ${seed}: ${JSON.stringify(shape)}`,
      )
  }
})
