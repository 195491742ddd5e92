// The meaning of single tags and texts of an export, independent of their context.
import { decodeHTML } from 'entities'
import { decodeSafely } from './reading.ts'
import { valueOf } from './tags.ts'

/** How old exports label a file: with its address where Notion stores it. */
const STORED =
  /^https?:\/\/(?:s3[.-]us-west-2\.amazonaws\.com\/secure\.notion-static\.com|prod-files-secure\.s3\.us-west-2\.amazonaws\.com|file\.notion\.so)\/(?:[^\s?#]*\/)?([^\s/?#]+)(?:[?#]\S*)?$/
const ATTACHMENT = /^attachment:[0-9a-f-]{36}:/

/** The address that exporters since 2026 write for a page without one. */
export const NOWHERE = 'https://app.notion.comundefined'

/** An element's classes, between spaces. */
export function classesOf(attributes: string): string {
  if (!attributes.includes('class=') && !/class=/i.test(attributes)) return ''
  const value = valueOf(attributes, 'class')
  if (value === undefined || value === '') return ''
  return ` ${/\s/.test(value) ? value.replace(/\s+/g, ' ') : value} `
}

/** The TeX in an element's attributes; undefined if there is none. */
export function texIn(attributes: string): string | undefined {
  const value =
    valueOf(attributes, 'data-notion-equation') ??
    valueOf(attributes, 'data-notion-inline-equation')
  return value === undefined ? undefined : decodeHTML(value)
}

/** Whether an element shows nothing. */
export function isHidden(attributes: string): boolean {
  if (
    attributes.includes('hidden') &&
    /\shidden(?=[\s=/]|$)/.test(attributes.replace(/"[^"]*"|'[^']*'/g, ''))
  )
    return true
  return (
    attributes.includes('none') &&
    /(?:^|;)\s*display\s*:\s*none\b/.test(valueOf(attributes, 'style') ?? '')
  )
}

/** Whether documents keep an address: it runs no code. */
export function isSafe(url: string, isImage = false): boolean {
  if (/^data:/i.test(url))
    return isImage
      ? /^data:image\//i.test(url)
      : /^data:(?:text\/(?:plain|csv)|application\/pdf|image\/(?!svg))/i.test(url)
  return !/^(?:javascript|vbscript):/i.test(url)
}

/** A TeX comment, or an escape, which is not one. */
export function withoutComment(found: string): string {
  return found.startsWith('%') ? '\n' : found
}

/** Text that is decoded already, for `text`, which decodes. */
export function escapeless(text: string): string {
  return text.replaceAll('&', '&amp;')
}

/** The text of a link, where it names a file as Notion stores it: the file's own name. */
export function labelOf(text: string): string {
  if (!text.includes(':')) return text
  const stored = STORED.exec(text.trim())?.[1]
  return stored === undefined ? text.replace(ATTACHMENT, '') : decodeSafely(stored)
}
