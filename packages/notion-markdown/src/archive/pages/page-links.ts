// Links of a page in the folder of pages: relative addresses of pages, headings and files.
import { itemAt } from '../../item-at.ts'
import { Anchors, BlockAnchors } from '../../anchors.ts'
import { encodePath, keyOfTarget, MARKER } from '../../links.ts'
import type { PageSummary } from '../../converted-page.ts'
import type { Outline } from '../../markdown.ts'
import type { FlavorRules } from './flavors.ts'

/** The targets of links. */
export interface LinkTargets {
  readonly rules: FlavorRules
  readonly pages: readonly PageSummary[]
  /** The index of the page with this key. */
  readonly indexOf: (key: string) => number | undefined
  /** The path of the page with an index. */
  readonly pathOf: (index: number) => string
  /** The path of an exported file, by its stored path. */
  readonly filePath: (stored: string) => string | undefined
}

/** The kind of a link's target. */
interface Target {
  /** Relative to the folder's root; null if it is the page itself. */
  readonly path: string | null
  readonly anchor: string | null
}

/** Number of first characters of a line that tell whether it is a row of a table. */
const HEAD_CHARS = 2000
/** A row of a table, even inside quotes or a list item. */
const ROW = /^(?:[>\s]|[-*+]\s|\d+[.)]\s)*\| /
/** A link's text that a wiki link can show: nothing in it has a meaning in either syntax. */
const PLAIN_LABEL = /^[^[\]|\\`*_<>$~!#^%&\n]+$/

/** Resolves the markers of pages. */
export class PageLinks {
  readonly #targets: LinkTargets
  /** The anchors of other pages' blocks, for the most recently used pages. */
  readonly #blocks = new Map<number, ReadonlyMap<string, string>>()
  /** The anchors of the most recently used page, which each of its links needs. */
  #last: { readonly index: number; readonly anchors: readonly string[] } | null = null

  constructor(targets: LinkTargets) {
    this.#targets = targets
  }

  /** The text of the page with this index, every link in it resolved. */
  resolve(markdown: string, index: number): string {
    if (!markdown.includes(MARKER)) return markdown
    const { rules, pages } = this.#targets
    const { outline } = itemAt(pages, index)
    const anchors = new BlockAnchors(outline, this.#anchorsOf(index))
    const parts = markdown.split(MARKER)
    let head = ''
    for (let i = 1; i < parts.length; i += 2) {
      head = headOf(head, itemAt(parts, i - 1))
      if (itemAt(parts, i).startsWith('slug/')) {
        parts[i] = this.#anchorsOf(index)[Number(itemAt(parts, i).slice(5))] ?? ''
        continue
      }
      const target = this.#targetOf(itemAt(parts, i), anchors, index)
      const isPage = itemAt(parts, i).startsWith('page/')
      const label =
        rules.links === 'wiki' && isPage
          ? wikiLabel(itemAt(parts, i - 1), itemAt(parts, i + 1))
          : null
      const place = label === null ? null : this.#wikiPlace(target, index)
      if (label === null || place === null) {
        parts[i] = this.#address(target, index)
        continue
      }
      parts[i - 1] = itemAt(parts, i - 1).slice(0, -label.length - 3)
      parts[i] = `[[${place}${ROW.test(head) ? '\\' : ''}|${label}]]`
      parts[i + 1] = itemAt(parts, i + 1).slice(1)
    }
    return parts.join('')
  }

  /** The address for one marker in a text; other texts stay unchanged. */
  address(url: string, index: number): string {
    return url.startsWith(MARKER)
      ? this.#address(this.#targetOf(url.slice(1, -1), null, index), index)
      : url
  }

  /** The id of the page of a marker; null if there is no page, or it has no id. */
  pageId(url: string): string | null {
    const key = keyOfTarget(url)
    const index = key === null ? undefined : this.#targets.indexOf(key)
    return index === undefined ? null : itemAt(this.#targets.pages, index).id
  }

  #targetOf(marker: string, anchors: BlockAnchors | null, from: number): Target {
    const { indexOf, filePath, rules } = this.#targets
    const [kind, ...names] = marker.split('/')
    const [name = '', second = ''] = names.map(decodeURIComponent)
    if (kind === 'file') return { path: filePath(name) ?? null, anchor: null }
    if (kind === 'page') {
      const index = indexOf(name) ?? from
      const anchor = second === '' ? null : (this.#blocksOf(index).get(second) ?? null)
      if (index !== from) return { path: this.#targets.pathOf(index), anchor }
      return { path: null, anchor }
    }
    const anchor = anchors?.slugOf(name, second) ?? null
    // A block without a heading of its own is reached through its page. Sites give its title no id.
    return {
      path: null,
      anchor: anchor ?? (rules.isSite ? null : (this.#anchorsOf(from)[0] ?? null)),
    }
  }

  #address({ path, anchor }: Target, from: number): string {
    const { rules, pathOf } = this.#targets
    const fragment =
      anchor === null ? '' : `#${rules.anchors === 'slug' ? anchor : encodePath(anchor)}`
    if (path === null && anchor !== null) return fragment
    return relativeUrl(pathOf(from), path ?? pathOf(from)) + fragment
  }

  /** The target of a wiki link; null if it could begin an equation or code. */
  #wikiPlace({ path, anchor }: Target, from: number): string | null {
    const file = path ?? (anchor === null ? this.#targets.pathOf(from) : '')
    const page = file.replace(/\.md$/, '')
    const place = anchor === null ? page : `${page}#${anchor}`
    return /[`$]/.test(place) ? null : place
  }

  /** The names of a page's headings in addresses. */
  #anchorsOf(index: number): readonly string[] {
    if (this.#last?.index !== index) this.#last = { index, anchors: this.#makeAnchors(index) }
    return this.#last.anchors
  }

  #makeAnchors(index: number): string[] {
    const { outline } = itemAt(this.#targets.pages, index)
    const { rules } = this.#targets
    if (rules.isSite) return siteAnchors(outline)
    if (rules.anchors === 'slug') return new Anchors().ofPage(outline)
    return outline.map(({ text }) =>
      text
        .replace(/[#|^:%[\]\\]|\s+/g, ' ')
        .replace(/ {2,}/g, ' ')
        .trim(),
    )
  }

  #blocksOf(index: number): ReadonlyMap<string, string> {
    const known = this.#blocks.get(index)
    if (known) return known
    const anchors = this.#makeAnchors(index)
    const blocks = new Map(
      itemAt(this.#targets.pages, index).outline.flatMap(({ id }, i) =>
        id === null ? [] : [[id.replaceAll('-', '').toLowerCase(), itemAt(anchors, i)] as const],
      ),
    )
    if (this.#blocks.size >= 1000) this.#blocks.clear()
    this.#blocks.set(index, blocks)
    return blocks
  }
}

/**
 * The anchors of headings on a site: it makes those of headings written in Markdown itself. Others
 * get ours, which must differ from all of those.
 */
function siteAnchors(outline: readonly Outline[]): string[] {
  const anchors = new Anchors()
  const slugs = new Map(
    [false, true].flatMap((isOwn) => {
      const headings = outline.filter(({ hasOwnId = false }) => hasOwnId === isOwn)
      const own = anchors.ofPage(headings)
      return headings.map((heading, i) => [heading, itemAt(own, i)] as const)
    }),
  )
  return outline.map((heading) => slugs.get(heading) ?? '')
}

/** The beginning of the last line of a text, which may begin in `before`. */
function headOf(before: string, text: string): string {
  const line = text.lastIndexOf('\n')
  const head =
    line < 0 ? before + text.slice(0, HEAD_CHARS) : text.slice(line + 1, line + HEAD_CHARS)
  return head.slice(0, HEAD_CHARS)
}

/** The text of the link around a marker, if a wiki link can show it. */
function wikiLabel(before: string, after: string): string | null {
  if (!before.endsWith('](') || !after.startsWith(')')) return null
  const open = before.lastIndexOf('[')
  const label = before.slice(open + 1, -2)
  if (open < 0 || !PLAIN_LABEL.test(label) || /[!\\]$/.test(before.slice(0, open))) return null
  return label
}

/**
 * The relative address of a file for a link in another one; both paths are relative to the same
 * root.
 */
export function relativeUrl(from: string, to: string): string {
  const folder = from.split('/').slice(0, -1)
  const segments = to.split('/')
  let common = 0
  while (
    common < folder.length &&
    common < segments.length - 1 &&
    folder[common] === segments[common]
  )
    common++
  return '../'.repeat(folder.length - common) + encodePath(segments.slice(common).join('/'))
}
