// Every ASCII punctuation character and its runs, in every place of a line and every place of a
// page, renders as typed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { PUNCTUATION } from './arbitrary.ts'
import { judge } from './compare.ts'
import { printPage, type Block, type Inline, type Page, type Values } from './exporter.ts'

/** TABLE: places in a line. */
const forms: Record<string, (run: string) => string> = {
  alone: (run) => run,
  'at the start': (run) => `${run} word`,
  'at the end': (run) => `word ${run}`,
  'around a line': (run) => `${run}word word${run}`,
  'around a word': (run) => `a ${run}word${run} b`,
  'between words': (run) => `word ${run} word`,
  'within a word': (run) => `wo${run}rd`,
  'beside a line break': (run) => `word${run}\n${run} word`,
}

/** One page that holds a text in every place that can hold one. */
function everywhere(text: string): Page {
  const plain: Inline[] = [{ kind: 'text', text }]
  const marked = (...marks: ('strong' | 'em' | 'del' | 'code' | 'underline')[]): Inline[] => [
    { kind: 'text', text: 'a ' },
    { kind: 'text', text, marks },
    { kind: 'text', text: ' b' },
  ]
  const line = text.replaceAll('\n', ' ')
  const values: Values = {
    status: line,
    people: [line],
    files: [{ href: 'x.pdf', label: line }],
    mail: '',
    phone: '',
    url: '',
    number: line,
  }
  const blocks: Block[] = [
    { kind: 'paragraph', text: plain, children: [] },
    { kind: 'heading', level: 1, text: plain },
    { kind: 'paragraph', text: marked('strong'), children: [] },
    { kind: 'paragraph', text: marked('em'), children: [] },
    { kind: 'paragraph', text: marked('del'), children: [] },
    { kind: 'paragraph', text: marked('code'), children: [] },
    { kind: 'paragraph', text: marked('underline'), children: [] },
    {
      kind: 'paragraph',
      text: [{ kind: 'text', text, href: 'https://example.com/' }],
      children: [],
    },
    { kind: 'bullet', text: plain, children: [{ kind: 'paragraph', text: plain, children: [] }] },
    { kind: 'number', text: plain, children: [] },
    { kind: 'todo', text: plain, checked: false, children: [] },
    { kind: 'toggle', text: plain, children: [{ kind: 'paragraph', text: plain, children: [] }] },
    { kind: 'toggleHeading', level: 2, text: plain, children: [] },
    { kind: 'quote', text: plain, children: [] },
    { kind: 'callout', icon: '💡', text: plain, children: [] },
    { kind: 'callout', icon: '', text: plain, children: [] },
    { kind: 'code', language: 'Plain Text', text },
    { kind: 'file', href: 'x.pdf', label: line, caption: plain },
    {
      kind: 'bookmark',
      href: 'https://example.com/',
      title: line,
      description: line,
      caption: plain,
    },
    { kind: 'pageLink', href: 'Page.html', title: line, icon: '' },
    // Last among the figures: a paragraph of the same text right below it would look like its
    // caption.
    { kind: 'image', src: 'x.png', caption: plain },
    {
      kind: 'table',
      header: true,
      rows: [
        [plain, marked('code')],
        [plain, plain],
      ],
    },
    {
      kind: 'database',
      title: line,
      rows: [{ title: line, tags: [line, line], done: true, date: '', note: plain, values }],
    },
  ]
  return {
    title: plain,
    icon: '',
    description: text,
    properties: [
      { name: line, type: 'multi_select', text: [], values: [line, line], of: values },
      { name: line, type: 'text', text: plain, values: [], of: values },
    ],
    blocks,
  }
}

for (const [place, form] of Object.entries(forms)) {
  test(`punctuation ${place}`, () => {
    const wrong: string[] = []
    for (const character of PUNCTUATION) {
      for (let length = 1; length <= 4; length++) {
        const text = form(character.repeat(length))
        const html = printPage(everywhere(text), 4)
        const [first] = judge(html, convertHtml(html))
        if (first)
          wrong.push(
            `${JSON.stringify(text)}: ${first.kind} · ${first.where}\n    expected: ${first.expected}\n    actual:   ${first.actual}`,
          )
      }
    }
    assert.ok(
      wrong.length === 0,
      `${wrong.length} texts do not render as typed:\n${wrong.slice(0, 12).join('\n')}`,
    )
  })
}
