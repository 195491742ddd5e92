// The newest requests and refusals of one key.
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { useProviderNames } from '../api/credentials.ts'
import { useRefusals, useRequests } from '../api/usage.ts'
import { counted } from '../format.ts'
import { Card, Empty } from '../ui/page.tsx'
import { PagedTable, type Column, type Pages } from '../ui/table.tsx'
import { refusalColumns, requestColumns } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'

interface LedgerCardProps<T> {
  title: string
  note?: string | undefined
  /** The label of the table. */
  label: string
  /** The link to the whole list. */
  all: { href: string; label: string }
  query: Pages<T>
  columnsOf: (
    whose: 'one key',
    open: (id: string) => void,
    providerName: (id: string) => string,
  ) => readonly Column<T>[]
  empty?: ReactNode
}

/** The newest rows of a list; each opens its details. */
function LedgerCard<T extends { id: string }>({
  title,
  note,
  label,
  all,
  query,
  columnsOf,
  empty,
}: LedgerCardProps<T>) {
  const providerName = useProviderNames()
  const [opened, setOpened] = useState<string | null>(null)
  const link = (
    <Link className="textlink" href={all.href}>
      {all.label}
    </Link>
  )
  return (
    <Card title={title} note={note} flush actions={link}>
      <PagedTable
        label={label}
        query={query}
        columns={columnsOf('one key', setOpened, providerName)}
        more={false}
        compact
        empty={empty}
      />
      <RequestDetails id={opened} onClose={() => setOpened(null)} />
    </Card>
  )
}

/** The refused requests of a key, which show why a program's calls fail. */
export function RefusalsOfKey({ id }: { id: string }) {
  const refusals = useRefusals({ key: id }, 5)
  if (refusals.data === undefined || refusals.data.rows.length === 0) return null
  return (
    <LedgerCard
      title="Refused requests"
      note={`${counted(refusals.data.total ?? 0, 'request')} in the last 30 days`}
      label="Refusals"
      all={{ href: `/requests?list=refused&key=${id}`, label: 'All refusals' }}
      query={refusals}
      columnsOf={refusalColumns}
    />
  )
}

/** The newest requests of a key. */
export function RequestsOfKey({ id }: { id: string }) {
  return (
    <LedgerCard
      title="Recent requests"
      label="Recent requests"
      all={{ href: `/requests?key=${id}`, label: 'All requests' }}
      query={useRequests({ key: id }, 10)}
      columnsOf={requestColumns}
      empty={
        <Empty icon="list" title="No requests yet">
          Requests made with this key appear here.
        </Empty>
      }
    />
  )
}
