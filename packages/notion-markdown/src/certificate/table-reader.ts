// Reads the rows and cells of one table of an export, by their positions in the grid (HTML
// standard, forming a table).
import type { Reading } from './reading.ts'

interface Row {
  /** The column after its last cell. */
  width: number
  inHead: boolean
  isHeading: boolean
  /** Whether it shows something, and whether some of it is not bold. */
  isShown: boolean
  isPlain: boolean
}

/** The kind of a table, by its attributes. */
export type TableKind = 'simple' | 'database' | 'properties'

/** Maximum number of columns that spans may take, per cell of a table. */
const MAX_SPANNED = 16

/** Reads the rows and cells of one table. */
export class TableReader {
  readonly #reading: Reading
  readonly #kind: TableKind
  readonly #rows: Row[] = []
  /** By column: the first row that no cell above spans. */
  #free: number[] = []
  #column = 0
  #cell: number | null = null
  inHead = false
  #cells = 0
  /** Number of columns that spans have taken. */
  #spanned = 0

  constructor(reading: Reading, kind: TableKind) {
    this.#reading = reading
    this.#kind = kind
  }

  /** Whether a cell is open: its content is inline. */
  get inCell(): boolean {
    return this.#cell !== null
  }

  row(hasId: boolean): void {
    this.endCell()
    this.#endRow()
    const last = this.#rows.at(-1)
    if (last?.inHead !== this.inHead) this.#free = []
    this.#rows.push({
      width: 0,
      inHead: this.inHead,
      isHeading: !hasId,
      isShown: false,
      isPlain: false,
    })
    this.#column = 0
    this.#reading.row()
  }

  cell(isHeading: boolean, colspan: number, rowspan: number): void {
    this.endCell()
    if (this.#rows.length === 0) this.row(true)
    const row = this.#rows.at(-1)
    if (!row) return
    const y = this.#rows.length - 1
    for (this.#cells++; (this.#free[this.#column] ?? 0) > y; this.#spanned++) this.#column++
    if (this.#rows.length === 1 && row.width === 0) this.#reading.block('tables')
    this.#cell = this.#reading.cell(this.#column)
    row.isHeading &&= isHeading
    row.width = this.#column + 1
    // Only hostile tables span that much.
    const isSpanning = this.#spanned < MAX_SPANNED * (this.#cells + 100)
    if (!isSpanning) this.#free = []
    const next = this.#column + (isSpanning ? Math.min(colspan, 1000) : 1)
    if (rowspan > 1 && isSpanning)
      for (let x = this.#column; x < next; x++, this.#spanned++)
        this.#free[x] = y + Math.min(rowspan, 1000)
    this.#column = next
  }

  endCell(): void {
    if (this.#cell === null) return
    this.#reading.endMaybe(this.#cell)
    this.#cell = null
  }

  /** Something in the open cell is not bold. */
  plain(): void {
    const row = this.#rows.at(-1)
    if (row) row.isPlain = true
  }

  /** Counts the table. */
  end(): void {
    this.endCell()
    this.#endRow()
    const [first] = this.#rows
    const width = this.#rows.reduce((most, row) => Math.max(most, row.width), 0)
    if (!first || width === 0) return
    const { counts } = this.#reading
    for (const row of this.#rows) {
      const isHeader = row === first && this.#hasHeader(first)
      if (isHeader && !row.isShown) continue
      counts.rows++
      counts.cells += this.#kind === 'properties' ? 2 : isHeader ? width : Math.max(1, row.width)
    }
  }

  #hasHeader(first: Row): boolean {
    if (this.#kind === 'properties') return false
    if (first.inHead || (first.isHeading && first.width > 1)) return true
    return this.#kind === 'simple' && first.isShown && !first.isPlain
  }

  #endRow(): void {
    const row = this.#rows.at(-1)
    if (row) row.isShown = this.#reading.rowShown
  }
}
