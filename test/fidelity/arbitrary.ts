// Random Notion pages: every block in every other, every mark on every text, and texts made of what
// Markdown itself is made of.
import * as fc from 'fast-check'
import type { Block, Inline, InlineMark, Page, PropertyType, Values } from './exporter.ts'

/** Every ASCII punctuation character. */
export const PUNCTUATION = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']

/** Pieces of text that mean something in Markdown, or that break naive converters. */
const PIECES = [
  'word',
  'a',
  'B',
  '1',
  'é',
  '中文',
  '「',
  '」',
  '。',
  '日本語',
  '한국어',
  'שלום',
  'مرحبا',
  '🚀',
  '👩‍👩‍👧‍👦',
  'e\u{301}',
  '\u{200D}',
  '\u{AD}',
  '“',
  '”',
  '…',
  '—',
  ' ',
  ' ',
  ' ',
  ' ',
  '  ',
  'a\u{A0}b',
  '\u{A0}',
  '\t',
  '\u{2003}',
  '\u{3000}',
  '1. ',
  '1) ',
  '12345678901. ',
  '- ',
  '+ ',
  '* ',
  '# ',
  '## ',
  '#',
  '> ',
  '===',
  '---',
  '***',
  '___',
  '```',
  '~~~',
  '~',
  '~~',
  '**',
  '__',
  '``',
  '$$',
  '$5',
  '$x$',
  '\\',
  '\\\\',
  '\\*',
  '| a | b |',
  '|',
  '| - |',
  '[x]',
  '[ ]',
  '[x] ',
  '[a](b)',
  '![a](b)',
  '[^1]',
  '[^1]: ',
  '[a]: b',
  '<div>',
  '</details>',
  '<b>x</b>',
  '<!--',
  '-->',
  '<?',
  '<a@b.c>',
  '<https://e.com>',
  '&amp;',
  '&lt;',
  '&#42;',
  '&nbsp;',
  '&copy',
  'https://example.com/a_b_?x=1&y=2',
  'http://e.com.',
  'www.example.com/*x*',
  'me_too@example.com',
  'snake_case_name',
  '5 * 3',
  'a*b*c',
  'x < y',
  'x<y>z',
  'C#',
  '^',
  '==x==',
  ':smile:',
  '@ann',
  '#1',
  '{{c1::x}}',
  '%20',
  'a/b',
  '\\(x\\)',
  '\u{FEFF}',
  '\u{200B}',
]

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PIECES) },
  { weight: 3, arbitrary: fc.constantFrom(...PUNCTUATION) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...PUNCTUATION)
      .chain((mark) => fc.integer({ min: 2, max: 5 }).map((times) => mark.repeat(times))),
  },
)

/** A text on one line. */
const lineArbitrary = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))

/** A text that may have line breaks in it. */
const textArbitrary = fc.oneof(
  { weight: 6, arbitrary: lineArbitrary },
  {
    weight: 1,
    arbitrary: fc
      .array(lineArbitrary, { minLength: 2, maxLength: 3 })
      .map((lines) => lines.join('\n')),
  },
)

const wordArbitrary = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'Straße', 'naïve', '東京')

