import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { Link } from 'wouter'
import { useFilters } from '../address.ts'
import { getAccountScope } from '../api/account-scope.ts'
import { useCreateKey, useKeys, usePurgeKeys } from '../api/keys.ts'
import type { Key } from '../api/shapes.ts'
import { useModelChoices } from '../api/usage.ts'
import { count, counted, fullCount } from '../format.ts'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Filters, NoMatch, Page, filterGrow } from '../ui/page.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { PagedTable, main, sub, type Column } from '../ui/table.tsx'
import { EXPIRES, LAST_USED } from '../ui/time-columns.tsx'
import { KeyForm } from './key-form.tsx'
import { KeyStatus, Models, STATUS } from './key-status.tsx'
import { NewKeySecret } from './new-key.tsx'

/** TABLE of columns. */
const COLUMNS: readonly Column<Key>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name, prefix, account_name }) => (
      <>
        <Link href={`/keys/${id}`} className={main}>
          {name}
        </Link>
        <span className={`${sub} mono`}>{prefix}…</span>
        {getAccountScope() === 'all' && <span className={sub}>{account_name}</span>}
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <KeyStatus status={status} /> },
  { title: 'Models', from: 'middle', cell: ({ models }) => <Models models={models} most={2} /> },
  {
    title: 'RPM',
    from: 'wide',
    right: true,
    cell: ({ rpm }) => (rpm === null ? <span className="dimmed">No limit</span> : fullCount(rpm)),
  },
  {
    title: 'Requests',
    from: 'middle',
    right: true,
    sort: 'requests',
    cell: ({ usage }) => count(usage.requests),
  },
  { ...LAST_USED, sort: 'last_used_at' },
  { ...EXPIRES, sort: 'expires_at' },
]

/** The sort orders of the headers. */
const ORDERS: ReadonlySet<string> = new Set(
  COLUMNS.flatMap(({ sort }) => (sort === undefined ? [] : [sort, `-${sort}`])),
)

const NONE = { search: '', status: '', model: '', sort: '', new: '' }

/**
 * A key that was pasted is cut to its prefix: it finds the key, and the address holds no secret.
 */
const withoutSecret = (search: string): string =>
  /^\s*(tmk_[0-9A-Za-z]{12})_/.exec(search)?.[1] ?? search

/** The list of keys. */
export default function KeysPage() {
  const [filters, change] = useFilters(NONE)
  // The box shows the URL's value; the query is sent when typing pauses.
  const [search] = useDebouncedValue(filters.search, 250)
  const { model } = filters
  const status =
    filters.status === 'all' || Object.hasOwn(STATUS, filters.status) ? filters.status : ''
  const sort = ORDERS.has(filters.sort) ? filters.sort : ''
  const models = useModelChoices(model)
  const keys = useKeys({ search, status, model, sort })
  const filtered = search !== '' || status !== '' || model !== ''
  const createButton = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: '1' })}>
      Create key
    </Button>
  )
  return (
    <Page title="Keys" lead="Keys your apps use instead of a provider key." actions={createButton}>
      <Filters>
        <TextInput
          className={filterGrow}
          aria-label="Search by name, prefix or id"
          placeholder="Search by name, prefix or id"
          leftSection={<Icon name="search" size={16} />}
          value={filters.search}
          onChange={(event) => change({ search: withoutSecret(event.currentTarget.value) })}
        />
        <NativeSelect
          aria-label="Status"
          value={status}
          onChange={(event) => change({ status: event.currentTarget.value })}
          data={[
            { value: '', label: 'Not revoked' },
            { value: 'all', label: 'Any status' },
            ...Object.entries(STATUS).map(([value, { label }]) => ({ value, label })),
          ]}
        />
        <NativeSelect
          aria-label="Model"
          value={model}
          onChange={(event) => change({ model: event.currentTarget.value })}
          data={models}
        />
        {(status === 'expired' || status === 'revoked') && search === '' && model === '' && (
          <PurgeAll status={status} total={keys.data?.total ?? 0} />
        )}
      </Filters>
      <Card flush>
        <PagedTable
          label="Keys"
          query={keys}
          columns={COLUMNS}
          sorted={{ by: sort, change: (by) => change({ sort: by }) }}
          bars={6}
          empty={
            filtered ? (
              <NoMatch what="key" onClear={() => change({ search: '', status: '', model: '' })} />
            ) : (
              <Empty icon="key" title="No keys yet" action={createButton}>
                A key gives an app access to the models you choose, at the rate you choose.
              </Empty>
            )
          }
        />
      </Card>
      <CreateKey opened={filters.new !== ''} onClose={() => change({ new: '' })} />
    </Page>
  )
}

/** Deletes every key of a list of keys that no longer work. */
function PurgeAll({ status, total }: { status: 'expired' | 'revoked'; total: number }) {
  const purge = usePurgeKeys()
  const [opened, setOpened] = useState(false)
  const what = counted(total, `${status} key`)
  return (
    <>
      {total > 0 && (
        <Button variant="light" color="red" onClick={() => setOpened(true)}>
          Delete all
        </Button>
      )}
      <ConfirmChange
        title={`Delete ${what}?`}
        opened={opened}
        onClose={() => setOpened(false)}
        submit="Delete all"
        change={purge}
        onConfirm={(done) => purge.mutate(status, { onSuccess: done })}
      >
        They disappear from every list for good. Their usage stays in reports.
      </ConfirmChange>
    </>
  )
}

function CreateKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const show = useShowOnce()
  const create = useCreateKey((made) =>
    show({
      title: `“${made.name}” is ready`,
      secret: made.secret,
      body: <NewKeySecret made={made} />,
    }),
  )
  const close = (): void => {
    onClose()
    create.reset()
  }
  return (
    <Dialog title="Create a key" opened={opened} onClose={close}>
      <KeyForm
        submit="Create key"
        busy={create.isPending}
        error={create.error}
        onCancel={close}
        onSubmit={(input) => create.mutate(input, { onSuccess: close })}
      />
    </Dialog>
  )
}
