// The front matter of pages: typed values, and text that no reader of YAML takes for something
// else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parse } from 'yaml'
import { FLAVORS } from '../../../packages/notion-markdown/src/archive/pages/flavors.ts'
import { pageFrontMatter } from '../../../packages/notion-markdown/src/archive/pages/page-fields.ts'
import { readDate } from '../../../packages/notion-markdown/src/dates.ts'
import { parsePage } from '../../../packages/notion-markdown/src/index.ts'
import type {
  Property,
  PropertyValue,
} from '../../../packages/notion-markdown/src/property-values.ts'
import { splitPage } from '../../support/pages-folder.ts'

const LINKS = { address: (url: string) => url, pageId: () => null }

const propertiesOf = (values: Record<string, PropertyValue>): Record<string, Property> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { type: null, value }]))

/** What a reader of YAML (1.1 or 1.2) reads of a page with these values. */
function read(
  title: string,
  values: Record<string, PropertyValue>,
  flavor: keyof typeof FLAVORS = 'gfm',
  version: '1.1' | '1.2' = '1.2',
) {
  const facts = { title, icon: null, id: null, parentId: null, exportedAt: null, csv: [] }
  const front = pageFrontMatter(
    { ...facts, values: propertiesOf(values), position: 1, path: 'A.md', isDuplicate: false },
    FLAVORS[flavor],
    LINKS,
  )
  return parse(splitPage(front).front, { version }) as Record<string, unknown>
}

