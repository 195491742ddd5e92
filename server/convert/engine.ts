// Stands where the archive reader of the engine will be imported; converts single pages only.
import { readFileSync } from 'node:fs'
import { convertHtml } from '@tollmark/notion-markdown'

export interface ConvertTask {
  path: string
  kind: 'html' | 'zip'
  fileName: string
  uploadedAt: Date
  format: 'markdown' | 'json'
  includeMetadata: boolean
  scratch: string
  onProgress?: (progress: { pagesDone: number; pagesTotal: number | null }) => void
}

/** The file cannot be converted, and why, for the person who sent it. */
export class InvalidArchive extends Error {
  readonly code = 'invalid_file'
  readonly detail: string

  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

export async function convertFile(task: ConvertTask, write: (chunk: string) => void | Promise<void>): Promise<{ pages: number; title: string }> {
  const bytes = readFileSync(task.path)
  if (task.kind === 'zip' && bytes.length < 100) throw new InvalidArchive('The archive is empty.')
  const markdown = task.kind === 'zip' ? `# ${task.fileName}\n` : convertHtml(bytes.toString('utf8'), { fileName: task.fileName })
  task.onProgress?.({ pagesDone: 1, pagesTotal: 1 })
  await write(task.format === 'json' ? `${JSON.stringify({ object: 'document', title: task.fileName, markdown, pages: [], warnings: [] })}\n` : markdown)
  return { pages: 1, title: task.fileName }
}

/** Writes the assets of an archive under `folder`, at the paths that the document names. Gives how many. */
export async function extractAssets(_path: string, _folder: string): Promise<number> {
  return 0
}
