// A page → what the archive entry makes of it, for tests of whole documents.
import { rm, mkdtemp, writeFile } from 'node:fs/promises'
import { readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertFile, type ConvertOptions } from '../src/archive/index.ts'

/** A page of Notion's around the HTML of its body. */
export const pageOf = (body: string): string =>
  `<html><head><title>T</title></head><body><article id="01234567-89ab-cdef-0123-456789abcdef" class="page sans"><header><h1 class="page-title">T</h1></header><div class="page-body">${body}</div></article></body></html>`

/** The HTML of the engine's cases, each as a page. */
export function casePages(): string[] {
  const folder = new URL('../../../test/engine/cases/', import.meta.url)
  return readdirSync(folder).flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8')
      .split(/^@@ /m)
      .slice(1)
      .map((source) => source.slice(source.indexOf('\n') + 1).split(/^=>\n/m)[0] ?? '')
      .map((html) => (html.startsWith('<html') ? html : pageOf(html))),
  )
}

/** Converts a file with these bytes. @returns the document, and what else was written */
export async function documentOf(
  bytes: string | Buffer,
  options: Partial<ConvertOptions>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollmark-document-'))
  try {
    const path = join(folder, 'file')
    await writeFile(path, bytes)
    let text = ''
    await convertFile(
      {
        path,
        kind: typeof bytes === 'string' ? 'html' : 'zip',
        fileName: 'Page.html',
        format: 'markdown',
        includeMetadata: false,
        uploadedAt: new Date(0),
        ...options,
      },
      (piece) => void (text += piece),
    )
    return text
  } finally {
    await rm(folder, { recursive: true })
  }
}
