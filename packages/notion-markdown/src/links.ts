// Resolves addresses: the target of a link or an image of an exported page, and its form in the
// document.
import type { CalloutStyle } from './tree.ts'
import type { Database } from './csv.ts'
import type { Certainty } from './order.ts'
import type { ExtraSyntax } from './extra-syntax.ts'

/** A file that a page shows or links to. */
export interface Asset {
  /** Relative to the archive's root, in stored form: not percent-encoded, unlike links to it. */
  path: string
  kind: 'image' | 'file'
  in_archive: boolean
}

/** Something that the document could not represent properly. */
export interface Warning {
  code:
    | 'asset_missing'
    | 'page_missing'
    | 'link_removed'
    | 'page_failed'
    | 'part_missing'
    | 'not_notion'
  detail: string
  /** Its subject, if that is not the page itself. */
  page?: string
}

/** The archive around a page. A single page has none. */
export interface Archive {
  /**
   * The key of the page at this path (decoded, relative to the archive's root), if there is one.
   */
  page(path: string): string | undefined
  /** The key of the page with this id (32 hex digits), if there is one. */
  pageById(id: string): string | undefined
  /** The path, as stored, of the file at this decoded path, if there is one. */
  file(path: string): string | undefined
  /** The database with this id, if the archive has it as CSV. */
  database?(id: string): Database | undefined
  /**
   * Whether files get other paths: links to them are then markers, and links to missing files have
   * no target.
   */
  readonly movesFiles?: boolean
  /** The syntax of callouts. Default: quotes. */
  readonly callouts?: CalloutStyle
  /** The syntax of the pages' program. Default: the syntax that all programs support. */
  readonly syntax?: ExtraSyntax
}

/**
 * The mark around an address within the document, which is known only when all headings are
 * (anchors.ts). The reader drops U+0000 from its input, so no text can contain one; the text
 * between two marks is percent-encoded, so that no writer changes it.
 */
export const MARKER = '\0'

/** A block of the same page, by its id; if no heading has it, by a heading's text. */
export function blockTarget(id: string, text = ''): string {
  return `${MARKER}block/${encodeTarget(id)}/${encodeTarget(text)}${MARKER}`
}

/** A page of the archive, by its key; a block of it, by its id without dashes. */
export function pageTarget(key: string, block = ''): string {
  return `${MARKER}page/${encodeTarget(key)}${block === '' ? '' : `/${block}`}${MARKER}`
}

/** The key of the target's page; null if it is not a page. */
export function keyOfTarget(url: string): string | null {
  const [kind, key] = url.startsWith(MARKER) ? url.slice(1, -1).split('/') : []
  return kind === 'page' && key !== undefined ? decodeURIComponent(key) : null
}

/** A heading's own anchor, by its index in the outline of its page. */
export function slugTarget(index: number): string {
  return `${MARKER}slug/${index}${MARKER}`
}

/** A file of the archive, by its stored path. */
export function fileTarget(path: string): string {
  return `${MARKER}file/${encodeTarget(path)}${MARKER}`
}

/** The block that an address within a page names; empty if it names none. */
function blockOf(href: string): string {
  const id = /#((?:[0-9a-f]{4}-?){7}[0-9a-f]{4})$/i.exec(href)?.[1] ?? ''
  return id.replaceAll('-', '').toLowerCase()
}

function encodeTarget(part: string): string {
  return encodeURIComponent(part.toWellFormed())
}

const SCHEME = /^([a-z][a-z0-9+.-]*):/i
/** Schemes that run code, or may run code, where the document is shown. */
const UNSAFE = new Set(['javascript', 'vbscript', 'data'])
/**
 * TABLE of allowed types of `data:` addresses: only those that run no code. SVG runs none as an
 * image, but does as a page of its own.
 */
