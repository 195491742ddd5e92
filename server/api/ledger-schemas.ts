// Schemas of the ledger's columns, from their table.
import { z } from '@hono/zod-openapi'
import {
  LEDGER_COLUMNS,
  columnsWhere,
  type ColumnsWith,
  type LedgerColumn,
  type LedgerRow,
} from '../common/ledger-columns.ts'
import { TOKEN_COLUMNS, type TokenColumn } from '../common/token-kinds.ts'

type SchemasOf<Name extends keyof LedgerRow> = { [Column in Name]: z.ZodType<LedgerRow[Column]> }

function schemaOf({ type, values, nullable, description }: LedgerColumn): z.ZodType {
  const known =
    values !== undefined ? z.enum(values) : type === 'text' ? z.string() : z.number().int()
  const schema = nullable ? known.nullable() : known
  return description === undefined ? schema : schema.openapi({ description })
}

const schemasOf = <Name extends keyof LedgerRow>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schemaOf(LEDGER_COLUMNS[name])])) as SchemasOf<Name>

/** The columns that lists of requests show. */
export const LISTED_SCHEMAS = schemasOf(
  columnsWhere<ColumnsWith<{ shown: 'list' }>>(({ shown }) => shown === 'list'),
)
/** The columns that only the details of a request show. */
export const DETAIL_SCHEMAS = schemasOf(
  columnsWhere<ColumnsWith<{ shown: 'details' }>>(({ shown }) => shown === 'details'),
)
/** The columns with tokens, of a request or summed. */
export const TOKEN_SCHEMAS = schemasOf<TokenColumn>(TOKEN_COLUMNS)
