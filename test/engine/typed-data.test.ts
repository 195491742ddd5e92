// Databases as data: columns, their types and rows, from HTML tables, CSV, or both.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentOf, pageOf } from '../../packages/notion-markdown/test/document-of.ts'
import { zip } from '../support/zip.ts'

const id = (n: number) => n.toString(16).padStart(32, '0')

interface Database {
  id: string | null
  title: string
  columns: { name: string; type: string | null }[]
  rows: { page_id: string | null; values: unknown[] }[]
}

/** The databases of the pages of an export, by the pages' titles. */
async function databasesOf(entries: Record<string, string>): Promise<Map<string, Database[]>> {
  const text = await documentOf(zip(entries), { format: 'json', fileName: 'Export.zip' })
  const { pages } = JSON.parse(text) as { pages: { title: string; databases: Database[] }[] }
  return new Map(pages.map(({ title, databases }) => [title, databases]))
}

const dashed = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
const head = (name: string, mark: string) =>
  `<th><span class="icon property-icon">${mark}</span>${name}</th>`
const drawing = (type: string) => `<svg class="types${type}"></svg>`
const picture = (name: string) => `<img src="https://app.notion.com/icons/${name}_gray.svg"/>`
const row = (n: number, title: string, cells: readonly string[]) =>
  `<tr id="${id(n)}"><td class="cell-title"><a href="Tasks/${title}%20${id(n)}.html">${title}</a></td>${cells.map((cell) => `<td class="cell-x">${cell}</td>`).join('')}</tr>`
const table = (heads: readonly string[], rows: readonly string[]) =>
  `<div id="${dashed(id(9))}" class="collection-content"><h4 class="collection-title">Tasks</h4><table class="collection-content"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
const page = (n: number, title: string, properties: Record<string, [string, string]>) =>
  `<article id="${id(n)}" class="page"><header><h1 class="page-title">${title}</h1><table class="properties"><tbody>${Object.entries(
    properties,
  )
    .map(
      ([name, [kind, cell]]) =>
        `<tr class="property-row property-row-${kind}"><th>${name}</th><td>${cell}</td></tr>`,
    )
    .join('')}</tbody></table></header></article>`

/** TABLE of columns: the mark in the head, cells, their type, and the values. */
const COLUMNS: [mark: string, cells: string[], type: string | null, values: unknown[]][] = [
  [drawing('Number'), ['3', '$3', ''], 'number', [3, '$3', null]],
  [drawing('Text'), ['3', 'a', ''], 'rich_text', ['3', 'a', null]],
  [
    drawing('Checkbox'),
    ['<div class="checkbox checkbox-on"></div>', '<div class="checkbox checkbox-off"></div>', ''],
    'checkbox',
    [true, false, null],
  ],
  [
    drawing('MultipleSelect'),
    [
      '<span class="selected-value">a</span><span class="selected-value">b</span>',
      '<span class="selected-value">a</span>',
      '',
    ],
    'multi_select',
    [['a', 'b'], ['a'], []],
  ],
  [
    drawing('Date'),
    ['<time>@March 1, 2024 → March 4, 2024</time>', '<time>@03/04/2024</time>', ''],
    'date',
    [{ start: '2024-03-01', end: '2024-03-04' }, '@03/04/2024', null],
  ],
  [
    drawing('Person'),
    ['<span class="user">Ann</span><span class="user">Doe, Bob</span>', '', ''],
    'people',
    [['Ann', 'Doe, Bob'], [], []],
  ],
  [
    drawing('Relation'),
    [
      `<a href="Tasks/Write%20${id(12)}.html">Write</a>`,
      `<a href="https://www.notion.so/Far-${id(99)}?pvs=21">Far</a>`,
      '<a href="https://example.com/">Out</a>',
    ],
    'relation',
    [
      [{ page_id: id(12), title: 'Write' }],
      [{ page_id: id(99), title: 'Far' }],
      [{ page_id: null, title: 'Out' }],
    ],
  ],
  [
    drawing('File'),
    ['<span style="margin-right:6px"><a href="Tasks/a%20b.pdf">a b.pdf</a></span>', '', ''],
    'files',
    [[{ name: 'a b.pdf', url: 'Tasks/a%20b.pdf' }], [], []],
  ],
  [
    drawing('Email'),
    ['<a href="ann@acme.org" class="url-value">ann@acme.org</a>', '', ''],
    'email',
    ['ann@acme.org', null, null],
  ],
  // A picture counts where the cells may be that.
  [
    picture('calendar'),
    ['<time>@March 1, 2024</time>', '', ''],
    'date',
    [{ start: '2024-03-01', end: null }, null, null],
  ],
  [picture('calendar'), ['3', 'soon', ''], null, [3, 'soon', null]],
  [
    picture('star'),
    ['<span class="status-value">Done</span>', '<span class="status-value">Open</span>', ''],
    'status',
    ['Done', 'Open', null],
  ],
  ['', ['<span class="selected-value">a</span>', '', ''], null, ['a', null, null]],
  [
    '',
    ['<time datetime="2026-03-01">1. 3. 2026</time>', '', ''],
    'date',
    [{ start: '2026-03-01', end: null }, null, null],
  ],
]

test("a database's columns have types and its cells values, read from its table", async () => {
  const heads = [head('Name', drawing('Title')), ...COLUMNS.map(([mark], x) => head(`C${x}`, mark))]
  const rows = ['Read', 'Write', 'Rest'].map((title, y) =>
    row(
      11 + y,
      title,
      COLUMNS.map(([, cells]) => cells[y] ?? ''),
    ),
  )
  const databases = await databasesOf({
    'Home.html': pageOf(table(heads, rows)),
    [`Tasks/Write ${id(12)}.html`]: page(12, 'Write', {}),
    'Tasks/a b.pdf': 'x',
  })
  const [database, ...more] = databases.get('T') ?? []
  assert.ok(database)
  assert.equal(more.length, 0)
  assert.equal(database.id, id(9))
  assert.equal(database.title, 'Tasks')
  assert.deepEqual(
    database.rows.map(({ page_id, values }) => [page_id, values[0]]),
    [
      [id(11), 'Read'],
      [id(12), 'Write'],
      [id(13), 'Rest'],
    ],
  )
  assert.deepEqual(database.columns[0], { name: 'Name', type: 'title' })
  for (const [x, [mark, cells, type, values]] of COLUMNS.entries()) {
    assert.deepEqual(database.columns[x + 1], { name: `C${x}`, type }, `${mark} ${cells.join()}`)
    assert.deepEqual(
      database.rows.map((one) => one.values[x + 1]),
      values,
      `${mark} ${cells.join()}`,
    )
  }
})

test("a database exported only as CSV takes its types from its rows' pages", async () => {
  const csv = `\ufeffName,Effort,Done,Tags,Due,Project,Files,Who,Note
