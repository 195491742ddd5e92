// Tables as text (RFC 4180), for people's spreadsheets.

/** The columns as a first line, then a line for each row; null is empty. */
export function toCsv<R extends object>(columns: readonly (keyof R & string)[], rows: readonly R[]): string {
  const lines = [columns.join(','), ...rows.map((row) => columns.map((column) => cell(row[column])).join(','))]
  return `${lines.join('\r\n')}\r\n`
}

/** The headers of such a table, which a browser saves as a file of this name. */
export function csvHeaders(file: string) {
  return { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${file}"` }
}

/** One value. A text that a spreadsheet would run as a formula is set off with an apostrophe (OWASP, CSV injection). */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value.replace(/^[=+\-@＝＋－＠\t\r\n]/, "'$&") : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
