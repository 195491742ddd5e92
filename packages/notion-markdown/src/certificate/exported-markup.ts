// Interprets single tags and texts of an export, independent of their context.
import { decodeHTML } from 'entities'
import { decodeSafely } from './reading.ts'
import { valueOf } from './tags.ts'

/** The label of a file in old exports: its address in Notion's storage. */
const STORED =
  /^https?:\/\/(?:s3[.-]us-west-2\.amazonaws\.com\/secure\.notion-static\.com|prod-files-secure\.s3\.us-west-2\.amazonaws\.com|file\.notion\.so)\/(?:[^\s?#]*\/)?([^\s/?#]+)(?:[?#]\S*)?$/
const ATTACHMENT = /^attachment:[0-9a-f-]{36}:/

/** The address that exporters since 2026 write for a page without one. */
export const NOWHERE = 'https://app.notion.comundefined'

/** An element's classes, surrounded by spaces. */
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

/** Whether documents keep an address, because it runs no code. */
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

/** Decoded text, escaped for `text`, which decodes it. */
export function escapeless(text: string): string {
  return text.replaceAll('&', '&amp;')
}

/** The text of a link; if it is a file's address in Notion's storage, the file's own name. */
export function labelOf(text: string): string {
  if (!text.includes(':')) return text
  const stored = STORED.exec(text.trim())?.[1]
  return stored === undefined ? text.replace(ATTACHMENT, '') : decodeSafely(stored)
}
