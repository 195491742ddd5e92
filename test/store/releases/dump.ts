// A store as SQL: its schema and its rows, without the program that wrote it. A SQLite file is
// made from its SQL again by `loadSqlite`, a database of PostgreSQL by one query.
import { execFileSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'

const Master = z.array(z.object({ type: z.string(), name: z.string(), sql: z.string() }))
const Columns = z.array(z.object({ name: z.string() }))
const Lines = z.array(z.object({ line: z.string() }))

/** The SQL that makes a SQLite file again. */
export function dumpSqlite(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = (sql: string): unknown[] => db.prepare(sql).all()
    const parts = Master.parse(
      rows(`select type, name, sql from sqlite_master where sql is not null order by rowid`),
    )
    const tables = parts.filter(({ type }) => type === 'table')
    const inserts = tables.flatMap(({ name }) => {
      const columns = Columns.parse(rows(`select name from pragma_table_info('${name}')`))
      const values = columns.map((column) => `quote("${column.name}")`).join(` || ',' || `)
      const names = columns.map((column) => `"${column.name}"`).join(',')
      return Lines.parse(rows(`select ${values} as line from "${name}"`)).map(
        ({ line }) => `INSERT INTO "${name}" (${names}) VALUES (${line});`,
      )
    })
    return [
      ...tables.map(({ sql }) => `${sql};`),
      ...inserts,
      ...parts.filter(({ type }) => type !== 'table').map(({ sql }) => `${sql};`),
      '',
    ].join('\n')
  } finally {
    db.close()
  }
}

/** Makes a SQLite file from its SQL. */
export function loadSqlite(path: string, text: string): void {
  const db = new DatabaseSync(path)
  try {
    db.exec(`begin; ${text} commit`)
  } finally {
    db.close()
  }
}

/**
 * The SQL that makes a PostgreSQL database again, by `pg_dump`, which must be of the server's
 * version or later.
 */
export function dumpPostgres(url: URL): string {
  const text = execFileSync(
    'pg_dump',
    ['--no-owner', '--no-privileges', '--rows-per-insert=100', url.href],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  // Without comments, and without commands of psql, which only psql understands.
  return text.replaceAll(/^(?:--.*|\\.*)?\n/gm, '')
}
