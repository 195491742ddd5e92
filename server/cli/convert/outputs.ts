// Where documents go: standard output, a file, or a folder with their assets.
import { createReadStream, statSync } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import type { DocumentFormat } from '../../conversion/upload/upload-options.ts'
import { SetupError } from '../../common/errors.ts'
import { makeFolder } from '../../common/make-folder.ts'
import { printError, write } from '../output.ts'
import { writeError } from './write-error.ts'
import type { PagesMode } from './write-pages.ts'
import { hasParts, listAssets, type Input, type PreparedInput } from './inputs.ts'

/** TABLE of the documents' file extensions. */
const EXTENSIONS = { markdown: '.md', json: '.json', chunks: '.jsonl' } as const satisfies Record<
  DocumentFormat,
  string
>

/** Writes a finished document. @throws SetupError, OutputError */
export type OutputWriter = (
  input: Input,
  prepared: PreparedInput,
  document: string,
  key?: string,
) => Promise<void>

/** Where to write folders of pages. */
export interface PagesPlace {
  readonly store: OutputWriter
  /** Whether the folder is already what an export with this key makes; if so, prints that. */
  readonly isUnchanged?: (input: Input, key: string) => Promise<boolean>
}

/**
 * Creates the writer of folders of pages, into a ZIP archive or a folder.
 *
 * @param exports number of exports; several get a folder each
 */
export function createPagesWriter(
  output: string | undefined,
  mode: PagesMode,
  exports: number,
): PagesPlace {
  if (output === undefined) return { store: (_input, _prepared, archive) => writeToStdout(archive) }
  if (/\.zip$/i.test(output) && !isFolder(output))
    return { store: (_input, _prepared, archive) => replaceFile(archive, output) }
  const names = new UniqueNames()
  const roots = new Map<Input, string>()
  const rootOf = (input: Input): string => {
    const root = roots.get(input) ?? (exports === 1 ? output : join(output, names.next(input.name)))
    roots.set(input, root)
    return root
  }
  return {
    async store(input, _prepared, archive, key) {
      const root = rootOf(input)
      const { writePagesFolder } = await import('./write-pages.ts')
      const done = await writePagesFolder(archive, root, mode, key)
      if (mode.sync) say(root, done.written, done.unchanged, done.removed)
      for (const path of done.edited)
        printError(`${join(root, path)} is no longer in the export, but was changed here: kept.`)
    },
    isUnchanged: async (input, key) => {
      const { unchangedFiles } = await import('./unchanged-folder.ts')
      const files = unchangedFiles(rootOf(input), key)
      if (files !== null) say(rootOf(input), 0, files, 0)
      return files !== null
    },
  }
}

/** Prints how many files of a folder changed. */
function say(root: string, written: number, unchanged: number, removed: number): void {
  printError(`${root}: ${written} written, ${unchanged} unchanged, ${removed} removed.`)
}

/** Creates the writer of documents. @param output as given; undefined for standard output */
export function createOutputWriter(
  output: string | undefined,
  format: DocumentFormat,
): OutputWriter {
  if (output === undefined) return (_input, _prepared, document) => writeToStdout(document)
  if (!isFolder(output)) return (_input, _prepared, document) => replaceFile(document, output)
  const names = new UniqueNames()
  return async (input, prepared, document) => {
    try {
      makeFolder(output)
      await writeAssets(input, prepared, output)
    } catch (error) {
      throw error instanceof SetupError ? error : writeError(output, error)
    }
    await replaceFile(document, join(output, names.next(input.name) + EXTENSIONS[format]))
  }
}

async function writeToStdout(document: string): Promise<void> {
  for await (const piece of createReadStream(document)) await write(piece as Buffer)
}

async function writeAssets(
  { source, paths: [path = ''] }: Input,
  prepared: PreparedInput,
  folder: string,
): Promise<void> {
  if (prepared.kind !== 'zip') return
  if (source !== 'folder' || (await hasParts(path))) {
    const { extractAssets } = await import('@tollmark/notion-markdown/archive')
    await extractAssets(prepared.path, folder)
  }
  if (source !== 'folder') return
  for (const asset of await listAssets(path)) {
    const [from, to] = [join(path, asset), join(folder, asset)]
    if (resolve(from) === resolve(to)) continue
    await mkdir(dirname(to), { recursive: true })
    await copyFile(from, to)
  }
}

/** Replaces the file atomically, so that no reader sees half of it. */
export async function replaceFile(document: string, output: string): Promise<void> {
  const part = `${resolve(output)}.part`
  try {
    await copyFile(document, part)
    await rename(part, output)
  } catch (error) {
    // Where nothing can be written, nothing can be removed either.
    await rm(part, { force: true }).catch(() => {})
    throw writeError(output, error)
  }
}

/** Gives each document of a run its own name, even if two exports have the same. */
class UniqueNames {
  readonly #taken = new Set<string>()

  next(wanted: string): string {
    let name = wanted
    for (let n = 2; this.#taken.has(name.toLowerCase()); n++) name = `${wanted}-${n}`
    this.#taken.add(name.toLowerCase())
    return name
  }
}

/** Whether a path is a folder: it exists as one, or ends with a separator. */
export function isFolder(path: string): boolean {
  return (
    path.endsWith('/') ||
    path.endsWith(sep) ||
    (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
  )
}
