import { Button, NativeSelect } from '@mantine/core'
import { useFilters } from '../address.ts'
import { useKeyNames } from '../api/keys.ts'
import { requestsCsv, useModelChoices, useRequests } from '../api/usage.ts'
import { DayField } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Filters, NoMatch, Page } from '../ui/page.tsx'
import { PagedTable } from '../ui/table.tsx'
import { requestColumns } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'

const NONE = { key: '', model: '', status: '', from: '', to: '', request: '' }

/** TABLE of outcomes to choose from: a status or a class of them, or how a request ended without one. */
const OUTCOMES = [
  { value: '', label: 'Any outcome' },
  { value: '2xx', label: 'Answered (2xx)' },
  { value: '4xx', label: 'Refused (4xx)' },
  { value: '429', label: 'Rate limited (429)' },
  { value: '5xx', label: 'Failed (5xx)' },
  { value: 'aborted', label: 'Broken off' },
  { value: 'reserved', label: 'Under way' },
  { value: 'unknown', label: 'Unknown' },
]
const isListed = (outcome: string): boolean => OUTCOMES.some(({ value }) => value === outcome)
/** Whatever else stands in the address is none. */
const isOutcome = (text: string): boolean => isListed(text) || /^[1-5](?:\d\d|xx)$/.test(text)

export default function RequestsPage() {
  const [{ request, ...wanted }, change] = useFilters(NONE)
  const outcome = isOutcome(wanted.status) ? wanted.status : ''
  const filters = { key: wanted.key, model: wanted.model, from: dayOf(wanted.from), to: dayOf(wanted.to) }
  const names = useKeyNames()
  const models = useModelChoices(filters.model)
  const byStatus = /^\d/.test(outcome)
  const question = { ...filters, status: byStatus ? outcome : '', state: byStatus ? '' : outcome, to: dayOf(filters.to, 1) }
  const requests = useRequests(question)
  const filtered = outcome !== '' || Object.values(filters).some((value) => value !== '')
  const keys = new Map([...names, ...(filters.key === '' || names.has(filters.key) ? [] : [[filters.key, requests.data?.pages[0]?.data[0]?.key_name ?? filters.key] as const])])
  return (
    <Page
      title="Requests"
      lead="Everything that went through the proxy, newest first."
      actions={
        <Button component="a" href={requestsCsv(question)} download="requests.csv" variant="default" leftSection={<Icon name="download" size={16} />}>
          Export CSV
        </Button>
      }
    >
      <Filters>
        <NativeSelect aria-label="Key" value={filters.key} onChange={(event) => change({ key: event.currentTarget.value })} data={[{ value: '', label: 'Any key' }, ...[...keys].map(([value, label]) => ({ value, label }))]} />
        <NativeSelect aria-label="Model" value={filters.model} onChange={(event) => change({ model: event.currentTarget.value })} data={models} />
        <NativeSelect aria-label="Outcome" value={outcome} onChange={(event) => change({ status: event.currentTarget.value })} data={[...OUTCOMES, ...(isListed(outcome) ? [] : [{ value: outcome, label: outcome }])]} />
        <DayField leftSection={<small>From</small>} leftSectionWidth={52} aria-label="From day (UTC)" value={filters.from} onChange={(from) => change({ from })} />
        <DayField leftSection={<small>To</small>} leftSectionWidth={36} aria-label="To day (UTC)" value={filters.to} onChange={(to) => change({ to })} />
      </Filters>
      <Card flush>
        <PagedTable
          label="Requests"
          query={requests}
          columns={requestColumns('any key', (id) => change({ request: id }))}
          bars={8}
          empty={
            filtered ? (
              <NoMatch what="request" onClear={() => change(NONE)} />
            ) : (
              <Empty icon="list" title="No requests yet">
                Create a key and send a request through the proxy: it appears here before the provider sees it.
              </Empty>
            )
          }
        />
      </Card>
      <RequestDetails id={request === '' ? null : request} onClose={() => change({ request: '' })} />
    </Page>
  )
}

/** The day of a moment, or a later one: the API's end is not included, and a person means the whole day. None where the server knows no such day. */
function dayOf(moment: string, later = 0): string {
  const at = new Date(Date.parse(moment) + later * 86_400_000)
  const iso = Number.isNaN(at.getTime()) ? '' : at.toISOString()
  // Years before 0 and after 9999 have a sign.
  return /^\d/.test(iso) ? iso.slice(0, 10) : ''
}
