// The reader's order of an archive's pages: a page, then its sub-pages in the order in which it links to them; what nothing
// links to, after that by path.

/** What the order depends on. */
export interface Linked {
  path: string
  /** Indexes of the pages that it links to, in order. */
  links: readonly number[]
}

/** A place in the order: which page, and under which other it stands (−1: under none). */
export interface Placed {
  page: number
  parent: number
}

/**
 * Orders pages.
 *
 * A page belongs to the one whose folder it lies in (`A h.html` owns what is in `A h/`), where that one links to it; else
 * to the first that links to it. Pages in a cycle are entered by path.
 *
 * @param sitemap the index of the sitemap, which comes first and is nobody's parent; −1 if there is none
 */
export function orderPages(pages: readonly Linked[], sitemap: number): Placed[] {
  const owners = ownersOf(pages)
  const linksOf = pages.map((page) => new Set(page.links))
  const claimed = owners.map((owner, page) => owner >= 0 && linksOf[owner]!.has(page))
  const linked = new Set(pages.flatMap((page) => page.links))
  const byPath = pages.map((_, page) => page).sort((a, b) => (pages[a]!.path < pages[b]!.path ? -1 : 1))
  const placed: Placed[] = []
  const seen = new Set<number>()

  const visit = (root: number) => {
    if (seen.has(root)) return
    const open = [{ page: root, at: 0 }]
    seen.add(root)
    placed.push({ page: root, parent: root === sitemap ? -1 : owners[root]! })
    while (open.length > 0) {
      const top = open[open.length - 1]!
      const next = pages[top.page]!.links[top.at++]
      if (next === undefined) open.pop()
      else if (!seen.has(next) && (owners[next] === top.page || !claimed[next])) {
        seen.add(next)
        const owner = owners[next]!
        placed.push({ page: next, parent: owner >= 0 || top.page === sitemap ? owner : top.page })
        open.push({ page: next, at: 0 })
      }
    }
  }

  if (sitemap >= 0) visit(sitemap)
  const top = byPath.filter((page) => owners[page]! < 0)
  for (const page of top) if (!linked.has(page)) visit(page)
  for (const page of top) visit(page)
  for (const page of byPath) visit(page)
  return placed
}

/** For each page the nearest one above it in the folders, or −1. */
function ownersOf(pages: readonly Linked[]): number[] {
  const byFolder = new Map(pages.map((page, i) => [page.path.replace(/\.html?$/i, ''), i]))
  return pages.map((page, i) => {
    for (let slash = page.path.lastIndexOf('/'); slash > 0; slash = page.path.lastIndexOf('/', slash - 1)) {
      const owner = byFolder.get(page.path.slice(0, slash))
      if (owner !== undefined && owner !== i) return owner
    }
    return -1
  })
}