/** Strings that YAML has a meaning for, and any others. */
const string = fc.oneof(
  fc.constantFrom(
    'yes',
    'No',
    'on',
    '~',
    'null',
    'true',
    '=',
    '<<',
    '1e3',
    '0x1F',
    '0o17',
    '012',
    '1_000',
    '12:30:45',
    '2024-01-01',
    '.inf',
    '.NaN',
    '- x',
    '? x',
    ': x',
    '#x',
    '&a',
    '*a',
    '!t',
    '|',
    '>',
    '%',
    '@',
    '`',
    '{',
    '[',
    '---',
    '...',
    'a: b',
    'a #b',
    ' x ',
    '\t',
    '\n',
    'a\nb',
    '\u2028',
    '\u0085',
    '\ufeff',
    '"',
    "'",
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)

test('any text survives as a title, a value and a name', () => {
  fc.assert(
    fc.property(string, string, fc.constantFrom('1.1', '1.2'), (title, value, version) => {
      const values: Record<string, PropertyValue> = {
        [`${title}.`]: { type: 'text', value },
        list: { type: 'list', values: [value, title] },
      }
      const fields = read(title, values, 'gfm', version)
      assert.equal(fields['title'], title.toWellFormed())
      assert.deepEqual(fields['properties'], {
        [`${title}.`.toWellFormed()]: value.toWellFormed(),
        list: [value, title].map((one) => one.toWellFormed()),
      })
    }),
    { numRuns: 2000 },
  )
})

test('a property cannot replace a reserved front matter field', () => {
  const values: Record<string, PropertyValue> = {
    Title: { type: 'text', value: 'x' },
    tags: { type: 'text', value: 'y' },
    Sum: { type: 'number', value: 3 },
  }
  assert.deepEqual(read('T', values, 'obsidian'), {
    title: 'T',
    'Title (property)': 'x',
    'tags (property)': 'y',
    Sum: 3,
  })
})

/** TABLE of what properties' cells say, by the exporter's kind, and what they are. */
const VALUES: [kind: string, cell: string, value: PropertyValue][] = [
  ['checkbox', '<div class="checkbox checkbox-on"></div>', { type: 'checkbox', value: true }],
  ['number', '1250.5', { type: 'number', value: 1250.5 }],
  ['number', '007', { type: 'text', value: '007' }],
  ['number', '$1,250', { type: 'text', value: '$1,250' }],
  ['number', '12345678901234567', { type: 'text', value: '12345678901234567' }],
  ['text', '42', { type: 'text', value: '42' }],
  ['phone_number', '<a href="123" class="url-value">123</a>', { type: 'text', value: '123' }],
  [
    'multi_select',
    '<span class="selected-value select-value-color-blue">a, b</span><span class="selected-value">c</span>',
    { type: 'list', values: ['a, b', 'c'] },
  ],
  ['select', '<span class="selected-value">2024</span>', { type: 'text', value: '2024' }],
  [
    'person',
    '<span class="user"><span class="icon text-icon user-icon">A</span>Ann</span>',
    { type: 'list', values: ['Ann'] },
  ],
  [
    'date',
    '<time>@March 1, 2024 → March 4, 2024</time>',
    { type: 'date', start: '2024-03-01', end: '2024-03-04' },
  ],
  ['date', '<time>@03/04/2024</time>', { type: 'text', value: '@03/04/2024' }],
  [
    'relation',
    '<a href="https://www.notion.so/Row-0123456789abcdef0123456789abcdef?pvs=21">Row</a>',
    {
      type: 'relation',
      values: [
        { text: 'Row', url: 'https://www.notion.so/Row-0123456789abcdef0123456789abcdef?pvs=21' },
      ],
    },
  ],
  ['number', '', { type: 'empty' }],
]

test('properties keep their types', () => {
  for (const [kind, cell, value] of VALUES) {
    const html = `<article class="page"><header><h1 class="page-title">T</h1><table class="properties"><tbody><tr class="property-row property-row-${kind}"><th>P</th><td>${cell}</td></tr></tbody></table></header></article>`
    assert.deepEqual(parsePage(html).values['P']?.value, value, `${kind}: ${cell}`)
  }
})

/** TABLE of dates: what was written, and what it is; null where it may be another one, or none. */
const DATES: [text: string, start: string | null, end?: string][] = [
  ['@March 1, 2024', '2024-03-01'],
  ['Mar 1, 2024 9:05 AM', '2024-03-01T09:05:00'],
  ['March 1, 2024 12:00 AM (GMT+1)', '2024-03-01T00:00:00+01:00'],
  ['March 1, 2024 9:00 PM → 10:30 PM', '2024-03-01T21:00:00', '2024-03-01T22:30:00'],
  ['2024-03-01', '2024-03-01'],
  ['2024/03/01 14:30', '2024-03-01T14:30:00'],
  ['1. März 2024', '2024-03-01'],
  ['1 mars 2024', '2024-03-01'],
  ['1 de marzo de 2024', '2024-03-01'],
  ['2024年3月1日', '2024-03-01'],
  ['2024년 3월 1일 오후 2:30', '2024-03-01T14:30:00'],
  ['1 tháng 3, 2024', '2024-03-01'],
  ['1 มีนาคม 2024', '2024-03-01'],
  ['1 มีนาคม 2567', null],
  ['1 במרץ 2024', '2024-03-01'],
  ['1 مارس 2024', '2024-03-01'],
  ['2024年3月1日 下午2:30', '2024-03-01T14:30:00'],
  ['2024년 3월 1일', '2024-03-01'],
  ['1 de marzo de 2024 a las 2:30\u00a0p.\u00a0m.', '2024-03-01T14:30:00'],
  ['1 de março de 2024 às 14:30', '2024-03-01T14:30:00'],
  ['1 marzo 2024 alle ore 14:30', '2024-03-01T14:30:00'],
  ['1 maart 2024 om 14:30 → 16:00', '2024-03-01T14:30:00', '2024-03-01T16:00:00'],
  ['1. maaliskuuta 2024 klo 14.30', '2024-03-01T14:30:00'],
  ['1. marts 2024 kl. 14.30', '2024-03-01T14:30:00'],
  ['1 Maret 2024 pukul 14.30', '2024-03-01T14:30:00'],
  ['1 maart 2024 omstreeks 14:30', null],
  ['03/04/2024', null],
  ['February 30, 2024', null],
  ['March 1, 2024 25:00', null],
  ['March 1, 2024 9:00 AM (PST)', null],
  ['Smarch 1, 2024', null],
  ['yesterday', null],
  ['', null],
]

test('only unambiguous dates are parsed', () => {
  for (const [text, start, end] of DATES)
    assert.deepEqual(readDate(text), start === null ? null : { start, end: end ?? null }, text)
})
