// Follows every link within a built site, from one page to the next.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'

/** The anchors and links of a page. */
interface SitePage {
  readonly ids: ReadonlySet<string>
  readonly urls: readonly string[]
}

/** The origin of the site. */
const ORIGIN = 'https://exports.invalid'

/**
 * Reads all pages below a folder.
 *
 * @returns the number of pages and of their internal links, and the broken ones with their pages
 */
export function crawl(folder: string): { files: number; links: number; broken: string[] } {
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((file) => [
      file,
      readSitePage(readFileSync(join(folder, file), 'utf8')),
    ]),
  )
  const broken: string[] = []
  let links = 0
  for (const [file, { urls }] of pages) {
    // These two are from Docusaurus and the bench.
    if (file === '404.html' || file === 'index.html') continue
    for (const url of urls) {
      const target = new URL(url, `${ORIGIN}/${file.replace(/(?:^index)?\.html$/, '')}`)
      if (target.origin !== ORIGIN) continue
      links++
      const path = fileOf(folder, decodeURIComponent(target.pathname))
      const anchor = decodeURIComponent(target.hash.slice(1))
      if (path === null) broken.push(`${file}: ${url}`)
      else if (anchor !== '' && pages.get(path)?.ids.has(anchor) !== true)
        broken.push(`${file}: ${url} (no such anchor)`)
    }
  }
  return { files: pages.size, links, broken }
}

/** The file that a server sends for a path. */
function fileOf(folder: string, path: string): string | null {
  const bare = path.replace(/^\/|\/$/g, '')
  const candidates = [bare, `${bare}.html`, `${bare}/index.html`, bare === '' ? 'index.html' : bare]
  return (
    candidates.find(
      (one) => existsSync(join(folder, one)) && statSync(join(folder, one)).isFile(),
    ) ?? null
  )
}

function readSitePage(html: string): SitePage {
  const [ids, urls] = [new Set<string>(), [] as string[]]
  const parser = new Parser({
    onopentag(_name, { id, href, src }) {
      if (id !== undefined) ids.add(id)
      for (const url of [href, src]) if (url !== undefined && url !== '') urls.push(url)
    },
  })
  parser.end(html)
  return { ids, urls }
}
