// Archives where there is no Node: the same documents as in files, and the same refusals.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workspace } from '../../../test/engine/workspaces.ts'
import { HOSTILE } from '../../../test/support/archives/hostile.ts'
import { seeded } from '../../../test/support/random.ts'
import { openBlob } from '../src/web/open-blob.ts'
import { convertArchive, InvalidArchive, type Converted } from '../src/web/index.ts'
import { documentOf } from './document-of.ts'

const blobOf = (bytes: Uint8Array): Blob => new Blob([new Uint8Array(bytes)])

async function convert(
  bytes: Buffer,
  format: 'markdown' | 'json' | 'chunks' = 'markdown',
): Promise<{ text: string; converted: Converted }> {
  const document = convertArchive(blobOf(bytes), { format })
  let text = ''
  for (;;) {
    const piece = await document.next()
    if (piece.done) return { text, converted: piece.value }
    text += piece.value
  }
}

test('a workspace in a Blob becomes the same document as one in a file', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { archive } = workspace(seeded(seed))
    const format = (['markdown', 'json', 'chunks'] as const)[seed % 3] ?? 'markdown'
    const { text, converted } = await convert(archive, format)
    assert.equal(text, await documentOf(archive, { format, fileName: '' }), `seed ${seed}`)
    assert.equal(converted.failed, 0)
  }
})

/** What is said of an archive, opened and read as a conversion does; null where all is sound. */
async function refusal(bytes: Uint8Array): Promise<string | null> {
  try {
    const opened = await openBlob(blobOf(bytes), 'Export.zip')
    for (const page of opened.pages) await page.read()
    return null
  } catch (error) {
    if (error instanceof InvalidArchive) return error.detail
    throw error
  }
}

/** What DecompressionStream does not tell from other damage. */
const UNTOLD = new Set(['data cut off', 'bytes after the end of the data'])

test('archives are refused for the same reasons and in the same words as in a file', async () => {
  // Without those that take long to make.
  const quick = HOSTILE.filter(({ name }) => !/50,00|MB|gigabyte|large part/.test(name))
  assert.ok(quick.length > 150)
  for (const { name, says, build } of quick) {
    const expected = UNTOLD.has(name) ? /is damaged and cannot be inflated/ : says
    assert.match((await refusal(build())) ?? 'read', expected, name)
  }
})
