// Rows on their way to the writer, as text. What neighbours have in common (the key, the provider,
// the model, the millisecond) travels once for all of them: to make, copy and read the text of a
// whole row costs about as much as SQLite takes to write it.
import type { SqlValue } from '../../store/statement.ts'

/**
 * Which columns of a row travel: those that neighbours mostly have in common, and those that each
 * has for itself.
 */
export interface Columns<Row> {
  readonly common: readonly (keyof Row)[]
  readonly own: readonly (keyof Row)[]
}

/**
 * Columns, and how they are read from a row: to read each by its name, which is another one each
 * time, takes three times as long.
 */
export interface Listed<Row> extends Columns<Row> {
  /** The common columns, then its own, in their order. */
  readonly values: (row: Row) => SqlValue[]
}

/** Rows in two parts. */
export interface Folded {
  /** Values of the common columns. */
  common: SqlValue[][]
  /** For each row the place of its list in `common`, then the values of its own columns. */
  rows: SqlValue[]
}

/**
 * A value on its way to the writer. As text it costs half as much to copy between threads as a
 * list, and a list of objects a multiple.
 */
export type Packed<T> = string & { readonly packed?: T }

/** A value as it travels, and back. */
export const pack = <T>(value: T): Packed<T> => JSON.stringify(value)
export const unpack = <T>(text: Packed<T>): T => JSON.parse(text) as T // `pack` made it

/**
 * A row is compared with so many that differ, the newest first; behind them, what is common travels
 * once more.
 */
const NEAR = 16

/** Folds rows of one kind; the common columns that change most often stand last. */
export function fold<Row>({ common, values }: Listed<Row>, rows: readonly Row[]): Folded {
  const width = common.length
  const kinds: SqlValue[][] = []
  const folded: SqlValue[] = []
  for (const row of rows) {
    const list = values(row)
    let kind = kinds.length - 1
    const last = Math.max(0, kinds.length - NEAR)
    while (kind >= last && !alike(width, kinds[kind]!, list)) kind--
    if (kind < last) kind = kinds.push(list) - 1
    folded.push(kind)
    for (let i = width; i < list.length; i++) folded.push(list[i]!)
  }
  return { common: kinds.map((list) => list.slice(0, width)), rows: folded }
}

/** Whether the first values of both are the same. */
function alike(width: number, one: readonly SqlValue[], other: readonly SqlValue[]): boolean {
  for (let i = width - 1; i >= 0; i--) if (one[i] !== other[i]) return false
  return true
}

/** What rows have in common: in the order of the columns, and by their names. */
export interface Common<Shared> {
  readonly values: SqlValue[]
  readonly row: Shared
}

/**
 * The rows again, in their order; who shares what is common has the same object of it. `Shared` has
 * the common columns and no others.
 */
export function unfold<Shared>(
  columns: { common: readonly (keyof Shared)[]; own: readonly unknown[] },
  folded: Folded,
): { common: Common<Shared>; own: SqlValue[] }[] {
  // `fold` put the values into this order.
  const commons = folded.common.map((values) => ({
    values,
    row: Object.fromEntries(columns.common.map((column, i) => [column, values[i]])) as Shared,
  }))
  const rows = []
  const width = columns.own.length
  for (let at = 0; at < folded.rows.length; at += width + 1)
    rows.push({
      common: commons[Number(folded.rows[at])]!,
      own: folded.rows.slice(at + 1, at + 1 + width),
    })
  return rows
}

/** The same without the rows at some places. */
export function without(
  { own }: { own: readonly unknown[] },
  { common, rows }: Folded,
  places: ReadonlySet<number>,
): Folded {
  return { common, rows: rows.filter((_, at) => !places.has(Math.floor(at / (own.length + 1)))) }
}
