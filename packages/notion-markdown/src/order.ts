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
 * to the one that links to it nearest to where the document begins. Pages without links in or out come last.
 *
 * @param sitemap the index of the sitemap, which comes first and is nobody's parent; −1 if there is none
 */
export function orderPages(pages: readonly Linked[], sitemap: number): Placed[] {
  const owners = ownersOf(pages)
  const linksOf = pages.map((page) => new Set(page.links))
  /** The page that a page stands under whoever else links to it, or −1. */
  const claims = owners.map((owner, page) => (owner >= 0 && linksOf[owner]!.has(page) ? owner : -1))
  const children: number[][] = pages.map(() => [])
  const seen = new Set<number>()
  const placed: Placed[] = []

  /** Adds a page and everything that it leads to: found by breadth, so that the nearest link counts, and placed by depth. */
  const add = (root: number) => {
    if (seen.has(root)) return
    seen.add(root)
    const found = [root]
    for (const page of found) {
      for (const next of linksOf[page]!) {
        if (seen.has(next) || (claims[next] !== -1 && claims[next] !== page)) continue
        seen.add(next)
        children[page]!.push(next)
        found.push(next)
      }
    }
    const open: Placed[] = [{ page: root, parent: root === sitemap ? -1 : owners[root]! }]
    for (let top = open.pop(); top; top = open.pop()) {
      placed.push(top)
      const parent = top.page
      for (const page of children[parent]!.toReversed()) open.push({ page, parent: parent === sitemap ? owners[page]! : parent })
    }
  }

  if (sitemap >= 0) add(sitemap)
  const byPath = pages.map((_, page) => page).sort((a, b) => (pages[a]!.path < pages[b]!.path ? -1 : 1))
  const leading = byPath.filter((page) => owners[page]! < 0 && pages[page]!.links.length > 0)
  const entered = enteredFrom(pages, owners)
  for (const page of leading) if (!entered.has(page)) add(page)
  for (const page of leading) add(page)
  for (const page of byPath) add(page)
  return placed
}

/** The pages to which one leads that does not lie in their folders: no page is entered through its own sub-pages. */
function enteredFrom(pages: readonly Linked[], owners: readonly number[]): Set<number> {
  const entered = new Set<number>()
  pages.forEach((page, from) => {
    let root = from
    while (owners[root]! >= 0) root = owners[root]!
    for (const to of page.links) if (to !== root && to !== from) entered.add(to)
  })
  return entered
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
