// The options of a conversion.
import type { Wanted } from '../converted-page.ts'
import { hasTables, isMarkedFor, type DocumentOptions } from '../document-options.ts'
import type { Archive } from '../links.ts'
import type { ArchiveLimits } from './limits.ts'
import { FLAVORS, syntaxOf, type Flavor } from './pages/flavors.ts'

/** A file, and the requested document. */
export interface ConvertOptions extends DocumentOptions {
  /** The path of the file. */
  path: string
  kind: 'html' | 'zip'
  /** Its original name. */
  fileName: string
  /** Limits on an archive. Default: those of an upload. */
  limits?: Partial<ArchiveLimits>
  /**
   * A folder for this conversion alone, for data that does not fit in memory. Default: a temporary
   * one.
   */
  scratch?: string
  /** The path for the document's source map, as JSON. Default: none. */
  sourceMapPath?: string
  /** The layout: one document (the default), or a folder of pages. */
  layout?: 'document' | 'pages'
  /** The program that a folder of pages is for. Default: GFM. */
  flavor?: Flavor
  /** Whether to certify the conversion: compare its input and output. */
  certificate?: boolean
  /** The file's SHA-256, hexadecimal; null leaves it out. Default: it is computed. */
  inputSha256?: string | null
}

/** What converting a page also has to give, besides its text. */
export const wantedOf = (options: ConvertOptions): Wanted => ({
  isMarked: isMarkedFor(options) || options.sourceMapPath !== undefined,
  hasTables: hasTables(options) || options.layout === 'pages',
})

/** One process's partition of an archive's pages: those whose number modulo `of` is `index`. */
export interface Share {
  index: number
  of: number
  /** Whether `unpackArchive` has already run in this scratch folder. */
  isUnpacked?: boolean
}

/**
 * Called when the pages are known, and after each one. `done` counts the pages of the share,
 * `total` those of the whole file.
 */
export type OnPage = (done: number, total: number) => void

/** The effect of a layout on reading pages. */
export function pageRules({ layout, flavor = 'gfm' }: ConvertOptions): Partial<Archive> {
  if (layout !== 'pages') return {}
  const rules = FLAVORS[flavor]
  const { callouts } = rules
  return {
    movesFiles: true,
    ...(callouts !== 'quote' && { callouts }),
    syntax: syntaxOf(rules),
  }
}
