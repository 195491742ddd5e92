// Whether the positions of a page's tree are right: every node has one, children lie inside their
// parents, and texts come from where they say.
import { decodeHTML } from 'entities'
import { parsePage, type Position } from '../src/index.ts'

/** The parts of a tree node that are used here. */
interface Node {
  type: string
  value?: string
  position?: Position
  children?: readonly Node[]
  summary?: readonly Node[]
}

/**
 * Texts that the converter writes itself: separators, check boxes, the title of a row without one.
 */
const WRITTEN = /, |[☑☐]|: |Untitled/

const squeeze = (text: string): string => text.replace(/[\s\ufeff\0]+/g, '')

/** A comment, or a tag and the icon that it may have as an attribute. */
const MARKUP = /<!--(?:-?>|[^]*?--!?>)|<(?:[^>"]*data-emoji="([^"]*)"|"[^"]*"|[^>"])*>/g

/** The text of a piece of HTML, without white space. */
const textIn = (html: string): string =>
  squeeze(decodeHTML(html.replace(MARKUP, (_, emoji?: string) => emoji ?? '')))

/** What is wrong with the positions in a page's tree, a sentence each. */
export function positionFaults(html: string): string[] {
  const lines = html.split(/\r\n?|\n/)
  const faults: string[] = []
  const visit = (node: Node, around: Position | undefined): void => {
    const { type, position, value = '' } = node
    if (!position) return void faults.push(`${type} has no position`)
    const [from, to] = [position.start.offset, position.end.offset]
    if (from > to) faults.push(`${type} ends before it begins`)
    if (around && (from < around.start.offset || to > around.end.offset))
      faults.push(`${type} at ${from} reaches out of its parent`)
    for (const { line, column } of [position.start, position.end])
      if (column < 1 || column > (lines[line - 1] ?? '').length + 1)
        faults.push(`${type} is in column ${column} of line ${line}`)
    const source = html.slice(from, to)
    // Media and files are named by their addresses.
    const texts = [textIn(source), source, source.replaceAll('%20', '')]
    const isThere = texts.some((text) => text.includes(squeeze(value)))
    if (type === 'text' && !isThere && !WRITTEN.test(value))
      faults.push(`"${value}" is not at ${from}`)
    for (const child of [...(node.summary ?? []), ...(node.children ?? [])]) visit(child, position)
  }
  visit(parsePage(html, { positions: true }).tree, undefined)
  return faults
}
