// tollmark convert
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, environment } from '../../config/settings.ts'
import { SetupError } from '../../common/errors.ts'
import { COMMON, flagged } from '../api-command.ts'
import type { Command } from '../command.ts'
import type { Convert } from '../convert/engine.ts'
import { inputsOf, prepare, type Input } from '../convert/inputs.ts'
import { progressBar } from '../convert/progress.ts'
import { CannotWrite, isFolder, keeper, type Keep } from '../convert/outputs.ts'
import { AlreadySaid, Misuse, Refusal, shown } from '../failure.ts'
import { interruptible } from '../interrupt.ts'
import { fail, say } from '../output.ts'
import type { Values } from '../values.ts'

/** The server's conversion without a server; with `--url`, by one. */
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
      summary: 'markdown, or JSON with every page by itself',
      choices: ['markdown', 'json'],
    },
    { flags: '--metadata', summary: 'add title, export date and source' },
    ...COMMON.map((one) =>
      one.flags === '--json'
        ? { ...one, summary: 'short for --format json; errors are JSON too' }
        : one,
    ),
  ],
  notes:
    'FILE is an .html or .zip file of an HTML export, a folder with an unpacked one, or - for standard input. The parts\n' +
    'of an export (…-Part-1.zip, …-Part-2.zip) become one document. Without -o the document goes to standard output. With\n' +
    'several exports, -o is a folder (it exists, or its name ends with /); what cannot be converted is reported, and the\n' +
    'others are converted. With --url a running server converts, and its limits hold.',
  examples: [
    'tollmark convert Export.zip -o handbook/',
    'tollmark convert Page.html > page.md',
    'tollmark convert Export-Part-1.zip Export-Part-2.zip -o handbook.md',
    'curl -s https://example.com/page.html | tollmark convert -',
  ],
  run: async (values, files) => {
    const format = formatOf(values)
    const output = values.text('output')
    const inputs = inputsOf(files)
    if (inputs.length > 1 && (output === undefined || !isFolder(output))) {
      throw new Misuse('Several exports need a folder for their documents: -o FOLDER/.')
    }
    const convert = await converterOf(values)
    const keep = keeper(output, format)
    const more = { format, includeMetadata: values.flag('metadata') }
    await interruptible(async (signal) => {
      let [failed, incomplete] = [0, false]
      for (const input of inputs) {
        try {
          const pages = await convertOne(input, more, convert, keep, signal)
          if (pages === 0) continue
          incomplete = true
          fail(
            { object: 'error', code: 'page_failed', detail: unconverted(input, pages) },
            values.flag('json'),
          )
        } catch (error) {
          const failure = aboutInput(error, input)
          if (signal.aborted || failure === undefined) throw error
          fail(failure, values.flag('json'))
          failed++
        }
      }
      if (failed > 0 && inputs.length > 1 && !values.flag('json'))
        say(`${failed} of ${inputs.length} exports could not be converted.`)
      if (failed > 0 || incomplete) throw new AlreadySaid()
    })
  },
}

type More = { format: 'markdown' | 'json'; includeMetadata: boolean }

function unconverted({ shown: name }: Input, pages: number): string {
  const what = pages === 1 ? 'one page' : `${pages} pages`
  return `${name}: ${what} could not be converted. The document says why in ${pages === 1 ? 'its place' : 'their places'}.`
}

/**
 * Whatever ends it, nothing stays in the folder for temporary files.
 *
 * @returns how many pages could not be converted
 */
async function convertOne(
  input: Input,
  more: More,
  convert: Convert,
  keep: Keep,
  signal: AbortSignal,
): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'tollmark-'))
  const bar = progressBar(process.stderr, input.name)
  try {
    const prepared = await prepare(input, scratch, signal)
    const document = join(scratch, 'document')
    const pages = await convert(
      { ...prepared, ...more, scratch, document },
      { signal, onProgress: bar.show },
    )
    signal.throwIfAborted()
    bar.clear()
    await keep(input, prepared, document)
    return pages
  } finally {
    bar.clear()
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** What is said of one input that failed; undefined where the rest would fail too. */
function aboutInput(error: unknown, { shown: name }: Input): ReturnType<typeof shown> {
  if (!(error instanceof SetupError || error instanceof Refusal)) return undefined
  const failure = shown(error)
  return (
    failure && {
      ...failure,
      detail: error instanceof CannotWrite ? failure.detail : `${name}: ${failure.detail}`,
    }
  )
}

function formatOf(values: Values): More['format'] {
  const [format, json] = [values.text('format'), values.flag('json')]
  if (json && format === 'markdown')
    throw new Misuse(
      '--json and --format markdown ask for two different documents. Give one of them.',
    )
  return json || format === 'json' ? 'json' : 'markdown'
}

async function converterOf(values: Values): Promise<Convert> {
  const { convertHere, convertThere } = await import('../convert/engine.ts')
  const { url, token } = readConfig({
    ...environment(process.cwd()),
    ...flagged(values),
  }).commandLine
  if (url === null) return convertHere
  const { remoteClient } = await import('../remote.ts')
  return convertThere(remoteClient(url, token))
}