const SAFE_DATA = {
  file: /^data:(?:text\/(?:plain|csv)|application\/pdf|image\/(?:png|jpeg|jpg|gif|webp|avif|bmp))?[;,]/i,
  image: /^data:image\/(?:png|jpeg|jpg|gif|webp|avif|bmp|svg\+xml)[;,]/i,
} as const satisfies Record<Asset['kind'], RegExp>
/** The address that exporters since 2026 write for a page without one. */
const NO_TARGET = 'https://app.notion.comundefined'
/** An address of a page on Notion; it ends in the page's id, with or without dashes. */
const NOTION_PAGE =
  /^https?:\/\/(?:(?:www\.)?notion\.so|app\.notion\.com)\/[^?#]*?((?:[0-9a-f]{4}-?){7}[0-9a-f]{4})(?:[?#].*)?$/

/** The same without its host, as copied within Notion. */
const WITHIN_NOTION = /^\/(?:[^/?#]*-)?((?:[0-9a-f]{4}-?){7}[0-9a-f]{4})(?:[?#].*)?$/

/**
 * An e-mail address; a telephone number as people write it, possibly with an extension; a site's
 * address without its scheme.
 */
const EMAIL = /^[^\s@/:?#<>()",;]+@[^\s@/:?#<>()",;]+\.[^\s@/:?#<>()",;.\d]{2,}$/
const PHONE = /^(\+?[(\d][\d ().\-/\u00a0]*?)(?:[ ,;]*(?:ext|extension|x|#)\.? *(\d{1,8}))?$/i
const WEB = /^(?:[\p{L}\d](?:[\p{L}\d-]{0,61}[\p{L}\d])?\.)+\p{L}{2,63}(?::\d+)?(?:[/?#]\S*)?$/u

/** The address that writes to one or several e-mail addresses (RFC 6068). */
function mailtoUrl(value: string): string | undefined {
  const addresses = value.split(/[,;]\s*/)
  return addresses.every((address) => EMAIL.test(address))
    ? `mailto:${addresses.join(',')}`
    : undefined
}

/** The address that calls a number, without spaces (RFC 3966). */
function telUrl(value: string): string | undefined {
  const digits = value.replace(/\p{Nd}/gu, asciiDigit)
  const [, number = '', extension] = PHONE.exec(digits) ?? []
  if (number.replace(/\D/g, '').length < 2) return undefined
  return `tel:${number.replace(/[^\d+().*#-]/g, '')}${extension === undefined ? '' : `;ext=${extension}`}`
}

/**
 * TABLE of the zeros of other digits in use: Arabic, Persian, Devanagari, Bengali, Thai, full
 * width.
 */
const ZEROS = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0xff10]

function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  const zero = ZEROS.find((start) => code >= start && code < start + 10)
  return zero === undefined ? digit : String(code - zero)
}

/** How many folders of an address on a computer are compared with those of the export. */
const MAX_SAVED_DEPTH = 32

/** Resolves the addresses of one page, and records their targets. */
export class Links {
  readonly assets: Asset[] = []
  readonly warnings: Warning[] = []
  /** The keys of the pages that this page links to, in the order of their first links. */
  readonly pages = new Set<string>()
  /**
   * The keys of the pages that it shows as its sub-pages, in order, and how certain each is
   * (order.ts).
   */
  readonly subPages = new Map<string, Certainty>()
  /** The ids of the databases that it shows from their CSV. */
  readonly databases = new Set<string>()
  readonly #folder: string[]
  readonly #archive: Archive | undefined
  readonly #seen = new Set<string>()

  /** @param path the page's path in the archive, decoded, with `/` between folders */
  constructor(path: string, archive?: Archive) {
    this.#folder = path.split('/').slice(0, -1)
    this.#archive = archive
  }

  /**
   * The target of a link or an image; null if it has none, or if a document must not link to it.
   */
  resolve(source: string | undefined, kind: Asset['kind']): string | null {
    if (source === undefined) return null
    const href = this.#exported(source)
    if (href === '' || href === NO_TARGET) return null
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    const scheme = SCHEME.exec(href.replace(/[\u0000-\u0020]/g, ''))?.[1]?.toLowerCase()
    if (scheme !== undefined) {
      if (UNSAFE.has(scheme) && !SAFE_DATA[kind].test(href)) {
        this.warnings.push({
          code: 'link_removed',
          detail: `A link with the scheme "${scheme}:" was removed; its text is kept.`,
        })
        return null
      }
      const key = this.#keyOf(href)
      return key === undefined ? href : this.#page(key, blockOf(href))
    }
    if (href.startsWith('//')) return href
    if (href.startsWith('#')) return blockTarget(decodeOnce(href.slice(1)))
    const key = this.#keyOf(href)
    if (key !== undefined) return this.#page(key, blockOf(href))
    if (WITHIN_NOTION.test(href)) return `https://www.notion.so${href}`
    // A link to the export itself has no target in a document.
    return this.#path(href) === '' ? null : this.#relative(href, kind)
  }

  /** The page of the archive that an address leads to, else an address that others can follow. */
  target(source: string | undefined): { page: string | null; url: string | null } {
    const href = this.#exported(source ?? '')
    const page = this.#keyOf(href)
    if (page !== undefined) return { page, url: null }
    return { page: null, url: /^https?:/i.test(href) ? href : null }
  }

  /** Records that the page shows another one as its sub-page. */
  addSubPage(href: string | undefined, certainty: Certainty): void {
    const key = href === undefined ? undefined : this.#keyOf(this.#exported(href))
    if (key !== undefined) this.addSubPageKey(key, certainty)
  }

  /** The same by the other page's key. */
  addSubPageKey(key: string, certainty: Certainty): void {
    if ((this.subPages.get(key) ?? 0) < certainty) this.subPages.set(key, certainty)
  }

  /** The syntax of callouts; undefined if they are quotes. */
  get callouts(): CalloutStyle | undefined {
    return this.#archive?.callouts
  }

  database(id: string): Database | undefined {
    const database = this.#archive?.database?.(id)
    if (database) this.databases.add(id)
    return database
  }

  #keyOf(href: string): string | undefined {
    const id = (NOTION_PAGE.exec(href) ?? WITHIN_NOTION.exec(href))?.[1]?.replaceAll('-', '')
    if (id !== undefined) return this.#archive?.pageById(id)
    if (!this.#archive || SCHEME.test(href) || href.startsWith('#')) return undefined
    return (
      this.#archive.page(this.#path(href)) ?? this.#archive.page(this.#path(withoutQuery(href)))
    )
  }

  /**
   * An address as browsers read it, within the export. Browsers that save a page write where it was
   * on that computer: it means the page or file of the export with the longest path that this
   * address ends in.
   */
  #exported(source: string): string {
    // Browsers drop these before they read the scheme.
    const href = source.replace(/[\t\n\r]/g, '').trim()
    if (!this.#archive || !/^file:/i.test(href)) return href
    const all = href.split(/[/\\]/)
    for (const segments = all.slice(-MAX_SAVED_DEPTH); segments.length > 0; segments.shift()) {
      const path = segments.join('/')
      const plain = decodeOnce(withoutQuery(path))
      if (this.#archive.page(plain) !== undefined || this.#archive.file(plain) !== undefined)
        return `/${path}`
    }
    return href
  }

  /**
   * The target of an e-mail address in a link without a scheme; undefined if it is not one, or a
   * file has its name.
   */
  mail(href: string): string | undefined {
    return this.#isFile(href) ? undefined : mailtoUrl(decodeOnce(href.trim()))
  }

  /**
   * The target of an e-mail, phone or URL property, which has the typed scheme or none; null if it
   * has no target. It is a file only if a file has its name.
   */
  value(href: string): string | null {
    if (SCHEME.test(href) || this.#isFile(href)) return this.resolve(href, 'file')
    const value = decodeOnce(href.trim())
    return mailtoUrl(value) ?? telUrl(value) ?? (WEB.test(value) ? `https://${value}` : null)
  }

  #isFile(href: string): boolean {
    return this.#archive?.file(this.#path(href)) !== undefined
  }

  /** The substitute for a missing image, if links to missing files lead nowhere: its file name. */
  missing(href: string | undefined): string | null {
    if (!this.#archive?.movesFiles || href === undefined || SCHEME.test(href)) return null
    return this.#path(withoutQuery(href)).split('/').at(-1) || null
  }

  #relative(href: string, kind: Asset['kind']): string | null {
    // A `?` or `#` in a file's name is percent-encoded by the exporter, but not in its sitemap.
    const whole = this.#path(href)
    const query = href.search(/[?#]/)
    const bare = query < 0 ? whole : this.#path(withoutQuery(href))
    const stored = this.#archive?.file(whole) ?? this.#archive?.file(bare)
    const url = this.#url(stored, whole, query < 0 ? '' : encodePath(bare) + href.slice(query))
    const key = url ?? whole
    if (!this.#seen.has(key)) {
      this.#seen.add(key)
      const isPage = kind === 'file' && /\.html?$/i.test(bare)
      if (!isPage)
        this.assets.push({ path: stored ?? bare, kind, in_archive: stored !== undefined })
      if (this.#archive && stored === undefined) {
        this.warnings.push({
          code: isPage ? 'page_missing' : 'asset_missing',
          detail: `"${bare}" is not in the archive.`,
        })
      }
    }
    return url
  }

  /** @param queried the address with its query, empty if it has none */
  #url(stored: string | undefined, whole: string, queried: string): string | null {
    if (this.#archive?.movesFiles) return stored === undefined ? null : fileTarget(stored)
    return stored === undefined && queried !== '' ? queried : encodePath(stored ?? whole)
  }

  #page(key: string, block: string): string {
    this.pages.add(key)
    return pageTarget(key, block)
  }

  /**
   * The path that a relative address means, decoded once, relative to the archive's root. As in a
   * URL, nothing is above the root. A single page is somewhere below its export's root, so its `..`
   * is kept. Encoded text is checked decoded, as readers do.
   */
  #path(href: string): string {
    const path = href.startsWith('/') ? [] : [...this.#folder]
    const segments = href.split('/').filter((segment) => segment !== '.' && segment !== '')
    for (const segment of segments.flatMap((encoded) => decodeOnce(encoded).split('/'))) {
      if (
        segment === '..' &&
        (this.#archive || (path.length > 0 && path[path.length - 1] !== '..'))
      )
        path.pop()
      // Two slashes in a page's title stay; at the beginning, they would lead out of the archive.
      else if (segment !== '' || path.length > 0) path.push(segment)
    }
    return path.join('/')
  }
}

/** An address without its query and its fragment. */
function withoutQuery(href: string): string {
  const query = href.search(/[?#]/)
  return query < 0 ? href : href.slice(0, query)
}

/** Percent-decodes once; an invalid encoding is unchanged. */
export function decodeOnce(source: string): string {
  if (!source.includes('%')) return source
  try {
    return decodeURIComponent(source)
  } catch {
    return source.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
      try {
        return decodeURIComponent(bytes)
      } catch {
        return bytes
      }
    })
  }
}

/**
 * Percent-encodes a path once, including each character that could end or change a Markdown
 * destination.
 */
export function encodePath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment.toWellFormed()).replace(
        /[()*!']/g,
        (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/')
}
