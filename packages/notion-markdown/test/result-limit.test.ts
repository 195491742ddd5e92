// Bounds what an export becomes in every form: a result may have twice as many bytes as all pages
// may have.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pageHtml } from '../../../test/support/archives/pages.ts'
import { archive } from '../../../test/support/archives/writer.ts'
import { convertFile, convertPages, type ConvertOptions } from '../src/archive/index.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollmark-results-'))
})
after(() => rm(folder, { recursive: true }))

const ID = '0123456789abcdef0123456789abcdef'
const LONG = 'a long heading '.repeat(500)

/** TABLE of pages that become far more than they are, and the options with which they do. */
const GROWING: readonly [name: string, body: string, options: Partial<ConvertOptions>][] = [
  [
    'Markdown: code in deep quotes',
    `${'<blockquote>'.repeat(300)}<pre><code>${'x\n'.repeat(600)}</code></pre>`,
    {},
  ],
  ['Markdown: links to a long heading', `<h1 id="${ID}">${LONG}</h1>${links(50)}`, {}],
  ['JSON: characters that it escapes', `<p>${'\u0001'.repeat(20_000)}</p>`, { format: 'json' }],
  [
    'JSON: a source map of short blocks',
    Array.from(
      { length: 2000 },
      (_, i) => `<p id="${i.toString(16).padStart(32, '0')}">a</p>`,
    ).join(''),
    { format: 'json', sourceMap: true },
  ],
  [
    'chunks: sections below a long heading',
    `<h1>${LONG}</h1>${'<h2>a</h2><p>b</p>'.repeat(50)}`,
    { format: 'chunks' },
  ],
  [
    'chunks: rows below a long header',
    `<table><thead><tr><th>${LONG}</th></tr></thead><tbody>${'<tr><td>a</td></tr>'.repeat(50)}</tbody></table>`,
    { format: 'chunks' },
  ],
  [
    'pages: links to a long heading',
    `<h1 id="${ID}">${LONG}</h1>${links(50)}`,
    { layout: 'pages', flavor: 'gfm' },
  ],
]

function links(count: number): string {
  return `<p><a href="#${ID}">x</a> and</p>`.repeat(count)
}

for (const [name, body, given] of GROWING)
  for (const kind of ['html', 'zip'] as const)
    test(`${kind}, ${name}: refused beyond the limit`, async () => {
      const html = pageHtml('Page', body)
      const path = join(folder, `export.${kind}`)
      await writeFile(path, kind === 'zip' ? archive([{ name: 'Page.html', data: html }]) : html)
      const convert = async (pagesBytes: number): Promise<number> => {
        const options: ConvertOptions = {
          path,
          kind,
          fileName: `export.${kind}`,
          format: 'markdown',
          includeMetadata: false,
          uploadedAt: new Date(0),
          limits: { pagesBytes },
          ...given,
        }
        let size = 0
        const output = join(folder, `${kind}-${pagesBytes}`)
        await rm(output, { force: true })
        if (options.layout === 'pages') await convertPages(options, output)
        else await convertFile(options, (piece) => void (size += Buffer.byteLength(piece)))
        return size
      }
      const most = 100_000
      assert.ok(html.length <= most)
      await assert.rejects(convert(most), {
        fault: 'result_too_large',
        facts: { max: 2 * most },
      })
      const size = await convert(20 * most)
      assert.ok(size === 0 || size > 2 * most)
    })

test('what is recorded of a page counts, too', async () => {
  const path = join(folder, 'recorded.zip')
  const missing = Array.from({ length: 100 }, (_, i) => `<a href="${i}.pdf">x</a>`).join(' ')
  const html = pageHtml('Page', missing)
  await writeFile(path, archive([{ name: `${'folder/'.repeat(60)}Page.html`, data: html }]))
  const convert = (pagesBytes: number): Promise<unknown> =>
    convertPages(
      {
        path,
        kind: 'zip',
        fileName: 'export.zip',
        format: 'markdown',
        includeMetadata: false,
        uploadedAt: new Date(0),
        limits: { pagesBytes },
      },
      join(folder, `recorded-${pagesBytes}`),
    )
  await convert(100_000)
  await assert.rejects(convert(30_000), { fault: 'result_too_large' })
})
