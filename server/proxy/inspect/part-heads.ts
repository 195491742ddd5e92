// Reads the heads of the parts of a multipart body (RFC 7578, RFC 2387), each only if all parsers
// read it in the same way.

/** The parsed head of a part. */
export interface PartHead {
  readonly name: string
  /** Whether it has a file name. */
  readonly isFile: boolean
  /** Its file names, decoded. */
  readonly fileNames: readonly string[]
  /** Its content type; `''` if it has none. */
  readonly type: string
  /** Its `Content-Transfer-Encoding` in lower case; `''` if the content is not encoded. */
  readonly encoding: string
  /** The values of its other headers (`Content-ID`, `Content-Location`, …). */
  readonly others: readonly string[]
}

/** The head of a part, and facts derived from it. */
export interface PartField extends PartHead {
  /** Whether its content is unencoded UTF-8 text. */
  readonly plain: boolean
}

/** A name without case, space and punctuation. */
export const bareName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** A file name without escapes, and without the charset of an extended one (RFC 8187). */
const fileNameOf = (text: string): string =>
  Buffer.from(text, 'latin1')
    .toString('utf8')
    .replaceAll(/\\(.)/g, '$1')
    .replace(/^[\w-]*'[\w-]*'/, '')

/** Reads the head of a part of a form. @returns a sentence if the body must be refused */
export function readDisposition(lines: readonly string[]): PartField | string {
  let name: string | undefined
  let plain = true
  let [type, encoding] = ['', '']
  const fileNames: string[] = []
  const others: string[] = []
  let isFile = false
  for (const line of lines.length === 0 ? [''] : lines) {
    const colon = line.indexOf(':')
    // oxlint-disable-next-line no-control-regex -- parsers differ about controls in headers
    if (colon <= 0 || /^[ \t]|[\u0000-\u0008\u000a-\u001f\u007f]/.test(line))
      return 'A part of the multipart body has a broken header.'
    const header = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (header === 'content-transfer-encoding' && !/^(?:7bit|8bit|binary)$/i.test(value)) {
      plain = false
      encoding = value.toLowerCase()
    }
    if (header === 'content-type') {
      if (type !== '') return 'A part of the multipart body has two content types.'
      type = value
      if (/^multipart\//i.test(value)) return 'A part of the multipart body is multipart itself.'
      if (
        !/^(?:text\/plain|application\/json)[ \t]*(?:;[ \t]*charset="?(?:utf-8|us-ascii)"?)?$/i.test(
          value,
        )
      )
        plain = false
    }
    if (header.trim() !== header) return 'A part of the multipart body has a broken header.'
    if (header !== 'content-disposition') {
      if (header !== 'content-type' && header !== 'content-transfer-encoding') others.push(value)
      continue
    }
    if (name !== undefined) return 'A part of the multipart body has two names.'
    if (!/^form-data[ \t]*;/i.test(value)) return 'A part of the multipart body is not form-data.'
    const parameters = [
      ...value.matchAll(/;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g),
    ]
    if (
      parameters.map(([text]) => text).join('') !==
      value
        .slice('form-data'.length)
        .trim()
        .replace(/^[ \t]+/, '')
    )
      return 'A part of the multipart body has a broken disposition.'
    const names = parameters.filter(([, key]) => bareName(key ?? '') === 'name')
    if (names.length !== 1 || names[0]?.[1]?.toLowerCase() !== 'name')
      return 'A part of the multipart body has no single plain name.'
    name = names[0][2] ?? names[0][3] ?? ''
    if (/[\\%"]/.test(name)) return 'A part of the multipart body has an escaped name.'
    name = Buffer.from(name, 'latin1').toString('utf8')
    if (parameters.some(([, key]) => /^filename/i.test(key ?? ''))) {
      plain = false
      isFile = true
      fileNames.push(
        ...parameters.flatMap(([, key = '', quoted, token]) =>
          /^filename/i.test(key) ? [fileNameOf(quoted ?? token ?? '')] : [],
        ),
      )
    }
  }
  return name === undefined
    ? 'A part of the multipart body has no name.'
    : { name, isFile, fileNames, type, encoding, others, plain }
}

/**
 * Reads the head of a part of a multipart/related body (RFC 2387).
 *
 * @param isFile whether it follows the part that describes it
 * @returns a sentence if the body must be refused
 */
export function readRelated(lines: readonly string[], isFile: boolean): PartField | string {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w-]+):(.*)$/.exec(line) ?? []
    // oxlint-disable-next-line no-control-regex -- parsers differ about controls in headers
    if (name === '' || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(line))
      return 'A part of the multipart body has a broken header.'
    if (fields.has(name.toLowerCase())) return 'A part of the multipart body has a header twice.'
    fields.set(name.toLowerCase(), value.trim())
  }
  const type = fields.get('content-type') ?? ''
  if (/^multipart\//i.test(type)) return 'A part of the multipart body is multipart itself.'
  const declared = fields.get('content-transfer-encoding')?.toLowerCase() ?? ''
  const encoding = /^(?:7bit|8bit|binary)$/.test(declared) ? '' : declared
  fields.delete('content-type')
  fields.delete('content-transfer-encoding')
  return {
    name: '',
    isFile,
    fileNames: [],
    type,
    encoding,
    others: [...fields.values()],
    plain: false,
  }
}
