// The values of properties as JSON: numbers, booleans, dates, lists, pages by their ids.
import type { LinkedValue, Property, PropertyValue } from './property-values.ts'

/** The id of an address's page; null if the page has none, or is not in the export. */
export type PageId = (url: string) => string | null

const NOTION_ID = /((?:[0-9a-f]{4}-?){7}[0-9a-f]{4})(?:\.(?:html?|md))?(?:[?#]|$)/i

/** The id of a related page, 32 hex digits; null if unknown. */
export function relatedId({ url }: LinkedValue, pageId: PageId): string | null {
  if (url === null) return null
  return pageId(url) ?? NOTION_ID.exec(url)?.[1]?.replaceAll('-', '').toLowerCase() ?? null
}

/** A value as JSON; null if there is none. */
export function jsonOf(value: PropertyValue, pageId: PageId): unknown {
  switch (value.type) {
    case 'empty':
      return null
    case 'date':
      return { start: value.start, end: value.end }
    case 'list':
      return value.values
    case 'files':
      return value.values.map(({ text, url }) => ({ name: text, url }))
    case 'relation':
      return value.values.map((one) => ({ page_id: relatedId(one, pageId), title: one.text }))
    default:
      return value.value
  }
}

/** The properties of a page as JSON, by name. */
export function propertiesJson(
  properties: Readonly<Record<string, Property>>,
  pageId: PageId,
): Record<string, { type: string | null; value: unknown }> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, value }]) => [
      name,
      { type, value: jsonOf(value, pageId) },
    ]),
  )
}
