// The values of properties as what they are: numbers, truth values, dates, lists, links.
import { readDate, type DateValue } from './dates.ts'
import {
  find,
  hasClass,
  isCheckbox,
  isChecked,
  textContent,
  type Element,
  type Node,
} from './html.ts'
import { plainText, type Inline } from './tree.ts'

/** Where a value leads: a page or a file, whose address is between markers until its place is known. */
export interface LinkedValue {
  text: string
  /** Null where it leads nowhere. */
  url: string | null
}

/** A property's value. */
export type PropertyValue =
  | { type: 'empty' }
  | { type: 'text'; value: string }
  | { type: 'number'; value: number }
  | { type: 'checkbox'; value: boolean }
  | ({ type: 'date' } & DateValue)
  | { type: 'list'; values: string[] }
  | { type: 'files'; values: LinkedValue[] }
  | { type: 'relation'; values: LinkedValue[] }

/** TABLE of what the exporter calls the kinds of properties that hold lists, whatever they hold. */
const LISTS = new Set(['multi_select', 'person', 'people'])
const ONE_PERSON = new Set(['created_by', 'last_edited_by'])
const FILES = new Set(['file', 'files'])
const DATES = new Set(['date', 'created_time', 'last_edited_time'])
/** What only looks like numbers: leading zeros and signs in it count. */
const TEXTS = new Set([
  'text',
  'rich_text',
  'title',
  'phone_number',
  'phone',
  'email',
  'url',
  'select',
  'status',
])

/**
 * Reads a property's value.
 *
 * @param cell what the exporter wrote
 * @param shown the same, read
 * @param kind the exporter's word for the property's kind; empty where it has none
 */
export function readPropertyValue(
  cell: Element,
  shown: readonly Inline[],
  kind: string,
): PropertyValue {
  const text = plainText(shown).replace(/\s+/g, ' ').trim()
  const box = find(cell, 2, isCheckbox)
  if (box && /^[☑☐]$/.test(text)) return { type: 'checkbox', value: isChecked(box) }
  if (kind === 'relation') return { type: 'relation', values: linksOf(shown) }
  if (FILES.has(kind)) return { type: 'files', values: linksOf(shown) }
  const options = optionsOf(cell)
  if (LISTS.has(kind)) return { type: 'list', values: options.length > 0 ? options : listed(text) }
  if (text === '') return { type: 'empty' }
  if (ONE_PERSON.has(kind) || TEXTS.has(kind)) return { type: 'text', value: text }
  if (options.length > 1) return { type: 'list', values: options }
  const isDate = DATES.has(kind) || find(cell, 2, ({ name }) => name === 'time') !== undefined
  const date = isDate ? readDate(text) : null
  if (date) return { type: 'date', ...date }
  const number = isDate || options.length > 0 ? null : readNumber(text)
  return number === null ? { type: 'text', value: text } : { type: 'number', value: number }
}

/** A number as every language writes it; with a sign for thousands, money or percent it stays text. */
export function readNumber(text: string): number | null {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) || text.replace(/\D/g, '').length > 15) return null
  const value = Number(text)
  return Object.is(value, -0) ? null : value
}

const isOption = (node: Node): node is Element =>
  typeof node !== 'string' &&
  node.name === 'span' &&
  (hasClass(node, 'selected-value') || hasClass(node, 'status-value') || hasClass(node, 'user'))

/** The options and the people of a cell. */
function optionsOf(cell: Element): string[] {
  return cell.children.filter(isOption).flatMap((option) => {
    const text = option.children
      .filter(
        (node) =>
          typeof node === 'string' ||
          !(hasClass(node, 'user-icon') || hasClass(node, 'status-dot')),
      )
      .map(textContent)
      .join('')
      .replace(/\s+/g, ' ')
      .trim()
    return text === '' ? [] : [text]
  })
}

const listed = (text: string): string[] => (text === '' ? [] : [text])

/** Every link and image among inline nodes; text between them that is no mere separator stays. */
function linksOf(nodes: readonly Inline[]): LinkedValue[] {
  return nodes.flatMap((node): LinkedValue[] => {
    if (node.type === 'link') return [{ text: plainText([node]).trim() || node.url, url: node.url }]
    if (node.type === 'image') return [{ text: node.alt || node.url, url: node.url }]
    if ('children' in node) return linksOf(node.children)
    const text = plainText([node]).replace(/^[\s,]+|[\s,]+$/g, '')
    return text === '' ? [] : [{ text, url: null }]
  })
}
