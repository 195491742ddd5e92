// Generated workspaces, exported as Notion does, with the tree that they were made from.
import { zip } from '../support/zip.ts'

/**
 * A page, or a database; an inline one has no page of its own: its rows belong to the page that
 * shows it.
 */
interface Item {
  kind: 'page' | 'table' | 'inline table' | 'inline csv' | 'csv'
  id: string
  title: string
  below: Item[]
}

/** How a workspace was exported. */
export interface Shape {
  /** Whether sub-pages lie in folders, and what these are called. */
  folders: 'with ids' | 'without ids' | 'none'
  sitemap: boolean
  parts: number
  /** The folder around everything. */
  top: '' | 'Private & Shared/'
}

/** A workspace: its export, and what the document must say of its pages, in order. */
export interface Workspace {
  shape: Shape
  archive: Buffer
  pages: { id: string; parent_id: string | null }[]
}

const TITLES = [
  'Notes',
  'Plan',
  'Ideen für später',
  'Größe: 10.5 / 20',
  '日本語',
  'Ärger?',
  '',
  'A title that is much longer than the fifty characters which files keep of it',
  'Aardvark',
  'zebra',
]

/** Generates one workspace. @param random numbers from 0 to 1 */
export function workspace(random: () => number): Workspace {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const shape: Shape = {
    folders: pick(['with ids', 'without ids', 'none']),
    sitemap: random() < 0.5,
    parts: pick([0, 1, 2, 3]),
    top: pick(['', 'Private & Shared/']),
  }
  let left = 2 + Math.floor(random() * 14)
  const newId = (): string =>
    Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  const item = (kind: Item['kind'], depth: number, isInCsv = false): Item => {
    left--
    const id = newId()
    // Two databases in one folder of the same name could not be told apart without ids.
    const title =
      kind === 'page'
        ? (isInCsv ? `${id.slice(0, 6)} ` : '') + pick(TITLES)
        : `Tasks ${id.slice(0, 6)}`
    const below: Item[] = []
    const goesOn = (): boolean => left > 0 && depth < 5 && random() < (kind === 'page' ? 0.6 : 0.7)
    while (goesOn()) {
      // A CSV names its rows by their titles alone: they are unlike all others.
      below.push(item(kind === 'page' ? kindBelow() : 'page', depth + 1, kind.endsWith('csv')))
    }
    return { kind, id, title, below }
  }
  const kindBelow = (): Item['kind'] => {
    const kind = pick<Item['kind']>([
      'page',
      'page',
      'page',
      'table',
      'inline table',
      'inline csv',
      'csv',
    ])
    // Nothing but a folder of one page, or the sitemap, tells whose a database without a page and a
    // block is.
    return kind === 'csv' && !shape.sitemap && shape.folders !== 'with ids' ? 'page' : kind
  }
  const roots = [item('page', 0)]
  // Only the sitemap orders what stands beside each other at the top.
  const isWorkspace = (): boolean => shape.sitemap && left > 0
  while (isWorkspace()) roots.push(item('page', 0))
  return {
    shape,
    archive: exportOf(roots, shape, random),
    pages: roots.flatMap((root) => placesOf(root, null, shape)),
  }
}

const isInline = ({ kind }: Item): boolean => kind === 'inline table' || kind === 'inline csv'

/**
 * The pages below an item in the reader's order: databases that nothing links to come last, by path
 * where no sitemap orders them.
 */
function placesOf(item: Item, parent: string | null, shape: Shape): Workspace['pages'] {
  if (isInline(item)) return item.below.flatMap((row) => placesOf(row, parent, shape))
  const unlinked = item.below.filter(({ kind }) => kind === 'csv')
  if (!shape.sitemap) unlinked.sort((a, b) => (a.title < b.title ? -1 : 1))
  const below = [...item.below.filter(({ kind }) => kind !== 'csv'), ...unlinked]
  return [
    { id: item.id, parent_id: parent },
    ...below.flatMap((one) => placesOf(one, item.id, shape)),
  ]
}

const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

