import { copyFileSync, createReadStream, mkdirSync, mkdtempSync, openSync, closeSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, extname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { InvalidArchive, extractAssets } from '@tollmark/notion-markdown/archive'
import { convert } from '../../../server/convert/convert.ts'
import { run, type Progress } from '../../../server/convert/run.ts'
import { SNIFFED, sniff, type FileKind } from '../../../server/convert/sniff.ts'
import type { Format } from '../../../server/convert/upload.ts'
import { openConverters } from '../../../server/convert/converters.ts'
import { Problem, SetupError, codeOf } from '../../../server/errors.ts'
import type { Command } from './main.ts'
import { progressBar } from './progress.ts'

const USAGE = `usage: tollmark convert FILE… [--format markdown|json] [--json] [--metadata] [-o OUT]

Converts Notion's HTML exports (.html or .zip) to Markdown, or to JSON, as the API does. Without -o the document goes to
standard output. --json is short for --format json. OUT is a file; or a folder (it exists, or the name ends with /), which gets one document for each FILE, with its assets.`

/** TABLE of the documents' file extensions. */
const EXTENSIONS = { markdown: '.md', json: '.json' } as const satisfies Record<Format, string>

/** `tollmark convert`: the server's conversion without a server. */
export const command: Command = {
  usage: USAGE,
  run: async (args) => {
    const { values, positionals: files } = parseArgs({
      args,
      options: {
        format: { type: 'string' },
        json: { type: 'boolean', default: false },
        metadata: { type: 'boolean', default: false },
        output: { type: 'string', short: 'o' },
      },
      allowPositionals: true,
    })
    const { json, metadata, output } = values
    const format = values.format ?? (json ? 'json' : 'markdown')
    if (format !== 'markdown' && format !== 'json') throw new SetupError(`--format must be markdown or json, but is "${format}".`)
    if (json && format !== 'json') throw new SetupError('--json and --format markdown ask for two different documents. Give one of them.')
    if (files.length === 0) throw new SetupError('Say which file to convert: tollmark convert FILE….')
    const folder = output !== undefined && isFolder(output) ? output : undefined
    if (files.length > 1 && folder === undefined) throw new SetupError('Several files need a folder for their documents: -o FOLDER/.')

    const names = new Names()
    for (const path of files) {
      const kind = kindOf(path)
      const scratch = mkdtempSync(join(tmpdir(), 'tollmark-'))
      const document = join(scratch, 'document')
      const bar = progressBar(process.stderr, basename(path))
      try {
        await convertOne({ path, kind, format, includeMetadata: metadata, scratch: join(scratch, 'work'), output: document }, bar.show)
        bar.clear()
        if (folder !== undefined) await keepInFolder(path, kind, document, folder, format, names)
        else if (output !== undefined) keep(document, output)
        else await pipeline(createReadStream(document), process.stdout, { end: false })
      } finally {
        bar.clear()
        rmSync(scratch, { recursive: true, force: true })
      }
    }
  },
}

/** One conversion at a time, on all cores, as long and with as much memory as it takes. */
const CONVERTERS = { atOnce: availableParallelism(), deadline: 2 ** 31 - 1, heap: 4 * 2 ** 30 }

type Wanted = Omit<Parameters<typeof run>[0], 'fileName' | 'uploadedAt'>

async function convertOne(wanted: Wanted, onProgress: (progress: Progress) => void): Promise<void> {
  try {
    const task = { ...wanted, fileName: basename(wanted.path), uploadedAt: Date.now() }
    if (task.kind === 'html') return await run(task, { whole: true })
    await using converters = openConverters(CONVERTERS)
    await convert(task, converters, { onProgress })
  } catch (error) {
    if (error instanceof Problem || error instanceof InvalidArchive) throw new SetupError(`${wanted.path}: ${error.detail}`, { cause: error })
    throw error
  }
}

/** @throws SetupError where the file is not there or is neither kind */
function kindOf(path: string): FileKind {
  const head = Buffer.alloc(SNIFFED)
  let length: number
  try {
    const file = openSync(path, 'r')
    length = readSync(file, head)
    closeSync(file)
  } catch (error) {
    throw new SetupError(`${path}: ${reason(error)}.`, { cause: error })
  }
  const kind = sniff(head.subarray(0, length), basename(path))
  if (!kind) throw new SetupError(`${path}: neither an HTML page nor a ZIP archive. Give it what Notion exported as HTML.`)
  return kind
}

async function keepInFolder(path: string, kind: FileKind, document: string, folder: string, format: Format, taken: Names): Promise<void> {
  mkdirSync(folder, { recursive: true })
  if (kind === 'zip') await extractAssets(path, folder)
  keep(document, join(folder, taken.next(basename(path, extname(path))) + EXTENSIONS[format]))
}

/** Names for the documents of one call: two exports of the same name get one each. */
class Names {
  readonly #taken = new Set<string>()

  next(wanted: string): string {
    let name = wanted
    for (let n = 2; this.#taken.has(name.toLowerCase()); n++) name = `${wanted}-${n}`
    this.#taken.add(name.toLowerCase())
    return name
  }
}

/** Puts the finished document in its place at once, so that nobody sees half of one. */
function keep(document: string, output: string): void {
  const part = `${resolve(output)}.part`
  try {
    copyFileSync(document, part)
    renameSync(part, output)
  } catch (error) {
    rmSync(part, { force: true })
    throw new SetupError(`${output} cannot be written: ${reason(error)}.`, { cause: error })
  }
}

function isFolder(path: string): boolean {
  return path.endsWith('/') || path.endsWith(sep) || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
}

/** TABLE of the system's reasons in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'this is a folder',
  EACCES: 'you may not use it',
  ENOSPC: 'the disk is full',
}

function reason(error: unknown): string {
  const code = codeOf(error) ?? 'unknown reason'
  return REASONS[code] ?? code
}
