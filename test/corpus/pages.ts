// The pages of a folder of exports, for judging the converter: .html files as they are, and those
// inside .zip files.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { inflateRawSync } from 'node:zlib'

/**
 * One exported page. `path` is its place below the folder, through archives
 * (`Export.zip/Page.html`).
 */
export interface CorpusPage {
  path: string
  html: string
}

/** All pages below `folder`, by path. */
export function* pagesOf(folder: string): Generator<CorpusPage> {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }).sort((a, b) =>
    join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1,
  )) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/\.(?:html?|zip)$/i.test(entry.name)) continue
    const path = relative(folder, file)
    if (/\.zip$/i.test(entry.name)) yield* pagesOfZip(readFileSync(file), path, true)
    else yield { path, html: readFileSync(file, 'utf8') }
  }
}

/**
 * Pages of a well-formed archive, read from its central directory. Parts at its root are opened
 * once more.
 */
function* pagesOfZip(zip: Buffer, path: string, partsToo: boolean): Generator<CorpusPage> {
  const end = zip.lastIndexOf('PK\u{5}\u{6}')
  if (end < 0) throw new Error(`${path} has no end-of-directory record; is it a whole ZIP file?`)
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size, nameSize, extraSize, commentSize, local] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt16LE(at + 30),
      zip.readUInt16LE(at + 32),
      zip.readUInt32LE(at + 42),
    ]
    const name = zip.toString('utf8', at + 46, at + 46 + nameSize)
    at += 46 + nameSize + extraSize + commentSize
    const isPart = partsToo && /^[^/]*-Part-\d+\.zip$/i.test(name)
    if (!isPart && !/\.html?$/i.test(name)) continue
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const packed = zip.subarray(begin, begin + size)
    const data = method === 0 ? packed : inflateRawSync(packed)
    if (isPart) yield* pagesOfZip(data, `${path}/${name}`, false)
    else yield { path: `${path}/${name}`, html: data.toString('utf8') }
  }
}