function exportOf(roots: readonly Item[], shape: Shape, random: () => number): Buffer {
  const files: Record<string, string> = {}
  const paths = new Map<Item, string>()
  const shortOf = ({ title }: Item): string =>
    (
      title
        .replace(/[:/.?"]/g, ' ')
        .replace(/ +/g, ' ')
        .slice(0, 50)
        .trim() || 'Untitled'
    ).normalize('NFD')
  const place = (item: Item, folder: string): void => {
    const name = `${folder}${shortOf(item)} ${item.id}`
    paths.set(item, name)
    const inside =
      shape.folders === 'none'
        ? folder
        : `${shape.folders === 'with ids' ? name : folder + shortOf(item)}/`
    for (const below of item.below) place(below, inside)
  }
  for (const root of roots) place(root, shape.top)
  const all = [...paths.keys()]
  const insideOf = (item: Item): string =>
    `${shape.folders === 'with ids' ? paths.get(item)! : paths.get(item)!.slice(0, -33)}/`
  const hasFolders =
    shape.folders !== 'none' && roots.some((root) => ownPagesOf(root).some((one) => !isInline(one)))
  const write = (item: Item): void => {
    const path = paths.get(item)!
    const up = '../'.repeat(path.split('/').length - 1)
    const href = (to: Item): string => encode(`${up}${paths.get(to)!}.html`)
    const own = (to: Item): string =>
      `<figure id="u" class="link-to-page"><a href="${href(to)}">${to.title}</a></figure>`
    const readable = all.filter(
      (other) => other !== item && !isInline(other) && other.kind !== 'csv',
    )
    const anyOf = (items: readonly Item[]): Item | undefined =>
      items[Math.floor(random() * items.length)]
    const relation = (): string => {
      const to = random() < 0.3 ? anyOf(readable) : undefined
      return to ? `<a href="${href(to)}">${to.title}</a>` : ''
    }
    const table = (rows: readonly Item[]): string =>
      `<table class="collection-content"><thead><tr><th>Name</th><th><span class="icon property-icon"><svg class="typesRelation"></svg></span>Related</th></tr></thead><tbody>${rows.map((row) => `<tr id="u"><td class="cell-title"><a href="${href(row)}">${row.title || 'Untitled'}</a></td><td class="cell-rel">${relation()}</td></tr>`).join('')}</tbody></table>`
    const csv = (rows: readonly Item[]): string =>
      `\ufeffName,Status\n${rows.map(({ title }) => `"${title.replaceAll('"', '""')}",Done\n`).join('')}`
    const mention = (): string => {
      const to = random() < 0.5 ? anyOf(readable) : undefined
      return to ? `<p id="u">see <a href="${href(to)}">that</a></p>` : ''
    }
    // Blocks that show pages of others, as sub-pages are shown: only folders tell them apart. Of
    // its own, nothing tells which of two blocks is the page's.
    const ownPages = ownPagesOf(item)
    // Without ids the folders of namesakes are one: then only the sitemap says whose a page is that
    // both show.
    const isBelowNamesake = (other: Item): boolean =>
      !shape.sitemap &&
      paths.get(other)!.startsWith(insideOf(item)) &&
      !paths.get(other)!.slice(insideOf(item).length).includes('/')
    const others = readable.filter((other) => !ownPages.includes(other) && !isBelowNamesake(other))
    const foreign = (): string => {
      if (!hasFolders || random() < 0.7) return ''
      const to = anyOf(others)
      if (to === undefined) return ''
      return to.kind === 'table'
        ? `<div id="${to.id}" class="collection-content"><h4 class="collection-title">View of ${to.title}</h4>${table(to.below)}</div>`
        : own(to)
    }
    const blocks = item.below.map((below): string => {
      const title = `<h4 class="collection-title">${below.title}</h4>`
      if (below.kind === 'inline table')
        return `<div id="${below.id}" class="collection-content">${title}${table(below.below)}</div>`
      if (below.kind === 'inline csv')
        return `<div class="collection-content">${title}<a href="${encode(`${up}${paths.get(below)!}.csv`)}">${below.title}</a></div>`
      return below.kind === 'csv' ? '' : own(below)
    })
    const body =
      item.kind === 'table'
        ? table(item.below)
        : mention() +
          foreign() +
          blocks.map((block) => wrapped(block, random) + mention() + foreign()).join('')
    const dashed = item.id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    if (item.kind === 'csv' || item.kind === 'inline csv') {
      files[`${path}_all.csv`] = csv(item.below)
      if (random() < 0.5) files[`${path}.csv`] = csv([])
    } else if (!isInline(item)) {
      files[`${path}.html`] =
        `<html><head><title>${item.title}</title></head><body><article id="${dashed}" class="page sans"><header><h1 class="page-title">${item.title}</h1></header><div class="page-body">${body}</div></article></body></html>`
    }
  }
  for (const item of all) write(item)
  const parts: Record<string, string>[] = Array.from(
    { length: Math.max(1, shape.parts) },
    () => ({}),
  )
  for (const [path, text] of Object.entries(files))
    parts[Math.floor(random() * parts.length)]![path] = text
  if (shape.sitemap) parts[0]!['index.html'] = sitemapOf(roots, paths)
  if (shape.parts === 0) return zip(parts[0]!)
  const filled = parts.filter((part) => Object.keys(part).length > 0)
  return zip(
    Object.fromEntries(
      filled.map((part, i) => [
        `ExportBlock-00000000-0000-4000-8000-000000000000-Part-${i + 1}.zip`,
        zip(part),
      ]),
    ),
  )
}

/**
 * The pages that stand below a page: its sub-pages, and the rows of the databases that have no page
 * of their own.
 */
function ownPagesOf({ below }: Item): Item[] {
  return below.flatMap((one) => (isInline(one) ? [one, ...ownPagesOf(one)] : [one]))
}

/** A block inside of others, or in what the exporter wraps blocks. */
function wrapped(block: string, random: () => number): string {
  if (block === '') return ''
  const wrappers = [
    (inner: string) =>
      `<ul id="u" class="toggle"><li><details open=""><summary>More</summary>${inner}</details></li></ul>`,
    (inner: string) =>
      `<div id="u" class="column-list"><div id="u" style="width:50%" class="column"><p id="u">left</p></div><div id="u" style="width:50%" class="column">${inner}</div></div>`,
    (inner: string) => `<div style="display:contents" dir="auto">${inner}</div>`,
    (inner: string) =>
      `<ul id="u" class="bulleted-list"><li style="list-style-type:disc">item${inner}</li></ul>`,
  ]
  const wrap = wrappers[Math.floor(random() * 2 * wrappers.length)]
  return wrap ? wrap(block) : block
}

function sitemapOf(roots: readonly Item[], paths: ReadonlyMap<Item, string>): string {
  const entry = (item: Item): string => {
    const path = `${paths.get(item)!}.html`
    const link = isInline(item) || item.kind === 'csv' ? `https://www.notion.so/${item.id}` : path
    return `<li><ul id="id::${item.id}"><a href="${link}">${path.replace(/^.*\//, '')}</a>${item.below.map(entry).join('')}</ul></li>`
  }
  return `<!DOCTYPE html><html><head><title>Export-x</title></head><body><ul id="id::w"><li><h3>Workspace details:</h3><p>Workspace name: W</p></li>${roots.map(entry).join('')}</ul></body></html>`
}
