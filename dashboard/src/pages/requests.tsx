import { Button, Switch, TextInput } from '@mantine/core'
import { useDebouncedValue, useLocalStorage } from '@mantine/hooks'
import { useState, type FormEvent } from 'react'
import { useFilters } from '../address.ts'
import { useProviderNames } from '../api/credentials.ts'
import { requestsCsv, useRefusals, useRequests } from '../api/usage.ts'
import { dayOf, startOfDay } from '../format.ts'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, NoMatch, Page } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { PagedTable } from '../ui/table.tsx'
import { refusalColumns, requestColumns } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'
import { RequestFilters, isOutcome } from './request-filters.tsx'
import css from './requests.module.css'

const NONE = {
  key: '',
  child: '',
  end_user: '',
  model: '',
  status: '',
  code: '',
  from: '',
  to: '',
  request: '',
}

/** TABLE of the lists of this page. */
const LISTS = [
  { value: 'sent', label: 'Sent' },
  { value: 'refused', label: 'Refused' },
] as const

/** Sent and rejected requests, with their filters. */
export default function RequestsPage() {
  const [{ list, ...wanted }, change] = useFilters({ ...NONE, list: 'sent' })
  const shown = list === 'refused' ? 'refused' : 'sent'
  const [compact, setCompact] = useLocalStorage({
    key: 'compact-rows',
    defaultValue: true,
    getInitialValueInEffect: false,
  })
  const filters = {
    ...wanted,
    status: isOutcome(wanted.status) ? wanted.status : '',
    from: dayOf(wanted.from),
    to: dayOf(wanted.to),
  }
  const [endUser] = useDebouncedValue(filters.end_user, 250)
  const { question, sent } = queriesOf({ ...filters, end_user: endUser.trim() })
  const open = (request: string): void => change({ request })
  const { key, from, to, model, status, code, child, end_user } = filters
  const isFiltered = (...own: string[]): boolean =>
    [key, from, to, ...own].some((value) => value !== '')
  const lists = { compact, open, onClear: () => change(NONE) }
  return (
    <Page
      title="Requests"
      lead={
        shown === 'sent'
          ? 'Requests sent to providers, newest first.'
          : 'Requests the proxy refused, newest first. They never reached a provider.'
      }
      actions={shown === 'sent' && <ExportButton href={requestsCsv(sent)} />}
    >
      <div className={css.lists}>
        <Segments label="List" value={shown} items={LISTS} onChange={(list) => change({ list })} />
        <FindById onFind={open} />
        <Switch
          className={css.compact}
          size="xs"
          label="Compact rows"
          checked={compact}
          onChange={(event) => setCompact(event.currentTarget.checked)}
        />
      </div>
      <RequestFilters list={shown} filters={filters} question={question} change={change} />
      <Card flush>
        {shown === 'sent' ? (
          <SentList
            key="sent"
            filter={sent}
            {...lists}
            filtered={isFiltered(model, status, child, end_user)}
          />
        ) : (
          <RefusedList
            key="refused"
            filter={{ ...question, code }}
            {...lists}
            filtered={isFiltered(code)}
          />
        )}
      </Card>
      <RequestDetails
        id={wanted.request === '' ? null : wanted.request}
        onClose={() => change({ request: '' })}
      />
    </Page>
  )
}

/** The queries for these filters: shared by both lists, and for sent requests. */
function queriesOf({
  key,
  child,
  end_user,
  model,
  status,
  from,
  to,
}: Omit<typeof NONE, 'request' | 'code'>) {
  const question = { key, from: startOfDay(from), to: startOfDay(to, 1) }
  const byStatus = /^\d/.test(status)
  const sent = {
    ...question,
    child,
    end_user,
    model,
    status: byStatus ? status : '',
    outcome: byStatus ? '' : status,
  }
  return { question, sent }
}

function ExportButton({ href }: { href: string }) {
  return (
    <Button
      component="a"
      href={href}
      download="requests.csv"
      variant="default"
      leftSection={<Icon name="download" size={16} />}
    >
      Export CSV
    </Button>
  )
}

/** Finds a request or a refusal by the id in its response. */
function FindById({ onFind }: { onFind: (id: string) => void }) {
  const [id, setId] = useState('')
  const find = (event: FormEvent): void => {
    event.preventDefault()
    if (id.trim() !== '') onFind(id.trim())
  }
  return (
    <form className={css.find} onSubmit={find} role="search" aria-label="Find by ID">
      <TextInput
        size="xs"
        aria-label="Request ID"
        placeholder="Find by X-Proxy-Request-Id"
        value={id}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setId(event.currentTarget.value)}
      />
      <Button type="submit" size="xs" variant="default" disabled={id.trim() === ''}>
        Find
      </Button>
    </form>
  )
}

interface ListProps<F> {
  filter: F
  filtered: boolean
  compact: boolean
  open: (id: string) => void
  onClear: () => void
}

function SentList({
  filter,
  filtered,
  compact,
  open,
  onClear,
}: ListProps<Parameters<typeof useRequests>[0]>) {
  const requests = useRequests(filter)
  const providerName = useProviderNames()
  return (
    <PagedTable
      label="Requests"
      query={requests}
      columns={requestColumns('any key', open, providerName)}
      bars={8}
      compact={compact}
      empty={
        filtered ? (
          <NoMatch what="request" onClear={onClear} />
        ) : (
          <Empty icon="list" title="No requests yet">
            Send a request with a key. It appears here, or under Refused.
          </Empty>
        )
      }
    />
  )
}

function RefusedList({
  filter,
  filtered,
  compact,
  open,
  onClear,
}: ListProps<Parameters<typeof useRefusals>[0]>) {
  const refusals = useRefusals(filter)
  const providerName = useProviderNames()
  return (
    <PagedTable
      label="Refusals"
      query={refusals}
      columns={refusalColumns('any key', open, providerName)}
      bars={8}
      compact={compact}
      empty={
        filtered ? (
          <NoMatch what="refusal" onClear={onClear} />
        ) : (
          <Empty icon="list" title="No refused requests">
            Requests stopped by a rate limit, a model restriction or an unknown address are kept
            here for 30 days.
          </Empty>
        )
      }
    />
  )
}
