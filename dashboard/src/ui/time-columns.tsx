// Timestamp columns of several lists.
import { ago, dateTime } from '../format.ts'
import { Never } from './bits.tsx'
import { nowrap, type Column } from './table.tsx'

/** When a key or token was last used. */
export const LAST_USED: Column<{ last_used_at: string | null }> = {
  title: 'Last used',
  from: 'middle',
  cell: ({ last_used_at }) => (
    <span className={nowrap}>{last_used_at === null ? <Never /> : ago(last_used_at)}</span>
  ),
}

/** When a key or token expires. */
export const EXPIRES: Column<{ expires_at: string | null }> = {
  title: 'Expires',
  from: 'wide',
  cell: ({ expires_at }) => (
    <span className={nowrap}>{expires_at === null ? <Never /> : dateTime(expires_at)}</span>
  ),
}
