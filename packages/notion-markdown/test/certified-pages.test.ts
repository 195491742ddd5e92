// Certificates of folders of pages, in each flavor: the pages that the converter is tested with,
// and what a file that is missing shows.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { zip } from '../../../test/support/zip.ts'
import {
  convertPages,
  fileSource,
  FLAVOR_NAMES,
  MANIFEST,
  readPages,
  type Certificate,
  type Flavor,
} from '../src/archive/index.ts'
import { Certifier } from '../src/certificate/certificate.ts'
import { DOCUMENT } from '../src/certificate/dialect.ts'
import { readExportedPage } from '../src/certificate/export-reader.ts'
import { casePages, pageOf } from './document-of.ts'

/** The certificate of a folder of pages, and the folder's files. */
async function certify(
  bytes: Buffer,
  flavor: Flavor,
): Promise<{ certificate: Certificate; files: Map<string, string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tollmark-pages-'))
  try {
    const [path, output] = [join(folder, 'in'), join(folder, 'out')]
    await writeFile(path, bytes)
    const options = { kind: 'zip', fileName: 'Export.zip', format: 'markdown' } as const
    const { certificate } = await convertPages(
      {
        path,
        ...options,
        includeMetadata: false,
        uploadedAt: new Date(0),
        flavor,
        certificate: true,
      },
      output,
    )
    assert.ok(certificate)
    await using source = await fileSource(output)
    const files = new Map<string, string>()
    for (const file of await readPages(source)) {
      const pieces: Uint8Array[] = []
      for await (const piece of file.content()) pieces.push(piece)
      files.set(file.path, Buffer.concat(pieces).toString())
    }
    return { certificate, files }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const name = (n: number, title: string) => `${title} ${n.toString(16).padStart(32, '0')}.html`

test('pages lose nothing, in any flavor', async () => {
  // One that the readers of one document do not agree on, either.
  const pages = casePages().filter((html) => !html.includes('<caption>'))
  const entries = Object.fromEntries(pages.map((html, i) => [name(i + 1, `P${i}`), html]))
  // A frame without an end holds what follows it, and an image that is missing is text in it.
  entries['a.png'] = 'png'
  for (const flavor of FLAVOR_NAMES) {
    const { certificate, files } = await certify(zip(entries), flavor)
    assert.deepEqual(
      certificate.differences.map(({ page, kind, detail }) => [page, kind, detail]),
      [],
      flavor,
    )
    assert.deepEqual(certificate.in.blocks, certificate.out.blocks, flavor)
    const hash = createHash('sha256')
      .update(files.get(MANIFEST) ?? '')
      .digest('hex')
    assert.equal(certificate.output_sha256, hash)
  }
})

test('files that are there and files that are not, callouts and links are read as written', async () => {
  const body = `<figure class="image"><a href="gone.png"><img src="gone.png"/></a></figure><figure class="image"><img src="pic%20a.png"/></figure>
<figure class="callout"><div style="font-size:1.5em"><span class="icon">💡</span></div><div style="width:100%"><p>outer</p><figure class="callout"><div style="font-size:1.5em"><span class="icon">🔥</span></div><div style="width:100%">inner</div></figure></div></figure>
<p>see <a href="${encodeURIComponent(name(2, 'Other'))}">the other</a>, not [[this|one]] or</p><blockquote>[!note]</blockquote><p>:::tip</p>
<table class="simple-table"><tbody><tr><td><a href="${encodeURIComponent(name(2, 'Other'))}">in a cell</a></td><td>x|y</td></tr></tbody></table>`
  const entries = {
    [name(1, 'Home')]: pageOf(body),
    [name(2, 'Other')]: pageOf('<p>o</p>'),
    'pic a.png': 'png',
  }
  for (const flavor of FLAVOR_NAMES) {
    const { certificate } = await certify(zip(entries), flavor)
    assert.deepEqual(certificate.differences, [], flavor)
    assert.deepEqual([certificate.in.blocks.quotes, certificate.out.blocks.quotes], [3, 3], flavor)
    assert.deepEqual([certificate.in.links.pages, certificate.out.links.pages], [1, 1], flavor)
    assert.deepEqual(
      certificate.not_in_export.map(({ what }) => what),
      ['comments', 'files'],
    )
  }
})

test('a callout that is lost, and one that is moved, are noticed in each dialect', () => {
  const html = pageOf(
    '<p>a</p><figure class="callout"><div style="font-size:1.5em"><span class="icon">💡</span></div><div style="width:100%">b</div></figure><p>c</p>',
  )
  const reading = readExportedPage(html, 'Page.html')
  const page = { path: 'Page.html', reading, hasMore: false, databases: 0, missingFiles: 0 }
  /** TABLE of documents: how callouts are written, the Markdown, whether it is whole. */
  const documents: ['alert' | 'admonition', string, boolean][] = [
    ['alert', '# T\n\na\n\n> [!tip]\n> 💡 b\n\nc\n', true],
    ['alert', '# T\n\na\n\n[!tip]\n💡 b\n\nc\n', false],
    ['alert', '# T\n\n> [!tip]\n> 💡 b\n\na\n\nc\n', false],
    ['admonition', '# T\n\na\n\n:::tip\n\n💡 b\n\n:::\n\nc\n', true],
    ['admonition', '# T\n\na\n\n💡 b\n\nc\n', false],
    ['admonition', '# T\n\na\n\nc\n\n:::tip\n\n💡 b\n\n:::\n', false],
  ]
  for (const [callouts, markdown, isWhole] of documents) {
    const certifier = new Certifier({ ...DOCUMENT, callouts, keepsNames: false })
    certifier.page(page, markdown)
    assert.equal(certifier.found === 0, isWhole, markdown)
  }
})
