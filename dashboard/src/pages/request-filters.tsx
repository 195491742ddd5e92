// Filters of the list of requests: key, model, outcome or reason, and days.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useModelChoices, useRefusalCounts } from '../api/usage.ts'
import { fullCount, zoneName } from '../format.ts'
import { DayField } from '../ui/form.tsx'
import { KeyPicker } from '../ui/key-picker.tsx'
import { Icon } from '../ui/icons.tsx'
import { Filters } from '../ui/page.tsx'
import { refusalLabel } from './request-columns.tsx'
import css from './requests.module.css'

/** TABLE of outcomes and statuses to filter by. */
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
/** Whether a URL parameter is a valid outcome or status. */
export const isOutcome = (text: string): boolean =>
  isListed(text) || /^[1-5](?:\d\d|xx)$/.test(text)

type FilterName = 'key' | 'child' | 'end_user' | 'model' | 'status' | 'code' | 'from' | 'to'

interface RequestFiltersProps {
  list: 'sent' | 'refused'
  /** As in the URL; days are `YYYY-MM-DD`. */
  filters: Readonly<Record<FilterName, string>>
  /** The key and the period that reasons are counted for. */
  question: { key: string; from: string; to: string }
  change: (filters: Partial<Record<FilterName, string>>) => void
}

/** The row of filters above the list of sent or refused requests. */
export function RequestFilters({ list, filters, question, change }: RequestFiltersProps) {
  const zone = zoneName()
  return (
    <Filters>
      <KeyPicker value={filters.key} onChange={(key) => change({ key })} />
      {list === 'sent' ? (
        <SentFilters filters={filters} change={change} />
      ) : (
        <CodeFilter code={filters.code} question={question} onChange={(code) => change({ code })} />
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
  )
}

function SentFilters({
  filters: { model, status, end_user, child },
  change,
}: Pick<RequestFiltersProps, 'filters' | 'change'>) {
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
      <TextInput
        aria-label="End user"
        placeholder="Any end user"
        value={end_user}
        onChange={(event) => change({ end_user: event.currentTarget.value })}
      />
      {child !== '' && (
        <Button
          variant="default"
          rightSection={<Icon name="close" size={14} />}
          onClick={() => change({ child: '' })}
          aria-label="One child key: show all"
        >
          One child key
        </Button>
      )}
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
