// No more escaping than is needed: ordinary sentences carry none, and taking away any one escape
// changes what is read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { render } from './compare.ts'
import { parsePart, rawText } from './dom.ts'
import { printPage, type Block, type Inline } from './exporter.ts'

/** Sentences as people type them that mean nothing in Markdown. */
const plain = [
  'snake_case_name and _private',
  '5 * 3 = 15',
  '2 ** 8',
  'a < b and c > d',
  'x <3',
  'if (a <= b && c) { d }',
  'It costs $5.',
  'from $5 to 10',
  '[x] y',
  'see [1] for more',
  'an array a[0][1]',
  'C# and F#',
  'in 1. place',
  'No. 1.',
  'Say 1) hello',
  'https://example.com/a_b?x=1&y=2',
  'see https://example.com/a_b_c for *',
  'me@example.com',
  'AT&T',
  'R&D; Q&A',
  'one - two',
  'one – two',
  'a + b',
  'a+b',
  '50 % off!',
  'Hello, world!',
  'Wow! [really]',
  'a|b',
  'a ~ b',
  'about ~5',
  'C:\\Users\\me',
  'it\'s "quoted"',
  '(in brackets)',
  'key: value',
  'a = b',
  'a == b',
  'x^2',
  '{curly}',
  'who/what',
  'why?',
  '#hashtag',
  '@someone',
  '100 #',
  'tick ` tock',
  'a_b',
  '* and _ and `',
  '...',
  'a; b',
  '→ x',
  '«a»',
  '日本語。テスト',
  'file.name.txt',
  '10:30',
  '3.14',
]

/** Sentences that need an escape somewhere. */
const pointed = [
  '*not bold*',
  '**not bold**',
  '_not italic_',
  '__init__',
  '~~not struck~~',
  '`not code`',
  '# not a heading',
  '- not an item',
  '+ not an item',
  '1. not an item',
  '1) not an item',
  '> not a quote',
  '---',
  '***',
  '===',
  '```',
  '~~~',
  '[not](link)',
  '![not](image)',
  '<div>',
  '</div>',
  '<!-- x -->',
  '<https://example.com>',
  '&amp;',
  '&#42;',
  '&copy;',
  '$x$ and $y$',
  '$$x$$',
  '| a | b |',
  '[x] not a task',
  '[^1]: note',
  '[a]: b',
  'a\\*b',
  '\\',
  'ends with \\',
  '5*3*2',
  'a*b*c',
  '<b>x</b> <i>',
  '*a* _b_ `c` [d](e) <f> &lt;',
  'www.example.com/*x*',
  '**a*',
  '~a~',
]

/** TABLE: places where a sentence may stand. */
const places: Record<string, (text: Inline[]) => Block> = {
  paragraph: (text) => ({ kind: 'paragraph', text, children: [] }),
  heading: (text) => ({ kind: 'heading', level: 2, text }),
  item: (text) => ({ kind: 'bullet', text, children: [] }),
  quote: (text) => ({ kind: 'quote', text, children: [] }),
  cell: (text) => ({ kind: 'table', header: true, rows: [[text, text]] }),
  caption: (text) => ({ kind: 'image', src: 'x.png', caption: text }),
}

const convert = (place: (text: Inline[]) => Block, text: Inline[]) =>
  convertHtml(
    printPage(
      {
        title: [{ kind: 'text', text: 'T' }],
        icon: '',
        description: '',
        properties: [],
        blocks: [place(text)],
      },
      4,
    ),
  )

/** A sentence at the start, the end and in the middle of others. */
const around = (sentence: string) => [
  sentence,
  `so ${sentence}`,
  `${sentence} so`,
  `so\n${sentence}`,
]

/** The escapes of a document, each with what it stands for. */
function escapesOf(markdown: string): { index: number; length: number; bare: string }[] {
  return [...markdown.matchAll(/\\(?=[!-/:-@[-`{-~])|&(?:#x?[0-9a-f]+|[a-z]+);/gi)]
    .map(({ index, 0: escape }) => ({
      index,
      length: escape.length,
      bare: escape === '\\' ? '' : rawText(parsePart(escape)),
      escape,
    }))
    .filter(({ bare, escape }) => bare !== escape)
}

/** The sentences that may not stand bare in some place, for a reason. */
const needed: [place: string, sentence: string][] = [
  ['cell', 'a|b'],
  ['item', '[x] y'],
  ['paragraph', '100 #'],
  ['heading', '100 #'],
  ['caption', 'see [1] for more'],
  ['caption', '[x] y'],
  ['caption', 'an array a[0][1]'],
  ['caption', 'Wow! [really]'],
]

for (const [name, place] of Object.entries(places)) {
  test(`plain sentences stay bare in a ${name}`, () => {
    const escaped = plain
      .filter((sentence) => !needed.some(([where, text]) => where === name && text === sentence))
      .map((sentence) => ({
        sentence,
        markdown: convert(place, [{ kind: 'text', text: sentence }]),
      }))
      .filter(({ sentence, markdown }) => !markdown.includes(sentence))
    assert.deepEqual(
      escaped.map(({ sentence, markdown }) => `${sentence} → ${markdown.slice(5).trim()}`),
      [],
    )
  })

  test(`each escape in a ${name} is needed`, () => {
    const idle: string[] = []
    for (const sentence of plain) {
      for (const text of around(sentence)) {
        const markdown = convert(place, [{ kind: 'text', text }])
        const html = render(markdown)
        for (const { index, length, bare } of escapesOf(markdown)) {
          if (render(markdown.slice(0, index) + bare + markdown.slice(index + length)) === html)
            idle.push(
              `${JSON.stringify(text)} → ${JSON.stringify(markdown.slice(5))}, at ${index - 5}`,
            )
        }
      }
    }
    assert.ok(
      idle.length === 0,
      `${idle.length} escapes do nothing:\n${idle.slice(0, 20).join('\n')}`,
    )
  })

  // Of two delimiters either may be escaped, so here they are judged together.
  test(`a sentence is escaped in a ${name} only if it would read otherwise`, () => {
    const idle: string[] = []
    for (const text of pointed.flatMap(around)) {
      const markdown = convert(place, [{ kind: 'text', text }])
      const escapes = escapesOf(markdown)
      const bare = escapes.reduceRight(
        (left, { index, length, bare }) => left.slice(0, index) + bare + left.slice(index + length),
        markdown,
      )
      if (escapes.length > 0 && render(bare) === render(markdown))
        idle.push(`${JSON.stringify(text)} → ${JSON.stringify(markdown.slice(5))}`)
    }
    assert.ok(
      idle.length === 0,
      `${idle.length} sentences are escaped for nothing:\n${idle.slice(0, 20).join('\n')}`,
    )
  })
}
