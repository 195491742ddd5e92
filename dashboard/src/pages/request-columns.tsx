// How one request of the ledger is told in a row.
import type { Request } from '../api/shapes.ts'
import { UNKNOWN, ago, count, duration, exactTime } from '../format.ts'
import { Badge, Parts, type State } from '../ui/bits.tsx'
import { nowrap, sub, text, type Column } from '../ui/table.tsx'

/** TABLE of how a request can have ended that no status tells. */
const STATES: Readonly<Record<Request['state'], State>> = {
  reserved: { label: 'Under way', tone: 'warn' },
  settled: { label: 'Done', tone: 'good' },
  aborted: { label: 'Broken off', tone: 'warn' },
  unknown: { label: 'Unknown', tone: 'calm' },
}

export function Outcome({ request: { state, status, error } }: { request: Request }) {
  if (state !== 'settled' || status === null) return <Badge {...STATES[state]} />
  return <Badge label={String(status)} tone={status < 400 && error === null ? 'good' : status === 429 ? 'warn' : 'bad'} />
}

/** TABLE of columns: when, what, how it ended, what it took. */
export function requestColumns(whose: 'any key' | 'one key', open: (id: string) => void): readonly Column<Request>[] {
  const key: Column<Request>[] = whose === 'one key' ? [] : [{ title: 'Key', from: 'middle', cell: ({ key_id, key_name }) => <span className={text}>{key_name ?? key_id}</span> }]
  return [
    {
      title: 'Request',
      cell: ({ id, model, provider, created_at }) => (
        <>
          <button type="button" className="linklike" onClick={() => open(id)} aria-label={`${model ?? 'No model named'}: details of the request of ${exactTime(created_at)}`}>
            {model === null ? 'No model named' : <Parts name={model} />}
          </button>
          <span className={sub}>{provider}</span>
        </>
      ),
    },
    ...key,
    { title: 'Outcome', cell: (request) => <Outcome request={request} /> },
    { title: 'Tokens', from: 'middle', right: true, cell: ({ tokens_in, tokens_out }) => <span className={nowrap}>{tokens_in === null && tokens_out === null ? UNKNOWN : `${count(tokens_in)} → ${count(tokens_out)}`}</span> },
    { title: 'First byte', from: 'wide', right: true, cell: ({ first_byte_ms }) => <span className={nowrap}>{duration(first_byte_ms)}</span> },
    { title: 'Total', from: 'wide', right: true, cell: ({ total_ms }) => <span className={nowrap}>{duration(total_ms)}</span> },
    {
      title: 'When',
      right: true,
      cell: ({ created_at }) => (
        <time className={nowrap} dateTime={created_at} title={exactTime(created_at)}>
          {ago(created_at)}
        </time>
      ),
    },
  ]
}
