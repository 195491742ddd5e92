// Converts a file to a folder of pages, as a ZIP archive: `convertFile` and `joinShares` for the
// layout `pages`.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateOf, convertAlone, withCertificate, withHash } from '../convert.ts'
import { outcomeOf, type Converted } from '../outcome.ts'
import type { ConvertOptions, OnPage } from '../convert-options.ts'
import { convertShare } from '../convert-share.ts'
import { openExport } from '../export.ts'
import { resultCounter } from '../result-limit.ts'
import { fileSource } from '../source.ts'
import { openSpoolReader } from '../spool.ts'
import type { PageTexts } from '../../converted-page.ts'
import { writePages, type PagesOptions } from './write-pages.ts'

/**
 * Converts a page or an archive to a folder of pages in this process.
 *
 * @param output the new ZIP archive
 * @throws InvalidArchive
 */
export async function convertPages(
  given: ConvertOptions,
  output: string,
  onPage?: OnPage,
): Promise<Converted> {
  const options = { ...given, layout: 'pages' } as const
  if (options.kind === 'html') {
    const { summary, markdown, tables = [] } = await convertAlone(options)
    const pages: PageTexts = {
      summaries: [summary],
      sitemap: -1,
      text: () => markdown,
      tables: () => tables,
    }
    const certificate = certificateOf(options)
    await writePages(pages, null, output, pagesOptions(options), certificate)
    return await withCertificate(outcomeOf([summary]), certificate)
  }
  const scratch = options.scratch ?? (await mkdtemp(join(tmpdir(), 'notion-markdown-')))
  try {
    const hash = await convertShare({ ...options, scratch }, { index: 0, of: 1 }, onPage)
    return await joinPages({ ...withHash(options, hash), scratch }, { count: 1 }, output)
  } finally {
    if (options.scratch === undefined) await rm(scratch, { recursive: true, force: true })
  }
}

/**
 * Joins the output of `count` shares in the scratch folder into a folder of pages.
 *
 * @param shares `isUnpacked`: whether `unpackArchive` has already run
 * @param output the new ZIP archive
 * @throws InvalidArchive
 */
export async function joinPages(
  options: ConvertOptions & { scratch: string },
  shares: { count: number; isUnpacked?: boolean },
  output: string,
): Promise<Converted> {
  const { scratch, fileName, limits } = options
  await using spool = await openSpoolReader(scratch, shares.count)
  const converted = outcomeOf(spool.summaries)
  await using source = await fileSource(options.path)
  await using opened = await openExport(source, {
    scratch,
    fileName,
    ...(limits && { limits }),
    ...(shares.isUnpacked && { unpacked: scratch }),
  })
  opened.checkFiles()
  const certificate = certificateOf(options)
  const damaged = await writePages(spool, opened, output, pagesOptions(options), certificate)
  const outcome = { ...converted, warnings: converted.warnings + damaged }
  return await withCertificate(outcome, certificate)
}

function pagesOptions(options: ConvertOptions): PagesOptions {
  const { flavor = 'gfm', includeMetadata, uploadedAt } = options
  return { flavor, includeMetadata, uploadedAt, count: resultCounter(options) }
}
