// Builds multipart/form-data byte by byte.

export interface Part {
  name: string
  content: string | Buffer
  /** File name; makes the part a file. */
  fileName?: string
  type?: string
}

export interface Form {
  contentType: string
  body: Buffer
}

const BOUNDARY = '----tollmark-test-boundary'

/** The form of these parts, in this order (RFC 7578). */
export function form(...parts: Part[]): Form {
  const pieces = parts.flatMap(({ name, content, fileName, type }) => [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n`,
    type === undefined && fileName === undefined
      ? '\r\n'
      : `Content-Type: ${type ?? 'application/octet-stream'}\r\n\r\n`,
    content,
    '\r\n',
  ])
  return {
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
    body: Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece))),
  }
}

/** A file part. */
export function file(fileName: string, content: string | Buffer, name = 'file'): Part {
  return { name, fileName, content }
}

/** A small page as Notion exports it. */
export const PAGE =
  '<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>Team handbook</title></head>' +
  '<body><article id="01234567-89ab-cdef-0123-456789abcdef" class="page sans"><header><h1 class="page-title">Team handbook</h1></header>' +
  '<div class="page-body"><p id="11234567-89ab-cdef-0123-456789abcdef" class="">Be kind.</p></div></article></body></html>'

/** A page of exactly this many bytes. */
export function pageOf(bytes: number): string {
  const [head, tail] = PAGE.split('Be kind.') as [string, string]
  return (
    head +
    'kind words '.repeat(Math.ceil(bytes / 11)).slice(0, bytes - head.length - tail.length) +
    tail
  )
}
