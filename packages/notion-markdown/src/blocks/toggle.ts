import { attribute, find, type Element } from '../html.ts'
import type { Flow, Section } from '../flow.ts'
import { readInline } from '../inline.ts'
import { nestMarks } from '../runs.ts'
import type { Depth } from '../tree.ts'

/**
 * TABLE of font sizes, the only trace of a toggle heading before 2026; Notion's level 1 is the
 * document's 2.
 */
const DEPTH_OF_SIZE: readonly (readonly [string, Depth])[] = [
  ['1.875em', 2],
  ['1.5em', 3],
  ['1.25em', 4],
  ['1.125em', 5],
]

/** The depth of a heading. Those of the body are one level below the page's title. */
export function depthOf(heading: Element, { lift }: Section): Depth {
  return Math.max(2, Math.min(6, Number(heading.name[1]) + 1 - lift)) as Depth
}

/** `<details>`: a toggle, or a toggle heading. */
export function readDetails(element: Element, flow: Flow): void {
  const summary = element.children.find(
    (node): node is Element => typeof node !== 'string' && node.name === 'summary',
  )
  const style = summary ? (attribute(summary, 'style') ?? '') : ''
  const size = /(?:^|;)\s*font-size:\s*([\d.]+em)/.exec(style)?.[1]
  const heading = summary && find(summary, 1, ({ name }) => /^h[1-6]$/.test(name))
  const depth = heading
    ? depthOf(heading, flow.section)
    : (DEPTH_OF_SIZE.find(([name]) => name === size)?.[1] ?? null)
  if (depth !== null) flow.section.depth = depth
  const { positions } = flow.section
  const within = summary && positions?.contentOf(summary)
  const runs = summary ? readInline(summary.children, flow.links, positions, within) : []
  // The summary is HTML, and a document's HTML has no images, so they come first below it.
  const pictures = nestMarks(
    runs.filter(({ kind }) => kind === 'image'),
    positions,
  )
  const children = flow.inside(element.children.filter((node) => node !== summary))
  if (pictures.length > 0) children.unshift({ type: 'paragraph', children: pictures })
  flow.add({
    type: 'details',
    depth,
    id: attribute(element, 'id') ?? null,
    summary: nestMarks(
      runs.filter(({ kind }) => kind !== 'image'),
      positions,
    ),
    children,
  })
}
