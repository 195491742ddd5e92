// The tree that a conversion gives an archive's pages.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { convertFile } from '@tollmark/notion-markdown/archive'

interface Placed {
  id: string | null
  parent_id: string | null
}

/** Each page of an archive with its parent, in the document's order, without the sitemap. */
export async function treeOf(archive: Buffer, folder: string): Promise<Placed[]> {
  const path = join(folder, 'export.zip')
  const scratch = join(folder, 'scratch')
  writeFileSync(path, archive)
  mkdirSync(scratch)
  let text = ''
  try {
    await convertFile(
      {
        path,
        kind: 'zip',
        fileName: 'export.zip',
        format: 'json',
        includeMetadata: false,
        uploadedAt: new Date(0),
        scratch,
      },
      (piece) => void (text += piece),
    )
  } finally {
    rmSync(scratch, { recursive: true })
  }
  const { pages } = JSON.parse(text) as { pages: (Placed & { path: string })[] }
  return pages
    .filter((page) => !page.path.endsWith('index.html'))
    .map(({ id, parent_id }) => ({ id, parent_id }))
}
