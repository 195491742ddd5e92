// The paths of an export's pages in the folder of pages.
import { createHash } from 'node:crypto'
import { itemAt } from '../../item-at.ts'
import type { Placed } from '../../order.ts'
import { FolderNames, nameOf } from './file-names.ts'
import type { FlavorRules } from './flavors.ts'

/** The inputs of a page's path. */
export interface PathSource {
  /** Its path in the archive. */
  readonly path: string
  readonly id: string | null
  readonly title: string
}

/** The files of one page, relative to the folder's root, with `/` between folders. */
export interface PagePath {
  /** The page itself: `…/Title.md`. */
  readonly page: string
  /** Its database, if it has one. */
  readonly csv: string
}

/**
 * Maximum bytes of a folder's path: deeper pages are put into the folder of the page above. Windows
 * allows 260 characters, of which the path to the folder needs some.
 */
const MAX_FOLDER_BYTES = 150

/**
 * Assigns each page its path: in the folder of its parent, under its title.
 *
 * @param pages by their index
 * @param order the tree; the sitemap, if there is one, is the root page
 * @param sitemap its index, −1 if there is none
 * @returns the paths by the pages' indexes
 */
export function placePages(
  pages: readonly PathSource[],
  order: readonly Placed[],
  sitemap: number,
  rules: FlavorRules,
): Map<number, PagePath> {
  const paths = new Map<number, PagePath>()
  if (sitemap >= 0) paths.set(sitemap, filesOf('', rules.index))
  // Map.groupBy is missing in Node 20.
  const below = new Map<number, Placed[]>()
  for (const placed of order) {
    if (placed.page === sitemap) continue
    const beside = below.get(placed.parent)
    if (beside === undefined) below.set(placed.parent, [placed])
    else beside.push(placed)
  }
  const folders = new Map<string, FolderNames>()
  const open = [{ parents: [-1], folder: '' }]
  for (const { parents, folder } of open) {
    const inside = parents.flatMap((parent) => below.get(parent) ?? [])
    const names = folders.get(folder) ?? new FolderNames(reservedIn(folder, rules))
    folders.set(folder, names)
    const named = names.add(inside.map(({ page }) => wantedName(itemAt(pages, page), rules)))
    const flat: number[] = []
    for (const [i, { page }] of inside.entries()) {
      const name = itemAt(named, i)
      const own = folder === '' ? name : `${folder}/${name}`
      const isParent = below.has(page)
      const hasFolder = isParent && Buffer.byteLength(own) <= MAX_FOLDER_BYTES
      paths.set(
        page,
        hasFolder && rules.parents === 'inside' ? filesOf(own, rules.index) : filesOf(folder, name),
      )
      if (hasFolder) open.push({ parents: [page], folder: own })
      else if (isParent) flat.push(page)
    }
    if (flat.length > 0) open.push({ parents: flat, folder })
  }
  return paths
}

function filesOf(folder: string, name: string): PagePath {
  const stem = folder === '' ? name : `${folder}/${name}`
  return { page: `${stem}.md`, csv: `${stem}.csv` }
}

function wantedName({ title, id, path }: PathSource, rules: FlavorRules) {
  return { name: nameOf(title, rules.names), key: id ?? digest(path) }
}

/** Replaces a missing page id. */
function digest(path: string): string {
  return createHash('sha256').update(path.normalize('NFC')).digest('hex').slice(0, 32)
}

/**
 * Names that pages must not have: those of index pages, which sites and repositories show instead
 * of a folder, and of the folder itself, which Docusaurus treats as one.
 */
function reservedIn(folder: string, rules: FlavorRules): string[] {
  const own = folder.slice(folder.lastIndexOf('/') + 1)
  return ['README', 'index', ...(folder === '' ? [rules.assets, rules.index] : [own])]
}
