// A report of many statements, for tests of who waits for whom.
import { sql } from 'kysely'
import { procedure, type Steps } from '../../server/store/procedure.ts'
import { statement } from '../../server/store/statement.ts'

/** Runs a statement so many times, each of which counts to `most`; gives how often. */
export const longRead = procedure(
  import.meta.url,
  'longRead',
  function* (
    db,
    { times, most }: { times: number; most: number },
  ): Steps<{ times: number; bytes: Uint8Array<ArrayBuffer> }> {
    const counted = sql<{
      n: number
    }>`with recursive c(i) as (select 1 union all select i + 1 from c where i < ${sql.lit(most)}) select count(*) as n from c`
    for (let i = 0; i < times; i++) yield statement({ compile: () => counted.compile(db) })
    return { times, bytes: new Uint8Array(3).fill(7) }
  },
)
