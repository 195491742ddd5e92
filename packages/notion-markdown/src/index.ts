// Notion HTML exports → Markdown. Pure: no file, no clock, no network, no Node.
import { Anchors, resolveTargets } from './anchors.ts'
import { completeTree } from './given-tree.ts'
import { applyHooks, type Hooks } from './hooks.ts'
import { writeMarkdown } from './markdown.ts'
import { readPage, type Page } from './page.ts'
import type { Root } from './tree.ts'

/** A caller's options for one exported page. */
export interface PageOptions {
  /** The file's name, used for the title and the id if the page itself has none. */
  fileName?: string
}

/** Options of `parsePage`. */
export interface ParseOptions extends PageOptions {
  /** Whether each node of the tree has its position in the page's HTML. Default: false. */
  positions?: boolean
}

/**
 * Converts one page of a Notion HTML export to Markdown (CommonMark + GFM + math), exactly as the
 * API does, except for the changes by hooks.
 *
 * @param html the page's text
 * @returns the document: LF, one final newline; the same input always gives the same text
 * @throws TypeError if the page is not a string
 * @throws RangeError if `headingOffset` is invalid
 */
export function convertHtml(html: string, options: PageOptions & Hooks = {}): string {
  checkString(html, 'convertHtml')
  return write(parsePage(html, options).tree, options)
}

/**
 * Writes a tree as Markdown: that of `parsePage`, or one with the same nodes.
 * `toMarkdown(parsePage(html).tree)` is `convertHtml(html)`. Fields that are optional in mdast may
 * be missing.
 *
 * @returns LF, one final newline
 * @throws RangeError if `headingOffset` is invalid
 * @throws TypeError if the tree has a node that `parsePage`'s have not
 */
export function toMarkdown(tree: Root, hooks: Hooks = {}): string {
  return write(completeTree(tree), hooks)
}

function write(tree: Root, hooks: Hooks): string {
  const changed = applyHooks(tree, hooks)
  const { markdown, outline } = writeMarkdown(hooks.block ? completeTree(changed) : changed)
  return resolveTargets(markdown, outline, new Anchors().ofPage(outline), () => undefined)
}

/**
 * Reads one page of a Notion HTML export.
 *
 * With `positions`, every node has a `position` (unist), a range of `html`: a block that of its
 * element, text that of its source with tags and references; a parent reaches around its children.
 * A node that the page does not write, such as an empty cell, has the position of its parent.
 *
 * @param html the page's text
 * @returns its id, title, icon, properties, assets, warnings and tree (mdast's node names)
 * @throws TypeError if the page is not a string
 */
export function parsePage(html: string, options: ParseOptions = {}): Page {
  checkString(html, 'parsePage')
  const { fileName = '', positions = false } = options
  return readPage(html, fileName, undefined, { hasPositions: positions })
}

/** Callers in plain JavaScript get an error about their argument, not an internal one. */
function checkString(html: unknown, name: string): void {
  if (typeof html === 'string') return
  const given = html === null ? 'null' : Array.isArray(html) ? 'an array' : typeof html
  const hint = ArrayBuffer.isView(html) ? ' Decode bytes with decodeHtml first.' : ''
  throw new TypeError(`${name} needs the HTML as a string; it was given ${given}.${hint}`)
}

export { decodeHtml, looksLikeHtml, looksLikeZip } from './decode.ts'
export type { Asset, Warning } from './links.ts'
export type { Hooks } from './hooks.ts'
export type { Page } from './page.ts'
export type { Chunk } from './chunk-lines.ts'
export type { SourceRange } from './source-map.ts'
export type * from './tree.ts'
