// Reports as text, made in the thread that reads them: the thread that serves requests only hands
// the bytes on.

/** How a report is written. */
export type Format = 'json' | 'csv'

/**
 * Lines as text: CSV (RFC 4180) for people's spreadsheets, null is empty; or the items of a JSON
 * list, with commas between them.
 */
export function written<R extends object>(
  format: Format,
  columns: readonly (keyof R & string)[],
  lines: readonly R[],
): string {
  if (format === 'json') return lines.map((line) => JSON.stringify(line)).join(',')
  return lines
    .map((line) => `${columns.map((column) => cell(line[column])).join(',')}\r\n`)
    .join('')
}

/** Bytes whose memory is theirs alone, so that they can be moved to another thread. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/**
 * One value. A text that a spreadsheet would run as a formula is set off with an apostrophe (OWASP,
 * CSV injection).
 */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text =
    typeof value === 'string' ? value.replace(/^[=+\-@＝＋－＠\t\r\n]/, "'$&") : String(value)
  return /[",\r\n]/.test(text) ? `"${text.split('"').join('""')}"` : text
}
