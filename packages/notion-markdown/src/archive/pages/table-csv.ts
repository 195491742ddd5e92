// A database as CSV (RFC 4180, with the byte order mark of Notion's own files), if the export has
// only its table.
import { rowWidths, type DatabaseTable } from '../../databases.ts'
import type { RawValue } from '../../property-values.ts'

/** The CSV of a database: its columns' names, and the text of its cells. */
export function csvOf({ columns, rows }: DatabaseTable): string {
  const widths = rowWidths(columns.length, rows)
  const lines = rows.map(({ values }, y) =>
    Array.from({ length: widths[y] ?? 0 }, (_, x) => quoted(textOf(values[x]))).join(','),
  )
  return `\ufeff${[columns.map(({ name }) => quoted(name)).join(','), ...lines].join('\n')}\n`
}

/** Check boxes as in Notion's CSV; everything else as shown. */
function textOf(value: RawValue | undefined): string {
  if (value?.isChecked === undefined) return value?.text ?? ''
  return value.isChecked ? 'Yes' : 'No'
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
