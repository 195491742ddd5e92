// Writes reports as text in the thread that reads them, so that the thread that serves requests
// only passes the bytes on.

/** The format of a report. */
export type Format = 'json' | 'csv'

/**
 * Lines as text: CSV (RFC 4180) for spreadsheets, with null as empty; or the items of a JSON list,
 * separated by commas.
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

/** Bytes in memory of their own, so that they can be transferred to another thread. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/**
 * One value. A text that a spreadsheet would run as a formula is prefixed with an apostrophe
 * (OWASP, CSV injection).
 */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text =
    typeof value === 'string' ? value.replace(/^[=+\-@＝＋－＠\t\r\n]/, "'$&") : String(value)
  return /[",\r\n]/.test(text) ? `"${text.split('"').join('""')}"` : text
}
