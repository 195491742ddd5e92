// Where documents go: standard output, a file, or a folder with their assets.
import { createReadStream, statSync } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { extractAssets } from '@tollmark/notion-markdown/archive'
import type { DocumentFormat } from '../../conversion/upload/receive-upload.ts'
import { SetupError } from '../../common/errors.ts'
import { printError, write } from '../output.ts'
import { writeError } from './write-error.ts'
import type { PagesMode } from './write-pages.ts'
import { hasParts, listAssets, type Input, type PreparedInput } from './inputs.ts'

/** TABLE of the documents' file extensions. */
const EXTENSIONS = { markdown: '.md', json: '.json', chunks: '.jsonl' } as const satisfies Record<
  DocumentFormat,
  string
>

/** Puts a finished document in its place. @throws SetupError, OutputLost */
export type OutputWriter = (
  input: Input,
  prepared: PreparedInput,
  document: string,
  key?: string,
) => Promise<void>

/** Where folders of pages go. */
export interface PagesPlace {
  readonly store: OutputWriter
  /** Whether the folder is what an export with this key makes; says so, then. */
  readonly isUnchanged?: (input: Input, key: string) => Promise<boolean>
}

/**
 * The place that is meant for folders of pages: a ZIP archive, or a folder.
 *
 * @param exports how many there are: several get a folder each
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
        printError(`${join(root, path)} has gone from the export, but was changed here: it stays.`)
    },
    isUnchanged: async (input, key) => {
      const { unchangedFiles } = await import('./unchanged-folder.ts')
      const files = unchangedFiles(rootOf(input), key)
      if (files !== null) say(rootOf(input), 0, files, 0)
      return files !== null
    },
  }
}

/** Says what became of the files of a folder. */
function say(root: string, written: number, unchanged: number, removed: number): void {
  printError(`${root}: ${written} written, ${unchanged} unchanged, ${removed} removed.`)
}

/** The place that is meant. @param output as given; undefined for standard output */
export function createOutputWriter(
  output: string | undefined,
  format: DocumentFormat,
): OutputWriter {
  if (output === undefined) return (_input, _prepared, document) => writeToStdout(document)
  if (!isFolder(output)) return (_input, _prepared, document) => replaceFile(document, output)
  const names = new UniqueNames()
  return async (input, prepared, document) => {
    try {
      await mkdir(output, { recursive: true })
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
  if (source !== 'folder' || (await hasParts(path))) await extractAssets(prepared.path, folder)
  if (source !== 'folder') return
  for (const asset of await listAssets(path)) {
    const [from, to] = [join(path, asset), join(folder, asset)]
    if (resolve(from) === resolve(to)) continue
    await mkdir(dirname(to), { recursive: true })
    await copyFile(from, to)
  }
}

/** At once, so that nobody sees half of it. */
export async function replaceFile(document: string, output: string): Promise<void> {
  const part = `${resolve(output)}.part`
  try {
    await copyFile(document, part)
    await rename(part, output)
  } catch (error) {
    await rm(part, { force: true })
    throw writeError(output, error)
  }
}

/** Names for the documents of one call: two exports of the same name get one each. */
class UniqueNames {
  readonly #taken = new Set<string>()

  next(wanted: string): string {
    let name = wanted
    for (let n = 2; this.#taken.has(name.toLowerCase()); n++) name = `${wanted}-${n}`
    this.#taken.add(name.toLowerCase())
    return name
  }
}

/** Whether documents are put into it: it is a folder, or its name ends as one. */
export function isFolder(path: string): boolean {
  return (
    path.endsWith('/') ||
    path.endsWith(sep) ||
    (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
  )
}
