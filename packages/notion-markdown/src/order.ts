// The tree of an export's pages, and the reader's order of them: a page, then its sub-pages.
import { itemAt } from './item-at.ts'

/** A page that another shows as its sub-page: as a block, or as a row of a database. */
export interface SubPage {
  page: number
  certainty: Certainty
}

/**
 * How certain it is: 3 for a sub-page's block or a database's own page, 2 for a table inside a page
 * (which may be a view of a database elsewhere), 1 for a title in a database's CSV.
 */
export type Certainty = 1 | 2 | 3

/** The inputs of the tree and the order. */
export interface Linked {
  path: string
  /** Indexes of all pages that it links to, in order; these do not affect the tree. */
  links: readonly number[]
  /** In order. */
  subPages: readonly SubPage[]
}

/** A page of the sitemap, and the page under which it is listed (−1: none). */
export interface Placed {
  page: number
  parent: number
}

const NO_PAGES: ReadonlySet<number> = new Set()
const ID = /[ _-]?[0-9a-f]{32}$/i

/**
 * Orders pages.
 *
 * A page's parent is the page whose folder it is in (`A h.html` owns `A h/`, and `A/` if exporters
 * leave ids out of folders' names); in an export without folders, the page that has its block or
 * row; else the page under which the sitemap lists it. Sub-pages are in the order of their blocks,
 * then of other links to them, then of the sitemap, then of their paths. Pages without a parent are
 * in the sitemap's order; without a sitemap, those with sub-pages come first.
 *
 * @param sitemap the index of the sitemap, which comes first and is no page's parent; −1 if there
 *   is none
 * @param listed the entries of the sitemap, in order
 */
export function orderPages(
  pages: readonly Linked[],
  sitemap: number,
  listed: readonly Placed[] = [],
): Placed[] {
  const parents = findParents(pages, sitemap, listed)
  const children: number[][] = pages.map(() => [])
  parents.forEach((parent, page) => void (parent >= 0 && itemAt(children, parent).push(page)))
  const listedAt = createRank(listed.map(({ page }) => page))
  const pathAt = createRank(byPath(pages))
  const compare = (a: number, b: number): number =>
    listedAt(a) - listedAt(b) || pathAt(a) - pathAt(b)
  pages.forEach(({ subPages, links }, page) => {
    if (itemAt(children, page).length < 2) return
    const shownAt = createRank([...subPages.map((one) => one.page), ...links])
    itemAt(children, page).sort((a, b) => shownAt(a) - shownAt(b) || compare(a, b))
  })
  const hasChildren = (page: number): number => Number(itemAt(children, page).length > 0)
  const roots = byPath(pages).filter((page) => itemAt(parents, page) < 0 && page !== sitemap)
  roots.sort(
    (a, b) => listedAt(a) - listedAt(b) || hasChildren(b) - hasChildren(a) || pathAt(a) - pathAt(b),
  )

  const placed: Placed[] = sitemap >= 0 ? [{ page: sitemap, parent: -1 }] : []
  const open = roots.toReversed()
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    placed.push({ page, parent: itemAt(parents, page) })
    for (const child of itemAt(children, page).toReversed()) open.push(child)
  }
  return placed
}

/** Ranks pages by their first place in a list; those that are not in it come last. */
function createRank(list: readonly number[]): (page: number) => number {
  const ranks = new Map<number, number>()
  for (const page of list) if (!ranks.has(page)) ranks.set(page, ranks.size)
  return (page) => ranks.get(page) ?? Number.MAX_SAFE_INTEGER
}

function byPath(pages: readonly Linked[]): number[] {
  return pages
    .map((_, page) => page)
    .sort((a, b) => (itemAt(pages, a).path < itemAt(pages, b).path ? -1 : 1))
}

/** What speaks for each parent of a page. */
interface Evidence {
  /** The pages that show it as a sub-page, and the most certain of them. */
  shownBy: readonly number[]
  strongest: readonly number[]
  /** The pages that show it as a row of their own table. */
  tables: readonly number[]
  linkers: readonly number[]
  /** The page under which the sitemap lists it: −1 for none, undefined if it is not listed. */
  listedUnder: number | undefined
}

function findParents(
  pages: readonly Linked[],
  sitemap: number,
  listed: readonly Placed[],
): number[] {
  const evidence = gatherEvidence(pages, sitemap, listed)
  const owners = findFolderOwners(pages, sitemap)
  const hasFolders = owners.some((owned) => owned.owners.size > 0)
  const parents = hasFolders
    ? pages.map((_, page) =>
        folderParent(page, itemAt(owners, page), itemAt(evidence, page), pages),
      )
    : shownParents(
        pages,
        evidence,
        listed.some(({ parent }) => parent >= 0),
      )
  addSitemapParents(parents, listed)
  return parents
}

/**
 * If neither folders nor blocks give a parent, the sitemap does, unless a page would become its own
 * ancestor.
 */
function addSitemapParents(parents: number[], listed: readonly Placed[]): void {
  const tops = [...parents]
  const topOf = (page: number): number => {
    let top = page
    while (itemAt(tops, top) >= 0) top = itemAt(tops, top)
    // Path compression, because long chains would otherwise take quadratic time.
    for (let at = page; at !== top;) {
      const next = itemAt(tops, at)
      tops[at] = top
      at = next
    }
    return top
  }
  for (const { page, parent } of listed) {
    if (parents[page] !== -1 || parent < 0 || topOf(parent) === page) continue
    parents[page] = parent
    tops[page] = topOf(parent)
  }
}