Read,3,Yes,"a, b","March 1, 2024 → March 4, 2024","House (https://www.notion.so/House-${id(20)}?pvs=21), Write, now (Tasks/Write%20now%20${id(12)}.html)","Read/a%20b.pdf, https://example.com/c.pdf","Ann, Bob",3
"Write, now",,No,,soon,"Somewhere, else",,Ann,
`
  const databases = await databasesOf({
    [`Home/Tasks ${id(9)}_all.csv`]: csv,
    [`Home/Tasks/Read ${id(11)}.html`]: page(11, 'Read', {
      Effort: ['number', '3'],
      Done: ['checkbox', '<div class="checkbox checkbox-on"></div>'],
      Tags: ['multi_select', ''],
      Due: ['date', ''],
      Project: ['relation', ''],
      Files: ['file', ''],
      Who: ['person', ''],
    }),
    [`Home/Tasks/Write now ${id(12)}.html`]: page(12, 'Write, now', {}),
  })
  const [database] = databases.get('Tasks') ?? []
  assert.deepEqual(
    database?.columns.map(({ type }) => type),
    ['title', 'number', 'checkbox', 'multi_select', 'date', 'relation', 'files', 'people', null],
  )
  assert.deepEqual(database?.rows, [
    {
      page_id: id(11),
      values: [
        'Read',
        3,
        true,
        ['a', 'b'],
        { start: '2024-03-01', end: '2024-03-04' },
        [
          { page_id: id(20), title: 'House' },
          { page_id: id(12), title: 'Write, now' },
        ],
        [
          { name: 'a b.pdf', url: 'Home/Read/a%20b.pdf' },
          { name: 'c.pdf', url: 'https://example.com/c.pdf' },
        ],
        'Ann, Bob',
        3,
      ],
    },
    {
      page_id: id(12),
      values: ['Write, now', null, false, [], 'soon', 'Somewhere, else', [], ['Ann'], null],
    },
  ])
})

test("rows that a view hides come from the CSV, with the view's columns and types", async () => {
  const heads = [head('Name', drawing('Title')), head('Done', drawing('Checkbox'))]
  const shown = row(11, 'Read', ['<div class="checkbox checkbox-on"></div>'])
  const databases = await databasesOf({
    'Home.html': pageOf(table(heads, [shown])),
    [`Tasks ${id(9)}_all.csv`]: '\ufeffName,Done\nRead,Yes\nWrite,No\n',
    [`Tasks/Write ${id(12)}.html`]: page(12, 'Write', {}),
  })
  assert.deepEqual(databases.get('T')?.[0]?.rows, [
    { page_id: id(11), values: ['Read', true] },
    { page_id: id(12), values: ['Write', false] },
  ])
})
