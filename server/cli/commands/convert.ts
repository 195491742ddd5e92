// tollmark convert
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Certificate } from '@tollmark/notion-markdown/archive'
import { FLAVOR_NAMES, type Flavor } from '@tollmark/notion-markdown/formats'
import { readConfig, environment } from '../../config/settings.ts'
import { SetupError } from '../../common/errors.ts'
import { CONNECTION_OPTIONS, settingsFromFlags } from '../api-command.ts'
import type { Command } from '../command.ts'
import type { DocumentFormat } from '../../conversion/upload/upload-options.ts'
import type { Engine, Outcome } from '../convert/engine.ts'
import { groupInputs, prepare, type Input, type PreparedInput } from '../convert/inputs.ts'
import { WriteError } from '../convert/write-error.ts'
import type { PagesMode } from '../convert/write-pages.ts'
import { progressBar } from '../convert/progress.ts'
import {
  isFolder,
  createOutputWriter,
  createPagesWriter,
  replaceFile,
  type OutputWriter,
  type PagesPlace,
} from '../convert/outputs.ts'
import { AlreadyReported, Misuse, ApiError, toFailure } from '../failure.ts'
import { runInterruptible } from '../interrupt.ts'
import { printFailure, printError, printNotes } from '../output.ts'
import type { OptionValues } from '../values.ts'

/** Converts on this machine, or with `--url` on a server. */
export const CONVERT: Command = {
  name: 'convert',
  args: '<files...>',
  summary: 'convert Notion exports to Markdown on this machine',
  options: [
    {
      flags: '-o, --output <path>',
      summary: 'a file; or a folder, which gets a document for each export, with its assets',
    },
    {
      flags: '--format <format>',
      summary: 'markdown, JSON with every page separately, or chunks for retrieval (JSON Lines)',
      choices: ['markdown', 'json', 'chunks'],
    },
    { flags: '--metadata', summary: 'add title, export date and source' },
    {
      flags: '--layout <layout>',
      summary: 'one document, or pages: a folder with a Markdown file for each page',
      choices: ['document', 'pages'],
    },
    {
      flags: '--flavor <flavor>',
      summary: 'the program that will read the pages: GFM, Obsidian or Docusaurus',
      choices: [...FLAVOR_NAMES],
    },
    {
      flags: '--sync',
      summary: 'with pages: write what changed, and delete pages that are no longer in the export',
    },
    { flags: '--keep', summary: 'with --sync: keep pages that are no longer in the export' },
    {
      flags: '--source-map [file]',
      summary:
        'write to this file which bytes of the Markdown show which Notion block; without a file, into the JSON',
    },
    {
      flags: '--certificate <file>',
      summary: 'write a report that compares the export with the document',
    },
    ...CONNECTION_OPTIONS.map((one) =>
      one.flags === '--json'
        ? { ...one, summary: 'short for --format json; errors are JSON too' }
        : one,
    ),
  ],
  notes:
    'FILE is an .html or .zip file of an HTML export, a folder with an unpacked one, or - for standard input. The parts\n' +
    'of an export (…-Part-1.zip, …-Part-2.zip) become one document. Without -o the document goes to standard output. With\n' +
    'several exports, -o is a folder (it exists, or its name ends with /); exports that fail are reported, and the\n' +
    'others are converted. With --url a running server converts, within its limits.\n' +
    'With --layout pages, -o is a folder, or a file that ends with .zip. Your own files in the folder are kept.',
  examples: [
    'tollmark convert Export.zip -o handbook/',
    'tollmark convert Page.html > page.md',
    'tollmark convert Export-Part-1.zip Export-Part-2.zip -o handbook.md',
    'tollmark convert Export.zip --format chunks -o handbook.jsonl',
    'tollmark convert Export.zip --layout pages --sync -o handbook/',
    'curl -s https://example.com/page.html | tollmark convert -',
  ],
  run: async (values, files) => {
    const format = formatOf(values)
    const output = values.text('output')
    const inputs = groupInputs(files)
    const pages = pagesOf(values, format)
    if (inputs.length > 1 && (output === undefined || !(pages || isFolder(output)))) {
      throw new Misuse('Several exports need a folder for their documents: -o FOLDER/.')
    }
    const sideFiles = sideFilesOf(values, format, inputs.length)
    const engine = await engineOf(values)
    const place = pages
      ? createPagesWriter(output, pages, inputs.length)
      : { store: createOutputWriter(output, format) }
    const more = { format, includeMetadata: values.flag('metadata'), sideFiles, pages }
    // If the document goes to standard output, show it only on a terminal.
    const isSummaryWanted = !values.flag('json') && (output !== undefined || process.stderr.isTTY)
    await runInterruptible(async (signal) => {
      let [failed, incomplete] = [0, false]
      for (const input of inputs) {
        try {
          const outcome = await convertOne(input, more, engine, place, signal)
          const { failed: pages, notices, certificate } = outcome
          for (const notice of notices) printError(`${input.shown}: ${notice}`)
          if (certificate && isSummaryWanted) printSummary(input.shown, certificate)
          if (pages === 0) continue
          incomplete = true
          printFailure(
            { object: 'error', code: 'page_failed', detail: convertError(input, pages) },
            values.flag('json'),
          )
        } catch (error) {
          const failure = inputError(error, input)
          if (signal.aborted || failure === undefined) throw error
          printFailure(failure, values.flag('json'))
          failed++
        }
      }
      if (failed > 0 && inputs.length > 1 && !values.flag('json'))
        printError(`${failed} of ${inputs.length} exports could not be converted.`)
      if (failed > 0 || incomplete) throw new AlreadyReported()
    })
  },
}

