// The tree and the order of converted pages, and the lookup of pages for links.
import type { PageSummary } from './converted-page.ts'
import { orderPages, type Placed } from './order.ts'
import type { SitemapEntry } from './sitemap.ts'

/** Pages in their order. */
export interface Arrangement {
  order: Placed[]
  /** The index of the page for a link's key. */
  indexOf(key: string): number | undefined
  /**
   * The name of a page, preceded by its icon (or `label`, if it already shows the key's page);
   * undefined if there is no such page.
   */
  nameOf(key: string, label: string): string | undefined
}

/**
 * Arranges pages.
 *
 * @param keyOf the key under which links name the page at a path
 * @param sitemap the index of the sitemap, −1 if there is none
 */
export function arrangePages(
  pages: readonly PageSummary[],
  keyOf: (path: string) => string,
  sitemap: number,
): Arrangement {
  const byKey = new Map(
    pages.flatMap(({ path, aliases }, i) => [path, ...aliases].map((at) => [keyOf(at), i])),
  )
  const indexOf = (key: string): number[] => [byKey.get(key) ?? []].flat()
  const linked = pages.map(({ path, links, subPages }) => ({
    path,
    links: links.flatMap(indexOf),
    subPages: subPages.flatMap(([key, certainty]) =>
      indexOf(key).map((page) => ({ page, certainty })),
    ),
  }))
  const pageOf = (key: string): number | undefined =>
    indexOf(key).find((index) => {
      const page = pages[index]
      return page !== undefined && keyOf(page.path) === key
    })
  const listedIn = (index: number): Placed[] =>
    listedPages(pages[index]?.sitemap?.entries ?? [], pageOf)
  // Those of other exports in the archive are pages.
  const others = [...pages.keys()].filter((i) => i !== sitemap && pages[i]?.sitemap !== undefined)
  const order = orderPages(linked, sitemap, [
    ...listedIn(sitemap),
    ...others.flatMap((page) => [{ page, parent: -1 }, ...listedIn(page)]),
  ])
  return {
    order,
    indexOf: (key) => byKey.get(key),
    nameOf(key, label) {
      const page = pages[byKey.get(key) ?? -1]
      if (!page) return undefined
      if (keyOf(page.path) !== key) return label
      return page.icon === null ? page.title : `${page.icon} ${page.title}`
    },
  }
}

/** The pages that a sitemap lists, each under its nearest ancestor in the archive. */
function listedPages(
  entries: readonly SitemapEntry[],
  indexOf: (key: string) => number | undefined,
): Placed[] {
  const placed: Placed[] = []
  const open = entries.map((entry) => ({ entry, parent: -1 })).toReversed()
  for (let next = open.pop(); next; next = open.pop()) {
    const { entry, parent } = next
    const page = entry.page === null ? undefined : indexOf(entry.page)
    if (page !== undefined) placed.push({ page, parent })
    for (const below of entry.below.toReversed())
      open.push({ entry: below, parent: page ?? parent })
  }
  return placed
}
