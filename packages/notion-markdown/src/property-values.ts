// The typed values of properties: numbers, booleans, dates, lists, links.
import { readDate, readIsoDate, type DateValue } from './dates.ts'
import {
  attribute,
  find,
  hasClass,
  isCheckbox,
  isChecked,
  textContent,
  type Element,
  type Node,
} from './html.ts'
import { decodeOnce, encodePath } from './links.ts'
import type { PropertyType } from './property-types.ts'
import { plainText, type Inline } from './tree.ts'

/**
 * The link of a value: a page or a file, whose address is between markers until it is resolved.
 */
export interface LinkedValue {
  text: string
  /** Null if it has no target. */
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

/** A property of a page: its type in Notion, null if the export does not tell, and its value. */
export interface Property {
  type: PropertyType | null
  value: PropertyValue
}

/**
 * A value in the export, before its type is known: its text, and what its markup tells. CSV has
 * only text.
 */
export interface RawValue {
  text: string
  /** The state of a check box. */
  isChecked?: boolean
  /** Options or people, and which of the two. */
  options?: string[]
  optionKind?: OptionKind
  links?: LinkedValue[]
  /** The machine-readable form of a date, empty if the markup has none. */
  time?: string
}

/** TABLE of the classes of options in a cell, and their kinds. */
const OPTIONS = [
  { name: 'selected-value', kind: 'select' },
  { name: 'status-value', kind: 'status' },
  { name: 'user', kind: 'people' },
] as const
type OptionKind = (typeof OPTIONS)[number]['kind']

/** Types whose values are always lists. */
const LISTS: ReadonlySet<PropertyType> = new Set(['multi_select', 'people'])
const DATES: ReadonlySet<PropertyType> = new Set(['date', 'created_time', 'last_edited_time'])
/** Types whose values may look like numbers but are not: their leading zeros and signs matter. */
const TEXTS: ReadonlySet<PropertyType> = new Set([
  'title',
  'rich_text',
  'phone_number',
  'email',
  'url',
  'select',
  'status',
  'created_by',
  'last_edited_by',
])

/**
 * Reads a value as far as its markup tells.
 *
 * @param cell the exporter's markup
 * @param shown the same as inline nodes
 */
export function readRawValue(cell: Element, shown: readonly Inline[]): RawValue {
  const raw = rawOfText(shown)
  const box = find(cell, 2, isCheckbox)
  if (box && /^[☑☐]$/.test(raw.text)) raw.isChecked = isChecked(box)
  const options = optionsOf(cell)
  const [first] = options
  if (first !== undefined) {
    raw.options = options.map(({ text }) => text)
    raw.optionKind = first.kind
  }
  const time = find(cell, 2, ({ name }) => name === 'time')
  if (time) raw.time = attribute(time, 'datetime') ?? ''
  return raw
}

/** The same for a value without markup: its text and its links. */
export function rawOfText(shown: readonly Inline[]): RawValue {
  const links = linksOf(shown)
  return {
    text: plainText(shown).replace(/\s+/g, ' ').trim(),
    ...(links.some(({ url }) => url !== null) && { links }),
  }
}

/**
 * The value of a property of this type. A value that cannot be read as the type stays text.
 *
 * @param folder the folder of files that are named in CSV; undefined if unknown
 */
export function valueOf(raw: RawValue, type: PropertyType | null, folder?: string): PropertyValue {
  const { text, options = [] } = raw
  if (raw.isChecked !== undefined) return { type: 'checkbox', value: raw.isChecked }
  if (type === 'relation')
    return linkedOf(raw, 'relation') ?? linkedText(text, relationsIn(text), 'relation')
  if (type === 'files')
    return linkedOf(raw, 'files') ?? linkedText(text, filesIn(text, folder), 'files')
  if (type !== null && LISTS.has(type)) return listOf(text, options, type)
  if (text === '') return { type: 'empty' }
  if (type !== null && TEXTS.has(type)) return { type: 'text', value: text }
  if (options.length > 1) return { type: 'list', values: options }
  const checked = type === 'checkbox' ? BOXES.get(text) : undefined
  if (checked !== undefined) return { type: 'checkbox', value: checked }
  const isDate = raw.time !== undefined || (type !== null && DATES.has(type))
  const date = isDate ? (readDate(text) ?? readIsoDate(raw.time ?? '', text)) : null
  if (date) return { type: 'date', ...date }
  const number = isDate || options.length > 0 ? null : readNumber(text)
  return number === null ? { type: 'text', value: text } : { type: 'number', value: number }
}

/** TABLE of the forms of check boxes in text and in CSV. */
const BOXES: ReadonlyMap<string, boolean> = new Map([
  ['☑', true],
  ['☐', false],
  ['Yes', true],
  ['No', false],
])

/**
 * The type that the markup of a column's values indicates; null if it indicates none, or several. A
 * single option may be one of several.
 */
export function typeOfValues(values: Iterable<RawValue>): PropertyType | null {
  let found: PropertyType | null = null
  let isMultiple = false
  for (const raw of values) {
    if (raw.text === '' && raw.isChecked === undefined) continue
    isMultiple ||= raw.optionKind === 'select' && (raw.options?.length ?? 0) > 1
    const own = markedType(raw)
    if (own === null || (found !== null && found !== own)) return null
    found = own
  }
  return found === 'select' ? (isMultiple ? 'multi_select' : null) : found
}

/** Whether a value may be of a type that only a picture indicates. */
export function mayBe(raw: RawValue, type: PropertyType): boolean {
  if (raw.text === '' && raw.isChecked === undefined) return true
  const own = markedType(raw)
  if (type === 'select' || type === 'multi_select')
    return own === 'select' && (type === 'multi_select' || raw.options?.length === 1)
  if (type === 'relation') return own === null && raw.links !== undefined
  if (type === 'title' || type === 'rich_text' || type === 'url') return own !== 'checkbox'
  return own === type
}

function markedType(raw: RawValue): PropertyType | null {
  if (raw.isChecked !== undefined) return 'checkbox'
  if (raw.optionKind !== undefined) return raw.optionKind
  return raw.time === undefined ? null : 'date'
}

function listOf(text: string, options: readonly string[], type: PropertyType): PropertyValue {
  if (options.length > 0) return { type: 'list', values: [...options] }
  if (text === '') return { type: 'list', values: [] }
  // In CSV, an option's name has no comma (Notion does not allow it), but a person's may.
  if (type === 'multi_select')
    return { type: 'list', values: text.split(/, ?/).filter((one) => one !== '') }
  return text.includes(',') ? { type: 'text', value: text } : { type: 'list', values: [text] }
}

function linkedOf({ text, links }: RawValue, type: 'relation' | 'files'): PropertyValue | null {
  if (links) return { type, values: links }
  return text === '' ? { type, values: [] } : null
}

/** If CSV cannot be parsed, or the export has no links, its value is plain text. */
function linkedText(
  text: string,
  values: LinkedValue[] | null,
  type: 'relation' | 'files',
): PropertyValue {
  if (values) return { type, values }
  return text.includes(',')
    ? { type: 'text', value: text }
    : { type, values: [{ text, url: null }] }
}

/** `Title (address), Title (address)`, the form of relations in CSV; null for anything else. */
function relationsIn(text: string): LinkedValue[] | null {
  const values: LinkedValue[] = []
  let title: string[] = []
  for (const part of text.split(', ')) {
    const url = / \(([^()\s]+)\)$/.exec(part)?.[1]
    const isEnd = url !== undefined && /^https?:|\.(?:html|md)$/i.test(url)
    title.push(isEnd ? part.slice(0, -url.length - 3) : part)
    if (!isEnd) continue
    values.push({ text: title.join(', '), url })
    title = []
  }
  return title.length > 0 ? null : values
}

/** `Folder%20h/a.png, https://…`, the form of files in CSV. */
function filesIn(text: string, folder: string | undefined): LinkedValue[] | null {
  const values = text.split(', ').map((url): LinkedValue | null => {
    if (/\s/.test(url)) return null
    const path = decodeOnce(url.replace(/[?#].*$/s, ''))
    const name = path.slice(path.lastIndexOf('/') + 1) || url
    if (/^https?:/i.test(url)) return { text: name, url }
    if (!/\.[a-z0-9]{1,10}$/i.test(path) || folder === undefined) return null
    return { text: name, url: encodePath(folder === '' ? path : `${folder}/${path}`) }
  })
  return values.includes(null) ? null : values.filter((value) => value !== null)
}

/**
 * A number in the form that all languages share; with a sign for thousands, money or percent, it
 * stays text.
 */
export function readNumber(text: string): number | null {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) || text.replace(/\D/g, '').length > 15) return null
  const value = Number(text)
  return Object.is(value, -0) ? null : value
}

/** The options and people of a cell. */
function optionsOf(cell: Element): { text: string; kind: OptionKind }[] {
  return cell.children.flatMap((node) => {
    if (typeof node === 'string' || node.name !== 'span') return []
    const kind = OPTIONS.find(({ name }) => hasClass(node, name))?.kind
    const text = kind && node.children.filter(isWord).map(textContent).join('')
    const name = text?.replace(/\s+/g, ' ').trim() ?? ''
    return kind === undefined || name === '' ? [] : [{ text: name, kind }]
  })
}

const isWord = (node: Node): boolean =>
  typeof node === 'string' || !(hasClass(node, 'user-icon') || hasClass(node, 'status-dot'))

/** Every link and image among inline nodes, and text between them that is not just a separator. */
function linksOf(nodes: readonly Inline[]): LinkedValue[] {
  return nodes.flatMap((node): LinkedValue[] => {
    if (node.type === 'link') return [{ text: plainText([node]).trim() || node.url, url: node.url }]
    if (node.type === 'image') return [{ text: node.alt || node.url, url: node.url }]
    if ('children' in node) return linksOf(node.children)
    const text = plainText([node]).replace(/^[\s,]+|[\s,]+$/g, '')
    return text === '' ? [] : [{ text, url: null }]
  })
}
