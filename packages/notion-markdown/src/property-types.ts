// The types of properties, and how to recognize them in an export.
import { attribute, find, type Element } from './html.ts'

/**
 * TABLE of the types, by their names in Notion's API
 * (https://developers.notion.com/reference/property-object): the class of the drawing in the head
 * of a database's column; the picture that exporters since 2025 show there, which people can
 * change; what a page's row of properties is called; and whether cells contain text or a list of
 * values (anything, if neither is given).
 */
export const PROPERTY_TYPES = [
  { type: 'title', drawing: 'Title', picture: 'font', rows: ['title'], holds: 'text' },
  { type: 'rich_text', drawing: 'Text', picture: 'description', rows: ['text'], holds: 'text' },
  { type: 'url', drawing: 'Url', picture: 'link', rows: ['url'], holds: 'text' },
  { type: 'email', drawing: 'Email', rows: ['email'] },
  { type: 'phone_number', drawing: 'PhoneNumber', rows: ['phone_number', 'phone'] },
  { type: 'number', drawing: 'Number', rows: ['number'] },
  {
    type: 'select',
    drawing: 'Select',
    picture: 'arrow-circle-down',
    rows: ['select'],
    holds: 'list',
  },
  {
    type: 'multi_select',
    drawing: 'MultipleSelect',
    picture: 'list',
    rows: ['multi_select'],
    holds: 'list',
  },
  { type: 'status', drawing: 'Status', picture: 'burst', rows: ['status'], holds: 'list' },
  { type: 'date', drawing: 'Date', picture: 'calendar', rows: ['date'] },
  {
    type: 'people',
    drawing: 'Person',
    picture: 'users',
    rows: ['person', 'people'],
    holds: 'list',
  },
  { type: 'files', drawing: 'File', rows: ['file', 'files'], holds: 'list' },
  {
    type: 'checkbox',
    drawing: 'Checkbox',
    picture: 'checkmark-square',
    rows: ['checkbox'],
    holds: 'list',
  },
  {
    type: 'relation',
    drawing: 'Relation',
    picture: 'arrow-northeast',
    rows: ['relation'],
    holds: 'list',
  },
  { type: 'formula', drawing: 'Formula', rows: ['formula'] },
  { type: 'rollup', drawing: 'Rollup', rows: ['rollup'] },
  { type: 'unique_id', drawing: 'AutoIncrementId', rows: ['auto_increment_id', 'unique_id'] },
  { type: 'created_time', drawing: 'CreatedAt', rows: ['created_time'] },
  { type: 'last_edited_time', drawing: 'LastEditedTime', rows: ['last_edited_time'] },
  { type: 'created_by', drawing: 'CreatedBy', rows: ['created_by'], holds: 'list' },
  { type: 'last_edited_by', drawing: 'LastEditedBy', rows: ['last_edited_by'], holds: 'list' },
] as const

/** The type of a property. */
export type PropertyType = (typeof PROPERTY_TYPES)[number]['type']

/**
 * The contents of a property: text, which may include people, links and dates; a list of values; or
 * unknown.
 */
export type ValueKind = 'text' | 'list' | 'unknown'

/** The type of a property, from the head of a database's column or the class of a page's row. */
export interface KnownType {
  readonly type: PropertyType | null
  /** Whether only an icon shows the type; people can change icons. */
  readonly isPictured: boolean
  readonly holds: ValueKind
}

const UNKNOWN: KnownType = { type: null, isPictured: false, holds: 'unknown' }

/** The type of a database's column, from the drawing or the picture in its head. */
export function typeOfColumn(head: Element): KnownType {
  const drawn = find(head, 3, (below) => below.name === 'svg' || below.name === 'img')
  if (drawn === undefined) return UNKNOWN
  const name = /(?:^|\s)types([A-Za-z]+)/.exec(attribute(drawn, 'class') ?? '')?.[1]
  const known = PROPERTY_TYPES.find(({ drawing }) => drawing === name)
  if (known) return { type: known.type, isPictured: false, holds: holdsOf(known) }
  const picture = /(?:^|\/)([a-z-]+)_gray\.svg(?:\?|$)/.exec(attribute(drawn, 'src') ?? '')?.[1]
  const shown = PROPERTY_TYPES.find((one) => 'picture' in one && one.picture === picture)
  if (!shown) return UNKNOWN
  const holds = holdsOf(shown)
  return { type: shown.type, isPictured: true, holds: holds === 'list' ? 'unknown' : holds }
}

/** The type of a page's property, from its row's class. */
export function typeOfRow(row: Element): KnownType {
  const name = /\bproperty-row-([a-z_]+)/.exec(attribute(row, 'class') ?? '')?.[1]
  if (name === undefined) return UNKNOWN
  const known = PROPERTY_TYPES.find(({ rows }) => (rows as readonly string[]).includes(name))
  return known ? { type: known.type, isPictured: false, holds: holdsOf(known) } : UNKNOWN
}

function holdsOf(known: (typeof PROPERTY_TYPES)[number]): ValueKind {
  return 'holds' in known ? known.holds : 'unknown'
}
