// Inputs of a conversion: files, folders, pipes, and the parts of an export.
import { constants, createReadStream, createWriteStream, statSync, type Stats } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ZipWriter } from '@tollmark/notion-markdown/archive'
import { SetupError, codeOf } from '../../common/errors.ts'
import {
  SNIFF_BYTES,
  describeWrongFile,
  sniff,
  type FileKind,
} from '../../conversion/upload/sniff.ts'
import { Misuse } from '../failure.ts'

/** The input of one document. */
export interface Input {
  /** The path as the user gave it. */
  readonly shown: string
  /** The document's name, without its extension. */
  readonly name: string
  readonly source: 'file' | 'stream' | 'folder' | 'parts'
  /** One path, or those of all parts in order. */
  readonly paths: readonly string[]
}

/** An input as one seekable file. */
export interface PreparedInput {
  readonly path: string
  readonly kind: FileKind
  readonly fileName: string
}

/** An export in parts, as Notion names them. */
const PART = /^(.+)-Part-(\d+)\.zip$/i

/** Groups the arguments into inputs. @throws Misuse if standard input is given twice */
export function groupInputs(files: readonly string[]): Input[] {
  const inputs: Input[] = []
  const exports = new Map<string, Map<number, string>>()
  for (const file of files) {
    const [, stem, number] = PART.exec(basename(file)) ?? []
    const parts = exports.get(stem ?? '') ?? new Map<number, string>()
    if (stem === undefined || parts.has(Number(number))) inputs.push(readInput(file))
    else {
      if (!exports.has(stem)) inputs.push({ shown: file, name: stem, source: 'parts', paths: [] })
      exports.set(stem, parts.set(Number(number), file))
    }
  }
  if (inputs.filter(({ shown }) => shown === '-').length > 1)
    throw new Misuse('Standard input (-) can be given only once.')
  return inputs.map((input) =>
    input.source === 'parts' ? completeParts(input, exports.get(input.name) ?? new Map()) : input,
  )
}

/** A single part is converted like any other file. */
function completeParts(input: Input, parts: ReadonlyMap<number, string>): Input {
  const paths = [...parts].sort(([a], [b]) => a - b).map(([, path]) => path)
  return paths.length === 1 ? readInput(input.shown) : { ...input, shown: paths.join(', '), paths }
}

function readInput(file: string): Input {
  if (file === '-') return { shown: file, name: 'stdin', source: 'stream', paths: ['/dev/stdin'] }
  const stats = statSync(file, { throwIfNoEntry: false })
  const source = stats?.isDirectory() ? 'folder' : isStream(stats) ? 'stream' : 'file'
  const name =
    source === 'stream' ? 'stdin' : basename(file, source === 'folder' ? '' : extname(file))
  return { shown: file, name: name || 'export', source, paths: [file] }
}

/** Whether a file can only be read once and in order. */
function isStream(stats: Stats | undefined): boolean {
  const kinds: readonly number[] = [constants.S_IFIFO, constants.S_IFCHR, constants.S_IFSOCK]
  return stats !== undefined && kinds.includes(stats.mode & constants.S_IFMT)
}

/**
 * Makes an input one seekable file.
 *
 * @param scratch a folder for a copy if one is needed
 * @param withFiles whether to include the content of a folder's files, not only their names
 * @throws SetupError if it does not exist or is neither HTML nor ZIP
 */
export async function prepare(
  input: Input,
  scratch: string,
  signal: AbortSignal,
  withFiles = false,
): Promise<PreparedInput> {
  const copy = join(scratch, 'input')
  const [first = ''] = input.paths
  try {
    if (input.source === 'file') return await sniffFile(first, basename(first))
    if (input.source === 'stream') await spool(input, copy, signal)
    if (input.source === 'parts') await joinParts(input.paths, copy, signal)
    if (input.source === 'folder') await packFolder(first, copy, signal, withFiles)
    return await sniffFile(copy, input.source === 'stream' ? input.name : `${input.name}.zip`)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof SetupError || codeOf(error) === undefined
      ? error
      : new SetupError(`${fileErrorReason(error)}.`, { cause: error })
  }
}

async function spool({ shown }: Input, copy: string, signal: AbortSignal): Promise<void> {
  const from = shown === '-' || shown === '/dev/stdin' ? process.stdin : createReadStream(shown)
  await pipeline(from, createWriteStream(copy, { flags: 'wx', mode: 0o600 }), { signal })
}

/** Creates an archive. Loads the engine only now, because other commands do not need it. */
async function createZip(path: string): Promise<ZipWriter> {
  const { ZipWriter } = await import('@tollmark/notion-markdown/archive')
  return ZipWriter.create(path)
}

/** Puts the parts into one archive, which the engine opens as one export. */
async function joinParts(
  paths: readonly string[],
  copy: string,
  signal: AbortSignal,
): Promise<void> {
  await using zip = await createZip(copy)
  for (const path of paths)
    await zip.add(basename(path), (await stat(path)).mtimeMs, createReadStream(path, { signal }))
  await zip.finish()
}

const isPage = (path: string): boolean => /\.html?$/i.test(path)

/** The files of a folder, and those below it, with `/` between folders. Links are not followed. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return files
    .map((path) => path.slice(folder.length).replaceAll('\\', '/').replace(/^\/+/, ''))
    .sort()
}

/** A folder's files that are neither pages nor parts; they are copied with the document. */
export async function listAssets(folder: string): Promise<string[]> {
  return (await listFiles(join(folder, '/'))).filter((path) => !isPage(path) && !PART.test(path))
}

/** Whether a folder contains parts of an export, which have assets inside. */
export async function hasParts(folder: string): Promise<boolean> {
  return (await readdir(folder)).some((name) => PART.test(name))
}

/**
 * Packs the folder into an archive. Other files than pages and parts need only their names, because
 * documents link to them.
 */
async function packFolder(
  folder: string,
  copy: string,
  signal: AbortSignal,
  withFiles: boolean,
): Promise<void> {
  const files = await listFiles(join(folder, '/'))
  if (!files.some((path) => isPage(path) || PART.test(path))) {
    throw new SetupError(
      'there is no HTML page in this folder. In Notion, export as HTML and use that folder.',
    )
  }
  await using zip = await createZip(copy)
  for (const path of files) {
    const file = join(folder, path)
    const content =
      withFiles || /\.(?:html?|csv|zip)$/i.test(path) ? createReadStream(file, { signal }) : empty()
    await zip.add(path, (await stat(file)).mtimeMs, content)
  }
  await zip.finish()
}

async function* empty(): AsyncGenerator<Uint8Array> {}

async function sniffFile(path: string, fileName: string): Promise<PreparedInput> {
  await using file = await open(path, 'r')
  const { bytesRead, buffer } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0)
  const head = buffer.subarray(0, bytesRead)
  const kind = sniff(head, fileName)
  if (!kind) throw new SetupError(describeWrongFile(head, fileName))
  return { path, kind, fileName }
}

/** TABLE of system errors in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'this is a folder',
  ENOTDIR: 'a part of this path is a file',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
}

/** Why a file cannot be used. */
export function fileErrorReason(error: unknown): string {
  const code = codeOf(error) ?? 'unknown reason'
  return REASONS[code] ?? code
}