function gatherEvidence(
  pages: readonly Linked[],
  sitemap: number,
  listed: readonly Placed[],
): Evidence[] {
  const shownBy: Map<number, Certainty>[] = pages.map(() => new Map())
  const linkers: number[][] = pages.map(() => [])
  pages.forEach(({ subPages, links }, by) => {
    if (by === sitemap) return
    for (const { page, certainty } of subPages) {
      if (page !== by && (itemAt(shownBy, page).get(by) ?? 0) < certainty)
        itemAt(shownBy, page).set(by, certainty)
    }
    for (const page of links) itemAt(linkers, page).push(by)
  })
  const listedUnder = new Map(listed.map(({ page, parent }) => [page, parent]))
  return pages.map((_, page) => {
    const all = [...itemAt(shownBy, page)]
    const most = all.reduce((highest, [, certainty]) => Math.max(highest, certainty), 0)
    const pagesOf = (some: typeof all): number[] => some.map(([by]) => by)
    return {
      shownBy: pagesOf(all),
      strongest: pagesOf(all.filter(([, certainty]) => certainty === most)),
      tables: pagesOf(all.filter(([, certainty]) => certainty < 3)),
      linkers: itemAt(linkers, page),
      listedUnder: listedUnder.get(page),
    }
  })
}

/** The owners of a page's folder. */
interface Owners {
  /** Several if ids are left out and titles are equal; none if no page owns a folder above. */
  owners: ReadonlySet<number>
  /** Whether the page is directly in that folder, not in a folder without an owner inside it. */
  isDirect: boolean
}

/** For each page the nearest owned folder above it. */
function findFolderOwners(pages: readonly Linked[], sitemap: number): Owners[] {
  const byName = new Map<string, Set<number>>()
  const byTitle = new Map<string, Set<number>>()
  // A folder is looked up only if a name has its length, because hashing every folder above a page
  // takes quadratic time in the length of its path.
  const lengths = new Set<number>()
  pages.forEach(({ path }, page) => {
    if (page === sitemap) return
    const name = path.normalize('NFC').replace(/\.(?:html?|csv)$/i, '')
    for (const [map, key] of [
      [byName, name],
      [byTitle, name.replace(ID, '')],
    ] as const) {
      lengths.add(key.length)
      const same = map.get(key)
      if (same) same.add(page)
      else map.set(key, new Set([page]))
    }
  })
  return pages.map(({ path }) => {
    const folder = folderOf(path.normalize('NFC'))
    for (let end = folder.length; end > 0; end = folder.lastIndexOf('/', end - 1)) {
      if (!lengths.has(end)) continue
      const above = folder.slice(0, end)
      const owners = byName.get(above) ?? byTitle.get(above)
      if (owners) return { owners, isDirect: end === folder.length }
    }
    return { owners: NO_PAGES, isDirect: false }
  })
}

/**
 * The parent that the folders give a page. If a folder may belong to several pages, the page that
 * shows it (of several, the one that the sitemap names), else the one that the sitemap names, else
 * the one that links to it. If it belongs to none, a page beside it that shows the page, unless the
 * owner of the folder above does.
 */
function folderParent(
  page: number,
  { owners, isDirect }: Owners,
  { shownBy, strongest, tables, linkers, listedUnder }: Evidence,
  pages: readonly Linked[],
): number {
  const isOwner = (other: number): boolean => owners.has(other)
  // If its own folder has no owner, it belongs to a database without a page: the page that shows
  // its row shows that database.
  const showing = (isDirect ? shownBy : [...tables, ...shownBy]).filter(isOwner)
  const best = showing.find((by) => by === listedUnder) ?? showing[0]
  const [first = -1] = owners
  const named =
    listedUnder !== undefined && isOwner(listedUnder) ? listedUnder : linkers.find(isOwner)
  const owner = best ?? named ?? first
  const folder = folderOf(itemAt(pages, page).path)
  if (isDirect || best !== undefined || folder === '') return owner
  return strongest.find((by) => folderOf(itemAt(pages, by).path) === folderOf(folder)) ?? owner
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/**
 * Parents in an export whose pages are in one folder, found breadth-first from the pages that no
 * other shows.
 *
 * @param isNested whether the sitemap distinguishes sub-pages
 */
function shownParents(
  pages: readonly Linked[],
  evidence: readonly Evidence[],
  isNested: boolean,
): number[] {
  const candidates = evidence.map(({ strongest, shownBy, listedUnder }) => {
    if (!isNested || listedUnder === undefined) return new Set(strongest)
    if (listedUnder === -1) return new Set<number>()
    return new Set(shownBy.includes(listedUnder) ? [listedUnder] : strongest)
  })
  const parents = pages.map(() => -1)
  const seen = new Set<number>()
  const reach = (root: number) => {
    if (seen.has(root)) return
    seen.add(root)
    const found = [root]
    for (const page of found) {
      for (const { page: next } of itemAt(pages, page).subPages) {
        if (seen.has(next) || !itemAt(candidates, next).has(page)) continue
        seen.add(next)
        parents[next] = page
        found.push(next)
      }
    }
  }
  const order = byPath(pages)
  for (const page of order) if (itemAt(candidates, page).size === 0) reach(page)
  // The remaining pages show each other in cycles: begin with the one that shows most.
  for (const page of order.toSorted(
    (a, b) => itemAt(pages, b).subPages.length - itemAt(pages, a).subPages.length,
  ))
    reach(page)
  return parents
}
