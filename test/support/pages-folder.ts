// Reads a folder of pages as its readers see it: its files and the targets of its links. Shares no
// code with its writer.
import { inflateRawSync, crc32 } from 'node:zlib'
import GithubSlugger from 'github-slugger'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'

/** The files of a ZIP archive by path, from its directory. Checks sizes and checksums. */
export function readFolder(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf('PK\u{5}\u{6}')
  const files = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameSize, extraSize] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const name = zip.toString('utf8', at + 46, at + 46 + nameSize)
    // Sizes are in the ZIP64 field.
    const field = at + 46 + nameSize + 4
    const [size, packedSize] = [field, field + 8].map((place) =>
      Number(zip.readBigUInt64LE(place)),
    ) as [number, number]
    const local = zip.readUInt32LE(at + 42)
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const packed = zip.subarray(from, from + packedSize)
    const content = zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed
    if (content.length !== size || crc32(content) !== zip.readUInt32LE(at + 16))
      throw new Error(`${name} is damaged`)
    if (files.has(name)) throw new Error(`${name} is there twice`)
    files.set(name, content)
    at += 46 + nameSize + extraSize + zip.readUInt16LE(at + 32)
  }
  return files
}

/** Splits a Markdown file into front matter and body. */
export function splitPage(text: string): { front: string; body: string } {
  const match = /^---\n([^]*?)\n---\n\n/.exec(text)
  return match ? { front: match[1]!, body: text.slice(match[0].length) } : { front: '', body: text }
}

/** A position in the source. */
interface Place {
  offset?: number | undefined
}

interface Node {
  type: string
  url?: string
  value?: string
  children?: Node[]
  position?: { start: Place; end: Place } | undefined
}

const NOWHERE = { start: { offset: 0 }, end: { offset: 0 } }

/** A page's anchors and links. */
interface ReadPage {
  anchors: Set<string>
  headings: Set<string>
  urls: string[]
  wiki: string[]
}

function readPage(text: string): ReadPage {
  const { body } = splitPage(text)
  const tree: Node = fromMarkdown(body, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
  const slugger = new GithubSlugger()
  const page: ReadPage = { anchors: new Set(), headings: new Set(), urls: [], wiki: [] }
  const heading = (text: string): void => {
    page.anchors.add(slugger.slug(text))
    page.headings.add(plain(text))
  }
  const visit = (node: Node): void => {
    if (node.type === 'heading') heading(textOf(node))
    if (node.type === 'html') {
      for (const [, , id, title = ''] of node.value!.matchAll(
        /<h([1-6])(?: id="([^"]*)")?>([^]*?)<\/h\1>/g,
      ))
        if (id === undefined) heading(unescape(title.replace(/<[^>]*>/g, '')))
        else page.anchors.add(id)
      for (const [, url = ''] of node.value!.matchAll(/(?:href|src)="([^"]*)"/g))
        page.urls.push(unescape(url))
    }
    if (node.url !== undefined) page.urls.push(node.url)
    // Look at the source, because escaped text is not a link.
    const { start, end } = node.type === 'text' && node.position ? node.position : NOWHERE
    for (const [, target = ''] of body
      .slice(start.offset, end.offset)
      .matchAll(/(?<!\\)\[\[([^\]]*)\]\]/g))
      page.wiki.push(target)
    for (const child of node.children ?? []) visit(child)
  }
  visit(tree)
  return page
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
const unescape = (html: string): string =>
  html.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)

function textOf(node: Node): string {
  if (node.type === 'image') return 'alt' in node ? String(node.alt ?? '') : ''
  if (node.type === 'break') return ' '
  if (node.type === 'html') return ''
  return node.value ?? (node.children ?? []).map(textOf).join('')
}

const plain = (heading: string): string => heading.replace(/[#|^:%[\]\\\s]+/g, ' ').trim()

/** Every broken relative link, with its page. */
export function deadLinks(files: ReadonlyMap<string, Buffer>): string[] {
  const pages = new Map(
    [...files]
      .filter(([path]) => path.endsWith('.md'))
      .map(([path, content]) => [path, readPage(content.toString())] as const),
  )
  const dead: string[] = []
  const check = (from: string, path: string, anchor: string, shown: string): void => {
    const target = pages.get(path)
    const isThere =
      anchor === '' ||
      (target?.anchors.has(anchor) ?? false) ||
      (target?.headings.has(anchor) ?? false)
    if (!files.has(path) || !isThere) dead.push(`${from}: ${shown}`)
  }
  for (const [from, { urls, wiki }] of pages) {
    for (const url of urls) {
      if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(url)) continue
      const [, path = '', anchor = ''] = /^([^#]*)#?(.*)$/.exec(url) ?? []
      const at = path === '' ? from : resolve(from, decodeURIComponent(path))
      check(from, at, decodeURIComponent(anchor), url)
    }
    for (const target of wiki) {
      const [, path = '', anchor = ''] = /^([^#|]*)#?([^|]*)/.exec(target.replace('\\|', '|')) ?? []
      check(from, path === '' ? from : `${path}.md`, anchor.replace(/\\$/, ''), `[[${target}]]`)
    }
  }
  return dead
}

function resolve(from: string, path: string): string {
  const at = from.split('/').slice(0, -1)
  for (const segment of path.split('/')) {
    if (segment === '..') at.pop()
    else if (segment !== '.') at.push(segment)
  }
  return at.join('/')
}
