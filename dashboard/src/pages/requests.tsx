import { Button, NativeSelect, Switch, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useState, type FormEvent } from 'react'
import { useFilters } from '../address.ts'
import { useProviderNames } from '../api/credentials.ts'
import {
  requestsCsv,
  useModelChoices,
  useRefusalCounts,
  useRefusals,
  useRequests,
} from '../api/usage.ts'
import { dayOf, fullCount, startOfDay, zoneName } from '../format.ts'
import { DayField } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { KeyPicker } from '../ui/key-picker.tsx'
import { Card, Empty, Filters, NoMatch, Page } from '../ui/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { PagedTable } from '../ui/table.tsx'
import { refusalColumns, requestColumns, refusalLabel } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'
import css from './requests.module.css'

const NONE = { key: '', model: '', status: '', code: '', from: '', to: '', request: '' }

/** TABLE of outcomes to choose from, and of statuses. */
const OUTCOMES = [
  { value: '', label: 'Any outcome' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: '2xx', label: 'Status 2xx' },
  { value: '4xx', label: 'Status 4xx' },
  { value: '429', label: 'Status 429' },
  { value: '5xx', label: 'Status 5xx' },
  { value: 'aborted', label: 'Interrupted' },
  { value: 'in_progress', label: 'In progress' },
  { value: 'unknown', label: 'Unknown' },
]
const isListed = (outcome: string): boolean => OUTCOMES.some(({ value }) => value === outcome)
/** Whatever else stands in the address is none. */
const isOutcome = (text: string): boolean => isListed(text) || /^[1-5](?:\d\d|xx)$/.test(text)

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
  const filters = { key: wanted.key, from: dayOf(wanted.from), to: dayOf(wanted.to) }
  const zone = zoneName()
  const question = {
    key: filters.key,
    from: startOfDay(filters.from),
    to: startOfDay(filters.to, 1),
  }
  const status = isOutcome(wanted.status) ? wanted.status : ''
  const byStatus = /^\d/.test(status)
  const sent = {
    ...question,
    model: wanted.model,
    status: byStatus ? status : '',
    outcome: byStatus ? '' : status,
  }
  const open = (request: string): void => change({ request })
  const lists = {
    compact,
    open,
    onClear: () => change(NONE),
    filtered: Object.values(filters).some((value) => value !== ''),
  }
  return (
    <Page
      title="Requests"
      lead={
        shown === 'sent'
          ? 'Requests sent to providers, newest first.'
          : 'Requests the proxy refused, newest first. They never reached a provider.'
      }
      actions={
        shown === 'sent' && (
          <Button
            component="a"
            href={requestsCsv(sent)}
            download="requests.csv"
            variant="default"
            leftSection={<Icon name="download" size={16} />}
          >
            Export CSV
          </Button>
        )
      }
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
      <Filters>
        <KeyPicker value={filters.key} onChange={(key) => change({ key })} />
        {shown === 'sent' ? (
          <SentFilters model={wanted.model} status={status} change={change} />
        ) : (
          <CodeFilter
            code={wanted.code}
            question={question}
            onChange={(code) => change({ code })}
          />
        )}
        <DayField
          leftSection={<small>From</small>}
          leftSectionWidth={52}
          aria-label={`From day (${zone})`}
          value={filters.from}
          onChange={(from) => change({ from })}
        />
        <DayField
          leftSection={<small>To</small>}
          leftSectionWidth={36}
          aria-label={`To day (${zone})`}
          value={filters.to}
          onChange={(to) => change({ to })}
        />
        <span className={css.zone}>Days in {zone}</span>
      </Filters>
      <Card flush>
        {shown === 'sent' ? (
          <SentList
            key="sent"
            filter={sent}
            {...lists}
            filtered={lists.filtered || status !== '' || wanted.model !== ''}
          />
        ) : (
          <RefusedList
            key="refused"
            filter={{ ...question, code: wanted.code }}
            {...lists}
            filtered={lists.filtered || wanted.code !== ''}
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

/**
 * Brings somebody who has the id of an answer to what came of it, whether it was sent on or
 * refused.
 */
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

interface SentFiltersProps {
  model: string
  status: string
  change: (change: { model?: string; status?: string }) => void
}

function SentFilters({ model, status, change }: SentFiltersProps) {
  const models = useModelChoices(model)
  const outcomes = [
    ...OUTCOMES,
    ...(isListed(status) ? [] : [{ value: status, label: `Status ${status}` }]),
  ]
  return (
    <>
      <NativeSelect
        aria-label="Model"
        value={model}
        onChange={(event) => change({ model: event.currentTarget.value })}
        data={models}
      />
      <NativeSelect
        aria-label="Outcome"
        value={status}
        onChange={(event) => change({ status: event.currentTarget.value })}
        data={outcomes}
      />
    </>
  )
}

interface CodeFilterProps {
  code: string
  question: { key: string; from: string; to: string }
  onChange: (code: string) => void
}

function CodeFilter({ code, question, onChange }: CodeFilterProps) {
  const counts = useRefusalCounts(question).data
  const choices = (counts?.by_code ?? []).map(({ code, count }) => ({
    value: code,
    label: `${refusalLabel(code)} (${fullCount(count)})`,
  }))
  const own =
    code === '' || choices.some(({ value }) => value === code)
      ? []
      : [{ value: code, label: refusalLabel(code) }]
  const any = {
    value: '',
    label: counts === undefined ? 'Any reason' : `Any reason (${fullCount(counts.total)})`,
  }
  return (
    <NativeSelect
      aria-label="Reason"
      value={code}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[any, ...choices, ...own]}
    />
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
            Create a key and send a request through the proxy. It appears here right away.
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
