// The options of a conversion.
import type { Wanted } from '../converted-page.ts'
import { hasTables, isMarkedFor, type DocumentOptions } from '../document.ts'
import type { Archive } from '../links.ts'
import type { ArchiveLimits } from './limits.ts'
import { FLAVORS, syntaxOf, type Flavor } from './pages/flavors.ts'

/** A file, and what document is wanted of it. */
export interface ConvertOptions extends DocumentOptions {
  /** The path of the file. */
  path: string
  kind: 'html' | 'zip'
  /** Its original name. */
  fileName: string
  /** Limits on an archive. Default: those of an upload. */
  limits?: Partial<ArchiveLimits>
  /**
   * A folder of this conversion's own for what does not fit into memory. Default: a temporary one.
   */
  scratch?: string
  /** The path for the document's source map, as JSON. Default: none. */
  sourceMapPath?: string
  /** The layout: one document (the default), or a folder of pages. */
  layout?: 'document' | 'pages'
  /** The program that a folder of pages is for. Default: GFM. */
  flavor?: Flavor
  /** Whether the conversion is certified: what went in, what came out. */
  certificate?: boolean
  /** The file's SHA-256, hexadecimal; null leaves it out. Default: it is computed. */
  inputSha256?: string | null
}

/** The inputs of converting pages, besides their text. */
export const wantedOf = (options: ConvertOptions): Wanted => ({
  isMarked: isMarkedFor(options) || options.sourceMapPath !== undefined,
  hasTables: hasTables(options) || options.layout === 'pages',
})

/**
 * One process's share of an archive's pages: those whose number leaves `index` when divided by
 * `of`.
 */
export interface Share {
  index: number
  of: number
  /** Whether `unpackArchive` was here before, in this scratch folder. */
  isUnpacked?: boolean
}

/**
 * Called when the pages are known, and after each one. `done` counts the pages of the share,
 * `total` those of the whole file.
 */
export type OnPage = (done: number, total: number) => void

/** How a layout changes the reading of pages. */
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
