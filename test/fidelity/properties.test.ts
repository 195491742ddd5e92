// Whatever a person may have typed in Notion, in whatever block, printed by whatever version of the
// exporter, is in the Markdown. The usual run is the same every time; FIDELITY_RUNS=20000 makes a
// long one with cases of its own, FIDELITY_SEED=N repeats that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { convertHtml } from '../../packages/notion-markdown/src/index.ts'
import { blockArbitrary, inlinesArbitrary, pageArbitrary } from './arbitrary.ts'
import { judge } from './compare.ts'
import { ERAS, printPage, type Block, type Era, type Inline, type Page } from './exporter.ts'

const { FIDELITY_RUNS: long, FIDELITY_SEED: seed = long === undefined ? '1' : undefined } =
  process.env
const runs = (usual: number) => ({
  numRuns: Number(long ?? usual),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
})

const pageOf = (blocks: readonly Block[]): Page => ({
  title: [{ kind: 'text', text: 'Page' }],
  icon: '',
  description: '',
  properties: [],
  blocks,
})

/** Fails with the exporter's HTML, the Markdown and each difference. */
function holds(page: Page, era: Era): void {
  const html = printPage(page, era)
  const markdown = convertHtml(html)
  const differences = judge(html, markdown)
  const body = html.slice(html.indexOf('<article'))
  assert.ok(
    differences.length === 0,
    `${differences.map(({ kind, where, expected, actual }) => `${kind} · ${where}\n  expected: ${expected}\n  actual:   ${actual}`).join('\n')}\n\nera ${era}: ${body}\n\n${markdown}`,
  )
}

const eraArbitrary = fc.constantFrom(...ERAS)

/** TABLE: a place for inline content → the block around it. */
const places: Record<string, (text: Inline[]) => Block[]> = {
  paragraph: (text) => [{ kind: 'paragraph', text, children: [] }],
  heading: (text) => [{ kind: 'heading', level: 2, text }],
  item: (text) => [
    { kind: 'bullet', text, children: [] },
    { kind: 'number', text, children: [] },
  ],
  todo: (text) => [{ kind: 'todo', text, checked: true, children: [] }],
  quote: (text) => [{ kind: 'quote', text, children: [] }],
  callout: (text) => [
    { kind: 'callout', icon: '', text, children: [] },
    { kind: 'callout', icon: '💡', text, children: [] },
  ],
  toggle: (text) => [
    { kind: 'toggle', text, children: [] },
    { kind: 'toggleHeading', level: 1, text, children: [] },
  ],
  cell: (text) => [
    {
      kind: 'table',
      header: true,
      rows: [
        [text, text],
        [text, []],
      ],
    },
  ],
  caption: (text) => [{ kind: 'image', src: 'x.png', caption: text }],
}

for (const [place, around] of Object.entries(places)) {
  test(`any inline content in a ${place}`, () => {
    fc.assert(
      fc.property(inlinesArbitrary, eraArbitrary, (text, era) => holds(pageOf(around(text)), era)),
      runs(150),
    )
  })
}

test('any block next to any other', () => {
  fc.assert(
    fc.property(
      fc.array(blockArbitrary, { minLength: 2, maxLength: 4 }),
      eraArbitrary,
      (blocks, era) => holds(pageOf(blocks), era),
    ),
    runs(300),
  )
})

test('any page', () => {
  fc.assert(fc.property(pageArbitrary, eraArbitrary, holds), runs(250))
})

test('the same page exported in any era gives the same document', () => {
  fc.assert(
    fc.property(pageArbitrary, (page) => {
      // What differs by design: descriptions (from the third era), code languages and doubled
      // breaks (from the fourth), levels of headings (since the sixth).
      const bare = {
        ...page,
        description: '',
        blocks: page.blocks.filter(
          (block) => block.kind === 'bullet' || block.kind === 'quote' || block.kind === 'divider',
        ),
      }
      const text = JSON.stringify(bare)
      fc.pre(
        !text.includes('\\n') &&
          !text.includes('"break"') &&
          !text.includes('"code"') &&
          !text.includes('callout') &&
          !text.includes('eading'),
      )
      const [first, ...rest] = ERAS.map((era) => convertHtml(printPage(bare, era)))
      for (const markdown of rest) assert.equal(markdown, first)
    }),
    runs(100),
  )
})