type Options = {
  format: DocumentFormat
  includeMetadata: boolean
  sideFiles: SideFiles
  /** How to write a folder of pages; undefined for one document. */
  pages: (PagesMode & { readonly flavor: Flavor }) | undefined
}

/** Files to write beside the document, and whether the source map goes into it. */
interface SideFiles {
  readonly mapInside: boolean
  readonly sourceMap: string | undefined
  readonly certificate: string | undefined
}

function convertError({ shown: name }: Input, pages: number): string {
  const what = pages === 1 ? 'one page' : `${pages} pages`
  return `${name}: ${what} could not be converted. The document gives the reason where ${pages === 1 ? 'the page' : 'each page'} would be.`
}

/** Converts one input. Its temporary files are deleted however it ends. */
async function convertOne(
  input: Input,
  more: Options,
  engine: Engine,
  { store, isUnchanged }: { store: OutputWriter } & Partial<PagesPlace>,
  signal: AbortSignal,
): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), 'tollmark-'))
  const bar = progressBar(process.stderr, input.name)
  try {
    const prepared = await prepare(input, scratch, signal, more.pages !== undefined)
    const document = join(scratch, 'document')
    const { sideFiles, pages, ...options } = more
    const key = await keyOf(prepared, more, engine)
    if (key !== null && (await isUnchanged?.(input, key))) return { failed: 0, notices: [] }
    const sourceMapPath = sideFiles.sourceMap && join(scratch, 'source-map')
    const certificatePath = sideFiles.certificate && join(scratch, 'certificate')
    const layout = pages && { layout: 'pages' as const, flavor: pages.flavor }
    const outcome = await engine.convert(
      {
        ...prepared,
        ...options,
        ...layout,
        scratch,
        document,
        ...(sideFiles.mapInside && { sourceMap: true }),
        ...(sourceMapPath && { sourceMapPath }),
        ...(certificatePath && { certificatePath }),
      },
      { signal, onProgress: bar.show },
    )
    signal.throwIfAborted()
    bar.clear()
    // A folder with failures or notices gets no key, so that the next run reports them again.
    const isClean = outcome.failed === 0 && outcome.notices.length === 0
    await store(input, prepared, document, isClean ? (key ?? undefined) : undefined)
    if (sideFiles.sourceMap && sourceMapPath) await replaceFile(sourceMapPath, sideFiles.sourceMap)
    if (sideFiles.certificate && certificatePath)
      await replaceFile(certificatePath, sideFiles.certificate)
    return outcome
  } finally {
    bar.clear()
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The key of a synchronized folder; null if it must be converted again. */
async function keyOf(
  prepared: PreparedInput,
  { pages, includeMetadata, sideFiles }: Options,
  engine: Engine,
): Promise<string | null> {
  if (!pages?.sync || includeMetadata || sideFiles.certificate !== undefined) return null
  return await engine.keyOf(prepared, pages.flavor, pages.keep ? 'keep' : 'sync')
}

/** The failure of one input; undefined if the others would fail too. */
function inputError(error: unknown, { shown: name }: Input): ReturnType<typeof toFailure> {
  if (!(error instanceof SetupError || error instanceof ApiError)) return undefined
  const failure = toFailure(error)
  return (
    failure && {
      ...failure,
      detail: error instanceof WriteError ? failure.detail : `${name}: ${failure.detail}`,
    }
  )
}

function formatOf(values: OptionValues): Options['format'] {
  const [format, json] = [values.text('format'), values.flag('json')]
  if (json && format !== undefined && format !== 'json')
    throw new Misuse(
      `--json and --format ${format} ask for two different documents. Give one of them.`,
    )
  if (json || format === 'json') return 'json'
  return format === 'chunks' ? 'chunks' : 'markdown'
}

/** How to write pages; undefined for one document. @throws Misuse for options that need pages */
function pagesOf(values: OptionValues, format: DocumentFormat): Options['pages'] {
  const [sync, keep] = [values.flag('sync'), values.flag('keep')]
  const flavor = FLAVOR_NAMES.find((name) => name === values.text('flavor'))
  if (values.text('layout') !== 'pages') {
    const option = flavor ? '--flavor' : sync ? '--sync' : keep ? '--keep' : undefined
    if (option !== undefined) throw new Misuse(`${option} needs --layout pages.`)
    return undefined
  }
  if (format !== 'markdown')
    throw new Misuse('Pages are Markdown files. Leave --format and --json out.')
  if (keep && !sync) throw new Misuse('--keep needs --sync: nothing is removed without it.')
  if (values.text('source-map') !== undefined || values.flag('source-map'))
    throw new Misuse('--source-map is for one document. Leave --layout pages out.')
  if (sync && /^$|\.zip$/i.test(values.text('output') ?? ''))
    throw new Misuse('--sync needs a folder: -o FOLDER.')
  return { sync, keep, flavor: flavor ?? 'gfm' }
}

/** The files to write beside the document. @throws Misuse if an option does not apply */
function sideFilesOf(values: OptionValues, format: DocumentFormat, exports: number): SideFiles {
  const [sourceMap, certificate] = [values.text('source-map'), values.text('certificate')]
  const mapInside = values.flag('source-map')
  const first = sourceMap ? '--source-map' : certificate ? '--certificate' : undefined
  if (exports > 1 && first) throw new Misuse(`${first} takes one export at a time.`)
  if (mapInside && format === 'markdown')
    throw new Misuse('--source-map needs a file, or --format json.')
  if ((sourceMap || mapInside) && format === 'chunks')
    throw new Misuse('--source-map maps Markdown. Chunks name their blocks themselves.')
  if (first && values.text('url') !== undefined && format !== 'json')
    throw new Misuse(`With --url, ${first} needs --format json.`)
  return { mapInside, sourceMap, certificate }
}

/** Differences shown per conversion. */
const MAX_SHOWN = 5

/** `1 word`, `2 words`. */
function count(n: number, what: string): string {
  return `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`
}

/** Prints what a conversion kept, and what differs. */
function printSummary(name: string, { in: kept, differences }: Certificate): void {
  const [words, tables] = [count(kept.words, 'word'), count(kept.blocks.tables, 'table')]
  const lost = differences.length === 0 ? '0 lost' : count(differences.length, 'difference')
  printNotes([`${name}: ${words}, ${tables}, ${lost}`])
  const shown = differences.filter(({ kind }) => kind !== 'pages')
  for (const { page, detail } of shown.slice(0, MAX_SHOWN))
    printError(page === '' ? detail : `${page}: ${detail}`)
}

async function engineOf(values: OptionValues): Promise<Engine> {
  const { localEngine, remoteEngine } = await import('../convert/engine.ts')
  const { commandLine, conversion } = readConfig({
    ...environment(process.cwd()),
    ...settingsFromFlags(values),
  })
  const { url, token } = commandLine
  if (url === null) return localEngine(conversion.maxPage)
  const { remoteClient } = await import('../remote.ts')
  return remoteEngine(remoteClient(url, token))
}