const marksArbitrary: fc.Arbitrary<InlineMark[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<InlineMark[]>([]) },
  {
    weight: 2,
    arbitrary: fc.uniqueArray(
      fc.constantFrom<InlineMark>(
        'strong',
        'em',
        'del',
        'code',
        'underline',
        'colour',
        'background',
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
)

const hrefArbitrary = fc.constantFrom(
  'https://example.com/',
  'https://example.com/a_b?x=1&y=2#z',
  'https://example.com/a(b)c',
  'https://example.com/a%20b',
  'Page%20abc.html',
  '../x.html',
  'mailto:a@b.c',
  'https://example.com/"<>',
  'https://example.com/a*b*[c]`d`',
  'https://例え.jp/パス',
)

/** TeX as people write it. */
const texArbitrary = fc
  .array(
    fc.constantFrom(
      'x',
      'y_1',
      'a^2',
      '+',
      '=',
      '\\frac{a}{b}',
      '\\text{if }',
      '<',
      '\\&',
      '&',
      '\\\\',
      '*',
      '_',
      '`',
      '|',
      '\\$',
      '~',
      '#',
      '[',
      ']',
      ' ',
      '\\{',
      '\\}',
      '5',
      '\\|',
      '\\left\\|',
      '\\right|',
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((tex) => tex.trim() !== '' && !tex.trim().endsWith('\\'))

const inlineArbitrary: fc.Arbitrary<Inline> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('text' as const),
      text: textArbitrary,
      marks: marksArbitrary,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('text' as const),
      text: fc.oneof(wordArbitrary, lineArbitrary),
      marks: marksArbitrary,
      href: hrefArbitrary,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('equation' as const),
      tex: texArbitrary,
      marks: marksArbitrary.map((marks) => marks.filter((mark) => mark !== 'code')),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('equation' as const),
      tex: texArbitrary,
      href: hrefArbitrary,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('user' as const),
      name: fc.oneof(wordArbitrary, lineArbitrary),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({ kind: 'date' as const, text: 'March 1, 2024 → March 3, 2024' }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('page' as const),
      title: fc.oneof(wordArbitrary, lineArbitrary),
      href: hrefArbitrary,
      icon: fc.constantFrom('', '🎨'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'break' as const }) },
)

/** Inline content; empty now and then. */
export const inlinesArbitrary = fc.array(inlineArbitrary, { maxLength: 4 })

const valuesArbitrary: fc.Arbitrary<Values> = fc.record({
  status: fc.oneof(fc.constant(''), lineArbitrary),
  people: fc.array(fc.oneof(wordArbitrary, lineArbitrary), { maxLength: 2 }),
  files: fc.array(
    fc.record({ href: hrefArbitrary, label: fc.oneof(wordArbitrary, lineArbitrary) }),
    { maxLength: 2 },
  ),
  mail: fc.constantFrom('', 'ann@acme.org', 'a.b+c_d@example.co.uk'),
  phone: fc.constantFrom('', '+1 (555) 010-20_30', '0800*123#'),
  url: fc.constantFrom('', 'https://example.com/a_b?x=1&y=2', 'example.com/*x*'),
  number: fc.constantFrom('', 'R$67.3', '-1,234.5', '12%', '1. 5'),
})

const codeArbitrary = fc
  .array(
    fc.oneof(
      lineArbitrary,
      fc.constantFrom(
        '',
        '  indented',
        '\ttab',
        '```',
        '~~~~',
        '    four',
        '````js',
        '$$',
        '</code>',
      ),
    ),
    { maxLength: 5 },
  )
  .map((lines) => lines.join('\n'))

const { block: blockArbitrary } = fc.letrec<{ block: Block; blocks: Block[] }>((tie) => ({
  blocks: fc.array(tie('block'), { maxLength: 3, depthIdentifier: 'blocks' }),
  block: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'blocks', depthSize: 'small' },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('paragraph' as const),
        text: inlinesArbitrary,
        children: fc.constant([]),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'empty' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'divider' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('heading' as const),
        level: fc.constantFrom(1 as const, 2 as const, 3 as const, 4 as const),
        text: inlinesArbitrary,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('code' as const),
        language: fc.constantFrom('Plain Text', 'JavaScript', 'C++', 'C#', 'Shell', 'LaTeX'),
        text: codeArbitrary,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('equation' as const),
        tex: fc
          .array(texArbitrary, { minLength: 1, maxLength: 3 })
          .map((lines) => lines.join('\n')),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('image' as const),
        src: fc.constantFrom(
          'Page/x%20y.png',
          'https://example.com/a_(b).png?x=1&y=2',
          'Page/%E2%80%93.png',
        ),
        caption: inlinesArbitrary,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('file' as const),
        href: hrefArbitrary,
        label: lineArbitrary,
        caption: inlinesArbitrary,
        isBare: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('bookmark' as const),
        href: hrefArbitrary,
        title: fc.oneof(fc.constant(''), lineArbitrary),
        description: fc.oneof(fc.constant(''), lineArbitrary),
        caption: inlinesArbitrary,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('contents' as const),
        entries: fc.array(fc.record({ text: lineArbitrary, indent: fc.nat(3) }), { maxLength: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('pageLink' as const),
        href: hrefArbitrary,
        title: lineArbitrary,
        icon: fc.constantFrom('', '🎨'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 1, max: 3 }).chain((width) =>
        fc.record({
          kind: fc.constant('table' as const),
          header: fc.boolean(),
          column: fc.boolean(),
          rows: fc.array(fc.array(inlinesArbitrary, { minLength: width, maxLength: width }), {
            minLength: 1,
            maxLength: 3,
          }),
        }),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('database' as const),
        title: lineArbitrary,
        rows: fc.array(
          fc.record({
            title: lineArbitrary,
            tags: fc.array(lineArbitrary, { maxLength: 3 }),
            done: fc.boolean(),
            date: fc.constantFrom('', 'March 1, 2024'),
            note: inlinesArbitrary,
            values: valuesArbitrary,
          }),
          { maxLength: 2 },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('paragraph' as const, 'quote' as const, 'toggle' as const),
        text: inlinesArbitrary,
        children: tie('blocks'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('bullet' as const),
        text: inlinesArbitrary,
        children: tie('blocks'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('number' as const),
        text: inlinesArbitrary,
        children: tie('blocks'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('number' as const),
        text: inlinesArbitrary,
        children: tie('blocks'),
        restart: fc.constantFrom(1, 2, 7, 10, 99, 123456789),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('todo' as const),
        text: inlinesArbitrary,
        checked: fc.boolean(),
        children: tie('blocks'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('callout' as const),
        icon: fc.constantFrom('', '💡'),
        text: inlinesArbitrary,
        children: tie('blocks'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('toggleHeading' as const),
        level: fc.constantFrom(1 as const, 2 as const, 3 as const),
        text: inlinesArbitrary,
        children: tie('blocks'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('columns' as const),
        columns: fc.array(tie('blocks'), { minLength: 2, maxLength: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('synced' as const), children: tie('blocks') }),
    },
  ),
}))

export { blockArbitrary }

export const pageArbitrary: fc.Arbitrary<Page> = fc.record({
  title: fc.array(inlineArbitrary, { minLength: 1, maxLength: 2 }),
  icon: fc.constantFrom('', '🚀'),
  description: fc.oneof(fc.constant(''), textArbitrary),
  properties: fc.array(
    fc.record({
      name: lineArbitrary,
      type: fc.constantFrom<PropertyType>(
        'text',
        'multi_select',
        'checkbox',
        'date',
        'status',
        'person',
        'file',
        'email',
        'phone_number',
        'url',
        'number',
      ),
      text: inlinesArbitrary,
      values: fc.array(lineArbitrary, { maxLength: 3 }),
      of: valuesArbitrary,
    }),
    { maxLength: 2 },
  ),
  blocks: fc.array(blockArbitrary, { maxLength: 5 }),
})
