// The exports of a folder, converted to folders of pages in each flavor: nothing in them leads
// nowhere, and their certificates find nothing lost.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import {
  convertPages,
  FLAVOR_NAMES,
  OWN_LIMITS,
  type Flavor,
} from '@tollmark/notion-markdown/archive'
import { deadLinks, readFolder } from '../support/pages-folder.ts'
import { zip } from '../support/zip.ts'

/** What is wrong with an export in one flavor; and how much was looked at. */
export interface PagesReport {
  readonly path: string
  readonly flavor: Flavor
  readonly pages: number
  readonly faults: readonly string[]
}

/** Converts each export below `folder`: archives, and folders with pages at their top. */
export async function* reportPages(folder: string): AsyncGenerator<PagesReport> {
  const scratch = mkdtempSync(join(tmpdir(), 'tollmark-corpus-'))
  try {
    for (const [n, { path, archive }] of exportsIn(folder, scratch).entries())
      for (const flavor of FLAVOR_NAMES)
        yield {
          path: relative(folder, path),
          flavor,
          ...(await convert(archive, join(scratch, `${n}-${flavor}.zip`), flavor)),
        }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function convert(
  archive: string,
  output: string,
  flavor: Flavor,
): Promise<Pick<PagesReport, 'pages' | 'faults'>> {
  const { pages, certificate } = await convertPages(
    {
      path: archive,
      kind: 'zip',
      fileName: 'Export.zip',
      format: 'markdown',
      includeMetadata: false,
      uploadedAt: new Date(0),
      limits: OWN_LIMITS,
      certificate: true,
      flavor,
    },
    output,
  )
  const dead = deadLinks(readFolder(readFileSync(output)))
  rmSync(output)
  const differing = certificate?.differences.map(
    ({ page, kind, detail }) => `${page}: ${kind}: ${detail}`,
  )
  return { pages, faults: [...dead.map((link) => `dead: ${link}`), ...(differing ?? [])] }
}

/**
 * The archives below a folder, and those made of its folders that hold pages.
 *
 * @param scratch a folder for the latter
 */
export function exportsIn(folder: string, scratch: string): { path: string; archive: string }[] {
  const archives = filesIn(folder)
    .filter((file) => /\.zip$/i.test(file))
    .map((file) => ({ path: file, archive: file }))
  const packed = foldersOfPages(folder).map((path, n) => {
    const archive = join(scratch, `packed-${n}.zip`)
    writeFileSync(archive, zip(filesBelow(path)))
    return { path, archive }
  })
  return [...archives, ...packed]
}

/** The highest folders that hold pages. */
function foldersOfPages(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  if (entries.some((entry) => entry.isFile() && /\.html?$/i.test(entry.name))) return [folder]
  return entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => foldersOfPages(join(folder, name)))
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function filesBelow(folder: string): Record<string, Buffer> {
  const files = filesIn(folder).filter((file) => !/\.zip$/i.test(file))
  return Object.fromEntries(
    files.map((file) => [relative(folder, file).replaceAll('\\', '/'), readFileSync(file)]),
  )
}
