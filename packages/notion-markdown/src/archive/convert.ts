// Converts a file to one document: everything between the bytes of an upload and the text of the
// document. An archive's pages can be converted by several processes, each its share
// (`convertShare`), and are joined by one (`joinShares`).
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertPage, type ConvertedPage, type PageTexts } from '../converted-page.ts'
import { joinDocument } from '../document.ts'
import type { Archive } from '../links.ts'
import { dialectOf, openCertificate, type OpenCertificate } from './certify.ts'
import { pageRules, wantedOf, type ConvertOptions, type OnPage } from './convert-options.ts'
import { decodePage } from './convert-entry.ts'
import { convertShare } from './convert-share.ts'
import { pathKey } from './names.ts'
import { outcomeOf, type Converted } from './outcome.ts'
import { PageReader } from './page-reader.ts'
import { resultCounter } from './result-limit.ts'
import { openSpoolReader } from './spool.ts'
import { withSourceMap } from './source-map-file.ts'

/** Receives the document, a piece at a time. */
export type Write = (piece: string) => void | Promise<void>

/**
 * Converts a page or an archive in this process.
 *
 * @throws InvalidArchive
 */
export async function convertFile(
  options: ConvertOptions,
  write: Write,
  onPage?: OnPage,
): Promise<Converted> {
  if (options.kind === 'html') return convertSingle(options, write)
  const scratch = options.scratch ?? (await mkdtemp(join(tmpdir(), 'notion-markdown-')))
  try {
    const hash = await convertShare({ ...options, scratch }, { index: 0, of: 1 }, onPage)
    return await joinShares({ ...withHash(options, hash), scratch }, 1, write)
  } finally {
    if (options.scratch === undefined) await rm(scratch, { recursive: true, force: true })
  }
}

/** Converts a single page; in a folder of pages, its files are missing. */
export async function convertAlone(options: ConvertOptions): Promise<ConvertedPage> {
  const html = decodePage(await readFile(options.path), options.fileName)
  const nothing: Archive = {
    page: () => undefined,
    pageById: () => undefined,
    file: () => undefined,
  }
  const page = convertPage(
    html,
    options.fileName,
    null,
    options.layout === 'pages' ? { ...nothing, ...pageRules(options) } : undefined,
    wantedOf(options),
  )
  if (options.certificate === true) {
    const files = options.layout === 'pages' ? [] : null
    const reader = new PageReader({ dialect: dialectOf(options), files, input: { sha256: null } })
    reader.exported(html, options.fileName)
    const [, exported, match] = reader.converted(0, page.markdown)
    page.summary.reading = { exported, match }
  }
  return page
}

async function convertSingle(options: ConvertOptions, write: Write): Promise<Converted> {
  const page = await convertAlone(options)
  const texts: PageTexts = {
    summaries: [page.summary],
    sitemap: -1,
    text: () => page.markdown,
    tables: () => page.tables ?? [],
  }
  return writeDocument(texts, options, write)
}

/** Joins pages, with the other requested outputs. */
async function writeDocument(
  texts: PageTexts,
  options: ConvertOptions,
  write: Write,
): Promise<Converted> {
  const certificate = certificateOf(options)
  const count = resultCounter(options)
  await withSourceMap(options.sourceMapPath, count, async (writeRanges) => {
    const listener = { ...(writeRanges && { writeRanges }), ...(certificate && { certificate }) }
    const keyOf = options.kind === 'zip' ? pathKey : (path: string): string => path
    for await (const piece of joinDocument(texts, keyOf, options, listener)) {
      count(Buffer.byteLength(piece))
      await write(piece)
    }
  })
  return await withCertificate(outcomeOf(texts.summaries), certificate)
}

/** Adds a certificate to the result of a conversion. */
export async function withCertificate(
  outcome: Converted,
  certificate?: OpenCertificate,
): Promise<Converted> {
  if (!certificate) return outcome
  const issued = await certificate.finish()
  // A page that has failed also differs, but already has a warning.
  const differing = certificate.found - outcome.failed
  return { ...outcome, warnings: outcome.warnings + differing, certificate: issued }
}

/** Options with the hash that was computed beside the conversion; null for none. */
export function withHash(options: ConvertOptions, sha256: string | null): ConvertOptions {
  return sha256 === null ? options : { ...options, inputSha256: sha256 }
}

/** Opens the certificate of a conversion, if one is requested. */
export function certificateOf(options: ConvertOptions): OpenCertificate | undefined {
  const { certificate, path, inputSha256 } = options
  if (certificate !== true) return undefined
  const input = inputSha256 === undefined ? { path } : { sha256: inputSha256 }
  return openCertificate(input, dialectOf(options))
}

/** Joins the output of `count` shares in the scratch folder. */
export async function joinShares(
  options: ConvertOptions & { scratch: string },
  count: number,
  write: Write,
): Promise<Converted> {
  await using spool = await openSpoolReader(options.scratch, count)
  outcomeOf(spool.summaries)
  return await writeDocument(spool, options, write)
}
