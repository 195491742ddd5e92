// What the ledger holds of one key: its newest requests, and those that were refused.
import { useState } from 'react'
import { Link } from 'wouter'
import { useProviderNames } from '../api/credentials.ts'
import { useRefusals, useRequests } from '../api/usage.ts'
import { counted } from '../format.ts'
import { Card, Empty } from '../ui/page.tsx'
import { PagedTable } from '../ui/table.tsx'
import { refusalColumns, requestColumns } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'

/** What the proxy refused of a key: why a program that has it gets no answer. */
export function RefusalsOfKey({ id }: { id: string }) {
  const refusals = useRefusals({ key: id }, 5)
  const providerName = useProviderNames()
  const [opened, setOpened] = useState<string | null>(null)
  if (refusals.data === undefined || refusals.data.rows.length === 0) return null
  return (
    <Card
      title="Refused requests"
      note={`${counted(refusals.data.total ?? 0, 'request')} in the last 30 days`}
      flush
      actions={
        <Link className="textlink" href={`/requests?list=refused&key=${id}`}>
          All refusals
        </Link>
      }
    >
      <PagedTable
        label="Refusals"
        query={refusals}
        columns={refusalColumns('one key', setOpened, providerName)}
        more={false}
        compact
      />
      <RequestDetails id={opened} onClose={() => setOpened(null)} />
    </Card>
  )
}

/** The newest requests of a key. */
export function RequestsOfKey({ id }: { id: string }) {
  const requests = useRequests({ key: id }, 10)
  const providerName = useProviderNames()
  const [opened, setOpened] = useState<string | null>(null)
  return (
    <Card
      title="Recent requests"
      flush
      actions={
        <Link className="textlink" href={`/requests?key=${id}`}>
          All requests
        </Link>
      }
    >
      <PagedTable
        label="Recent requests"
        query={requests}
        columns={requestColumns('one key', setOpened, providerName)}
        compact
        more={false}
        empty={
          <Empty icon="list" title="No requests yet">
            Requests made with this key appear here.
          </Empty>
        }
      />
      <RequestDetails id={opened} onClose={() => setOpened(null)} />
    </Card>
  )
}
