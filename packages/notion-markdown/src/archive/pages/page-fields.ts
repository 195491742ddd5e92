// The front matter of a page in a folder of pages: its metadata and typed properties.
import { Scalar, YAMLMap } from 'yaml'
import { writeFrontMatter, yamlText } from '../../frontmatter.ts'
import { relatedId, type PageId } from '../../property-json.ts'
import type { Property, PropertyValue } from '../../property-values.ts'
import type { FlavorRules } from './flavors.ts'

/** The front matter of a page. */
export interface PageFacts {
  readonly title: string
  readonly icon: string | null
  readonly id: string | null
  readonly parentId: string | null
  /** ISO 8601; null if not requested. */
  readonly exportedAt: string | null
  /** The addresses of its databases' files. */
  readonly csv: readonly string[]
  readonly values: Readonly<Record<string, Property>>
  /** Its position among its siblings, from 1. */
  readonly position: number
  /** Its path, for a site. */
  readonly path: string
  /** Whether an earlier page has its id: a site can only be built of pages with different ids. */
  readonly isDuplicate: boolean
}

/** Resolves links in values. */
export interface ValueLinks {
  /** An address, with its marker resolved. */
  address(url: string): string
  /** The id of the page of a marker. */
  readonly pageId: PageId
}

/** Fields that programs read: a property with such a name gets another one. */
const READ_BY_PROGRAMS = ['tags', 'aliases', 'cssclasses', 'cssclass', 'publish', 'permalink']

/** Writes a page's front matter. */
export function pageFrontMatter(facts: PageFacts, rules: FlavorRules, links: ValueLinks): string {
  const fields = new YAMLMap()
  const set = (name: string, value: unknown): void => fields.set(yamlText(name), value)
  set('title', yamlText(facts.title))
  if (facts.icon !== null) set('icon', yamlText(facts.icon))
  if (facts.id !== null) {
    if (!rules.isSite || !facts.isDuplicate) set(rules.id, yamlText(facts.id))
    set('source_url', yamlText(`https://www.notion.so/${facts.id}`))
  }
  if (facts.parentId !== null) set('parent_id', yamlText(facts.parentId))
  if (facts.exportedAt !== null) set('exported_at', plain(facts.exportedAt))
  if (rules.isSite) {
    set('slug', yamlText(slugOf(facts.path, rules.index)))
    set('sidebar_position', facts.position)
  }
  if (facts.csv.length > 0) set('csv', facts.csv.map(yamlText))
  setProperties(fields, facts.values, rules, links)
  return writeFrontMatter(fields)
}

function setProperties(
  fields: YAMLMap,
  values: PageFacts['values'],
  rules: FlavorRules,
  links: ValueLinks,
): void {
  const all = Object.entries(values)
  if (all.length === 0) return
  const isNested = rules.properties === 'nested'
  const into = isNested ? new YAMLMap() : fields
  const own = fields.items.map(({ key }) => (key instanceof Scalar ? String(key.value) : ''))
  const taken = new Set(isNested ? [] : [...own, ...READ_BY_PROGRAMS])
  for (const [name, { value }] of all) {
    let free = name
    // Obsidian's names of properties ignore case.
    for (let n = 1; taken.has(free.toLowerCase()); n++)
      free = n === 1 ? `${name} (property)` : `${name} (property ${n})`
    taken.add(isNested ? free : free.toLowerCase())
    into.set(yamlText(free), yamlValue(value, links))
  }
  if (isNested) fields.set('properties', into)
}

function yamlValue(value: PropertyValue, links: ValueLinks): unknown {
  switch (value.type) {
    case 'empty':
      return null
    case 'text':
      return yamlText(value.value)
    case 'number':
    case 'checkbox':
      return value.value
    case 'date':
      return plain(value.end === null ? value.start : `${value.start}/${value.end}`)
    case 'list':
      return value.values.map(yamlText)
    case 'files':
      return value.values.map(({ text, url }) => yamlText(url === null ? text : links.address(url)))
    case 'relation':
      return value.values.map((one) => yamlText(relatedId(one, links.pageId) ?? one.text))
  }
}

/** A timestamp in a form that YAML reads as one. */
function plain(value: string): Scalar<string> {
  const scalar = new Scalar(value)
  scalar.type = Scalar.PLAIN
  return scalar
}

/** The address of a page on a site. */
function slugOf(path: string, index: string): string {
  const stem = path.replace(/\.md$/, '')
  return `/${stem === index ? '' : stem.endsWith(`/${index}`) ? stem.slice(0, -index.length - 1) : stem}`
}
