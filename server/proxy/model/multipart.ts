// Finds named text fields in a multipart/form-data body (RFC 7578), and refuses every body that two parsers could read differently.
import { isUtf8 } from 'node:buffer'

export type Fields = { readonly ok: true; readonly fields: readonly { readonly name: string; readonly value: string }[] } | { readonly ok: false; readonly message: string }

const refuse = (message: string): Fields => ({ ok: false, message })

const LONGEST_HEADERS = 16_384
const LONGEST_FIELD = 4_096
const MOST_PARTS = 1_000

/**
 * The boundary of a multipart/form-data content type, or null when there is not exactly one plain one.
 * @param contentType the value of the header
 */
export function boundaryOf(contentType: string): string | null {
  const found = /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:"([^"\\]+)"|([^\s;,"]+))[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?$/i.exec(contentType.trim())
  const boundary = found?.[1] ?? found?.[2]
  // RFC 2046 §5.1.1: 1 to 70 of these characters, not ending with a space.
  return boundary !== undefined && /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary) ? boundary : null
}

/**
 * Reads the fields called `wanted` out of a whole body.
 * @param wanted exact names; a name that differs from one of them only in case, space or punctuation makes the body ambiguous
 */
export function readFields(body: Buffer, boundary: string, wanted: ReadonlySet<string>): Fields {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const alike = new Set([...wanted].map(bare))
  const fields: { name: string; value: string }[] = []
  let at = body.subarray(0, 2).toString('latin1') === '\r\n' ? 2 : 0
  if (body.indexOf(mark, at) !== at) return refuse('The multipart body does not begin with its boundary.')
  at += mark.length
  for (let part = 0; part < MOST_PARTS; part++) {
    const after = body.subarray(at, at + 2).toString('latin1')
    if (after === '--') {
      const rest = body.subarray(at + 2).toString('latin1', 0, 3)
      return rest === '' || rest === '\r\n' ? { ok: true, fields } : refuse('The multipart body goes on behind its last boundary.')
    }
    if (after !== '\r\n') return refuse('A boundary of the multipart body is not followed by a line break.')
    const headersAt = at + 2
    const headersEnd = body.indexOf('\r\n\r\n', headersAt - 2)
    if (headersEnd < 0 || headersEnd - headersAt > LONGEST_HEADERS) return refuse('A part of the multipart body has no end of headers.')
    const contentAt = headersEnd + 4
    // The mark anywhere but behind a line break is a boundary to some parsers and content to others.
    const next = body.indexOf(mark, contentAt)
    const early = body.indexOf(mark, headersAt)
    if (next < 0 || early !== next || body[next - 2] !== 0x0d || body[next - 1] !== 0x0a || next - 2 < contentAt) {
      return refuse('The boundary of the multipart body is missing, or stands inside a part.')
    }
    const head = headersEnd <= headersAt ? '' : body.toString('latin1', headersAt, headersEnd)
    const field = readDisposition(head)
    if (typeof field === 'string') return refuse(field)
    const content = body.subarray(contentAt, next - 2)
    if (wanted.has(field.name)) {
      if (!field.plain) return refuse(`The field "${field.name}" of the multipart body is a file, or is encoded.`)
      if (content.length > LONGEST_FIELD || !isUtf8(content)) return refuse(`The field "${field.name}" of the multipart body is not a short text.`)
      fields.push({ name: field.name, value: content.toString('utf8') })
    } else if (alike.has(bare(field.name)) || field.name === '_charset_') {
      return refuse('A field of the multipart body has a name that could be read as another.')
    }
    at = next + mark.length
  }
  return refuse(`The multipart body has more than ${MOST_PARTS} parts.`)
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** The field name of a part, and whether its content stands there as plain text. */
function readDisposition(head: string): { name: string; plain: boolean } | string {
  let name: string | undefined
  let plain = true
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    // oxlint-disable-next-line no-control-regex -- parsers differ about controls in headers
    if (colon <= 0 || /^[ \t]|[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) return 'A part of the multipart body has a broken header.'
    const header = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (header === 'content-transfer-encoding' && !/^(?:7bit|8bit|binary)$/i.test(value)) plain = false
    if (header === 'content-type') {
      if (/^multipart\//i.test(value)) return 'A part of the multipart body is multipart itself.'
      if (!/^(?:text\/plain|application\/json)[ \t]*(?:;[ \t]*charset="?(?:utf-8|us-ascii)"?)?$/i.test(value)) plain = false
    }
    if (header.trim() !== header) return 'A part of the multipart body has a broken header.'
    if (header !== 'content-disposition') continue
    if (name !== undefined) return 'A part of the multipart body has two names.'
    if (!/^form-data[ \t]*;/i.test(value)) return 'A part of the multipart body is not form-data.'
    const parameters = [...value.matchAll(/;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g)]
    if (parameters.map(([text]) => text).join('') !== value.slice('form-data'.length).trim().replace(/^[ \t]+/, '')) return 'A part of the multipart body has a broken disposition.'
    const names = parameters.filter(([, key]) => bare(key ?? '') === 'name')
    if (names.length !== 1 || names[0]?.[1]?.toLowerCase() !== 'name') return 'A part of the multipart body has no single plain name.'
    name = names[0][2] ?? names[0][3] ?? ''
    if (/[\\%"]/.test(name)) return 'A part of the multipart body has an escaped name.'
    name = Buffer.from(name, 'latin1').toString('utf8')
    if (parameters.some(([, key]) => /^filename/i.test(key ?? ''))) plain = false
  }
  return name === undefined ? 'A part of the multipart body has no name.' : { name, plain }
}
