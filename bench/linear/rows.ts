// TABLE of lists, windows and converters whose length callers control.
import { readExportedPage } from '../../packages/notion-markdown/src/certificate/export-reader.ts'
import { readMarkdownPage } from '../../packages/notion-markdown/src/certificate/markdown-reader.ts'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { orderPages } from '../../packages/notion-markdown/src/order.ts'
import { readZip } from '../../packages/notion-markdown/src/archive/zip.ts'
import { bytesSource } from '../../packages/notion-markdown/src/archive/byte-source.ts'
import { AccountKeyQueue, type Owner } from '../../server/common/fairness/account-key-queue.ts'
import {
  encodeReservations,
  decodeReservations,
  type Reservation,
} from '../../server/ledger/settlement/row-codec.ts'
import { written } from '../../server/ledger/reports/report-text.ts'
import { Window } from '../../server/ledger/admission/sliding-window.ts'
import { archive } from '../../test/support/archives/writer.ts'
import { NEEDLE, shapes } from '../parts/shapes.ts'
import { fill, large, ofRows, type Row } from './row.ts'

const MB = 1024 * 1024

/** A window filled with other processes' admissions in some order, queried once, and emptied. */
const window = (name: string, time: (i: number, size: number) => number): Row =>
  ofRows(`window: ${name}`, (size) => () => {
    const window = new Window()
    window.addAll(Float64Array.from({ length: size }, (_, i) => time(i, size) / size))
    window.ask(size, 2)
    return window.isIdle(100_000)
  })

/** Requests waiting for admission, taken in units; each limited key passes once per unit. */
const waiting = (name: string, owners: readonly Owner[], most = Infinity): Row =>
  ofRows(`waiting requests: ${name}`, (size) => () => {
    const queue = new AccountKeyQueue<Owner>(most, (one) => one)
    let dropped = 0
    for (let i = 0; i < size; i++)
      dropped += Number(queue.push(owners[i % owners.length]!) !== null)
    while (queue.size > 0) {
      const groups = new Map<string, number>()
      queue.take(2_000, ({ key_id }) => {
        const held = groups.get(key_id) ?? 0
        if (held >= 100 || (held === 0 && groups.size >= 200)) return false
        return groups.set(key_id, held + 1) !== null
      })
    }
    queue.tidy()
    return dropped
  })

const row = (i: number): Reservation => ({
  id: `req_${i}`,
  account_id: 'acc',
  key_id: `key_${i % 1_000}`,
  rpm: 10,
  provider: 'openai',
  model: `model ${i}`,
  endpoint: '/v1/chat/completions',
  method: 'POST',
  context: null,
  child_id: null,
  child_rpm: null,
  end_user: null,
  created_at: i,
  mono: i,
})

/** TABLE of inputs that certificate readers might scan repeatedly. */
const CERTIFIED: Readonly<Record<string, string>> = {
  'tags without quotes': '<p>',
  'equations that do not end': '<span class="katex"><span>',
  'cells that span all': '<tr><td rowspan=1000 colspan=1000>x</td></tr>',
  'links that do not end': '![a](',
  backticks: '`a``',
}

/** Some page shapes; `bench -- growth` measures all of them. */
const PAGES = [
  'deep bulleted lists',
  'runs of *',
  'entities',
  'table rows',
  'headings of one text',
  'one row of many cells',
]

export const ROWS: readonly Row[] = [
  {
    name: 'the folders above a page, of which ZIP takes 64 KB',
    from: 4 * 1024,
    most: 64 * 1024,
    make: (size) => {
      const page = { path: `${fill('d/', size)}a.html`, links: [], subPages: [] }
      return () => orderPages([page], -1)
    },
  },
  window('in their order', (i) => i),
  window('the newest first', (i, size) => size - i),
  window('in any order', (i, size) => (i * 48_271) % size),
  ofRows('window: asked and confirmed', (size) => () => {
    const window = new Window()
    for (let i = 0; i < size; i++) if (window.ask(size, i / size).pass) window.confirm(i / size)
    return window
  }),
  ofRows('window: refused', (size) => {
    const window = new Window()
    for (let i = 0; i < 1_000; i++) window.add(i)
    return () => {
      for (let i = 0; i < size; i++) window.ask(1_000, 1_001)
    }
  }),
  ofRows('window: one by one, as they become durable', (size) => () => {
    const window = new Window()
    for (let i = 0; i < size; i++) window.add(i / size)
    return window
  }),
  waiting('of one key', [{ account_id: 'a', key_id: 'k' }]),
  waiting(
    'of 100 keys',
    Array.from({ length: 100 }, (_, i) => ({ account_id: `a${i % 10}`, key_id: `k${i}` })),
  ),
  waiting(
    'of one account, where all places are taken',
    Array.from({ length: 30 }, (_, i) => ({ account_id: `a${i % 3}`, key_id: `k${i}` })),
    1_000,
  ),
  ofRows(
    'rows on their way to the writer',
    (size) => () => encodeReservations(Array.from({ length: size }, (_, i) => row(i))),
    200_000,
  ),
  ofRows(
    'rows as the writer reads them',
    (size) => {
      const packed = encodeReservations(Array.from({ length: size }, (_, i) => row(i)))
      return () => decodeReservations(packed)
    },
    200_000,
  ),
  ofRows(
    'CSV',
    (size) => {
      const rows = Array.from({ length: size }, (_, i) => ({
        ...row(i),
        model: '="quoted", and\nmore',
      }))
      return () => written('csv', ['id', 'key_id', 'model', 'endpoint', 'created_at'], rows)
    },
    200_000,
  ),
  large('CSV: one long cell', (size) => () => written('csv', ['a'], [{ a: '"'.repeat(size) }])),
  ofRows(
    'directory of a ZIP',
    (size) => {
      const bytes = bytesSource(
        archive(
          Array.from({ length: size }, (_, i) => ({
            name: `folder ${i % 100}/page ${i}.html`,
            data: 'x',
            stored: true,
          })),
        ),
      )
      return () => readZip(bytes, { entries: 2_000_000, directoryBytes: 512 * MB })
    },
    40_000,
  ),
  ...PAGES.map((name) => {
    const shape = shapes.find((one) => one.name === name)
    if (shape === undefined) throw new Error(`no shape is named ${name}`)
    return large(
      `page: ${name}`,
      (size) => {
        const html = shape.make(size)
        return () => {
          if (!convertHtml(html).includes(NEEDLE)) throw new Error('text is lost')
        }
      },
      10 * MB,
    )
  }),
  ...Object.entries(CERTIFIED).flatMap(([name, unit]) => [
    large(
      `certificate, export: ${name}`,
      (size) => {
        const html = unit.repeat(Math.ceil(size / unit.length))
        return () => readExportedPage(html, 'Page.html')
      },
      10 * MB,
    ),
    large(
      `certificate, Markdown: ${name}`,
      (size) => {
        const markdown = unit.repeat(Math.ceil(size / unit.length))
        return () => readMarkdownPage(markdown)
      },
      10 * MB,
    ),
  ]),
]
