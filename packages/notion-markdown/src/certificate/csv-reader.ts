// Reads a database that the export has only as CSV (RFC 4180), as the page that it becomes.
import { Reading, type PageReading } from './reading.ts'

/** The rows of a CSV text, without its blank lines. No text has U+0000. */
function rowsOf(source: string): string[][] {
  const text = source.replaceAll('\0', '')
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text.charAt(i + 1) === '"') cell += text.charAt(++i)
      else isQuoted = false
    } else if (char === '"' && cell === '') isQuoted = true
    else if (char === ',') {
      row.push(cell)
      cell = ''
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text.charAt(i + 1) === '\n') i++
      rows.push([...row, cell])
      row = []
      cell = ''
    } else cell += char
  }
  if (row.length > 0 || cell !== '') rows.push([...row, cell])
  return rows.filter(({ length, 0: only }) => length > 1 || only !== '')
}

/** Reads one database. @param fileName `Title h.csv` */
export function readDatabaseFile(csv: string, fileName: string): PageReading {
  const reading = new Reading()
  reading.block('headings')
  reading.text(
    fileName.replace(/(?:^|[\s_-])[0-9a-f]{32}(?:_all)?\.csv$/i, '').trim() || 'Untitled',
  )
  reading.gap()
  const rows = rowsOf(csv)
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  if (width > 0) reading.block('tables')
  for (const [y, row] of rows.entries()) {
    reading.row()
    for (const [x, cell] of row.entries()) {
      const place = reading.cell(x)
      reading.text(x === 0 && y > 0 && cell.trim() === '' ? 'Untitled' : cell)
      reading.endMaybe(place)
    }
    if (y === 0 && !reading.rowShown) continue
    reading.counts.rows++
    reading.counts.cells += y === 0 ? width : Math.max(1, row.length)
  }
  reading.databases = 1
  return reading.finish()
}
