// Anchors: gives each heading of a document a slug, and fills in every link to one.
import GithubSlugger from 'github-slugger'
import { itemAt } from './item-at.ts'
import { MARKER } from './links.ts'
import type { Outline } from './markdown.ts'
import { isPartMark } from './source-marks.ts'

/**
 * Assigns the slugs of a document's headings, in order, as GitHub does; a repeated text gets `-1`.
 */
export class Anchors {
  readonly #slugger = new GithubSlugger()

  /** The slugs of one page's headings; the first is the page's own. */
  ofPage(outline: readonly Outline[]): string[] {
    return outline.map((heading) => this.#slugger.slug(heading.text))
  }
}

/**
 * The headings with the same text and no ids, in order: a table of contents lists them in the same
 * order.
 */
interface UniqueSlugs {
  slugs: string[]
  /** How many of them have been linked. */
  taken: number
}

/** Finds the heading of a page that a link to a block means. */
export class BlockAnchors {
  readonly #byId = new Map<string, string>()
  readonly #byText = new Map<string, UniqueSlugs>()

  /** @param slugs the slugs of `outline`'s headings */
  constructor(outline: readonly Outline[], slugs: readonly string[]) {
    outline.forEach((heading, i) => {
      if (heading.id) this.#byId.set(heading.id, itemAt(slugs, i))
      else if (i > 0 && heading.text !== '') {
        const uniqueSlugs = this.#byText.get(heading.text)
        if (uniqueSlugs) uniqueSlugs.slugs.push(itemAt(slugs, i))
        else this.#byText.set(heading.text, { slugs: [itemAt(slugs, i)], taken: 0 })
      }
    })
  }

  /**
   * The slug of the heading with this id; else that of the next heading without an id with this
   * text, the same one for the same id.
   */
  slugOf(id: string, text: string): string | undefined {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const uniqueSlugs = this.#byText.get(text)
    const slug = uniqueSlugs?.slugs[uniqueSlugs.taken++] ?? uniqueSlugs?.slugs[0]
    if (slug !== undefined && id !== '') this.#byId.set(id, slug)
    return slug
  }
}

/**
 * Fills in the addresses of links to blocks and pages. The marks of parts stay (source-marks.ts).
 *
 * @param slugs the slugs of `outline`'s headings
 * @param pageSlug the slug of the page with this key; undefined if there is no such page
 */
export function resolveTargets(
  markdown: string,
  outline: readonly Outline[],
  slugs: readonly string[],
  pageSlug: (key: string) => string | undefined,
): string {
  if (!markdown.includes(MARKER)) return markdown
  const anchors = new BlockAnchors(outline, slugs)
  const parts = markdown.split(MARKER)
  for (let i = 1; i < parts.length; i += 2) {
    if (isPartMark(itemAt(parts, i))) {
      parts[i] = `${MARKER}${itemAt(parts, i)}${MARKER}`
      continue
    }
    const [kind, ...names] = itemAt(parts, i).split('/')
    const [name = '', text = ''] = names.map(decodeURIComponent)
    const slug = kind === 'page' ? pageSlug(name) : anchors.slugOf(name, text)
    // A block without a heading of its own is reached through its page.
    parts[i] = `#${slug ?? slugs[0] ?? ''}`
  }
  return parts.join('')
}
