import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useFilters } from '../address.ts'
import { useAccount } from '../api/session.ts'
import type { NewToken, Token } from '../api/shapes.ts'
import { useCreateToken, usePurgeToken, useRevokeToken, useTokens } from '../api/tokens.ts'
import { ago, dateTime, startOfDay, usedOf } from '../format.ts'
import { Badge, Facts, Never, Pills, Snippets, type State } from '../ui/bits.tsx'
import { Confirm, Dialog, DialogForm } from '../ui/dialog.tsx'
import { DayField, expiryHint, expiryProblem, fieldError } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Filters, NoMatch, Page, filterGrow } from '../ui/page.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { PagedTable, main, nowrap, sub, type Column } from '../ui/table.tsx'
import { NewSecret } from './new-secret.tsx'

const STATUS: Readonly<Record<Token['status'], State>> = {
  active: { label: 'Active', tone: 'good' },
  expired: { label: 'Expired', tone: 'bad' },
  revoked: { label: 'Revoked', tone: 'calm' },
}

/** TABLE of what a token can open. */
const SCOPES = [
  { value: 'convert', label: 'Convert', description: 'Convert exports and follow jobs.' },
  {
    value: 'manage',
    label: 'Manage',
    description: 'Everything this dashboard can do, except signing in.',
  },
] as const

/** The list of API tokens. */
export default function TokensPage() {
  const [filters, change] = useFilters({ new: '', search: '', status: '' })
  const [search] = useDebouncedValue(filters.search, 250)
  const status = Object.hasOwn(STATUS, filters.status) ? filters.status : ''
  const [purging, setPurging] = useState<Token | null>(null)
  const { quota } = useAccount()
  const tokens = useTokens({ search, status })
  const [revoking, setRevoking] = useState<Token | null>(null)
  const columns = tokenColumns(setRevoking, setPurging)
  const createButton = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: '1' })}>
      Create token
    </Button>
  )
  return (
    <Page
      title="Tokens"
      lead="Tokens let programs convert exports and do everything this dashboard does."
      actions={createButton}
    >
      <Card>
        <Facts
          items={[
            ['Conversions today', usedOf(quota)],
            ['Resets', dateTime(quota.resets_at)],
          ]}
        />
      </Card>
      <TokenFilters search={filters.search} status={status} onChange={change} />
      <Card flush>
        <PagedTable
          label="Tokens"
          query={tokens}
          columns={columns}
          empty={
            search !== '' || status !== '' ? (
              <NoMatch what="token" onClear={() => change({ search: '', status: '' })} />
            ) : (
              <Empty icon="token" title="No tokens yet" action={createButton}>
                A token lets a program convert exports or manage this server on your behalf.
              </Empty>
            )
          }
        />
      </Card>
      <CreateToken opened={filters.new !== ''} onClose={() => change({ new: '' })} />
      <DeleteToken token={purging} onClose={() => setPurging(null)} />
      <RevokeToken token={revoking} onClose={() => setRevoking(null)} />
    </Page>
  )
}

interface TokenFiltersProps {
  search: string
  status: string
  onChange: (filters: { search?: string; status?: string }) => void
}

function TokenFilters({ search, status, onChange }: TokenFiltersProps) {
  return (
    <Filters>
      <TextInput
        className={filterGrow}
        aria-label="Search by name"
        placeholder="Search by name"
        leftSection={<Icon name="search" size={16} />}
        value={search}
        onChange={(event) => onChange({ search: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label="Status"
        value={status}
        onChange={(event) => onChange({ status: event.currentTarget.value })}
        data={[
          { value: '', label: 'Any status' },
          ...Object.entries(STATUS).map(([value, { label }]) => ({ value, label })),
        ]}
      />
    </Filters>
  )
}

/** TABLE of columns of the list; the last one asks before a token goes. */
function tokenColumns(
  revoke: (token: Token) => void,
  purge: (token: Token) => void,
): readonly Column<Token>[] {
  return [
    {
      title: 'Name',
      cell: ({ name, prefix }) => (
        <>
          <span className={main}>{name}</span>
          <span className={`${sub} mono`}>{prefix}…</span>
        </>
      ),
    },
    { title: 'Status', cell: ({ status }) => <Badge {...STATUS[status]} /> },
    { title: 'Scopes', from: 'middle', cell: ({ scopes }) => <Pills items={scopes} /> },
    {
      title: 'Last used',
      from: 'middle',
      cell: ({ last_used_at }) => (
        <span className={nowrap}>{last_used_at === null ? <Never /> : ago(last_used_at)}</span>
      ),
    },
    {
      title: 'Expires',
      from: 'wide',
      cell: ({ expires_at }) => (
        <span className={nowrap}>{expires_at === null ? <Never /> : dateTime(expires_at)}</span>
      ),
    },
    {
      title: 'Actions',
      quiet: true,
      right: true,
      cell: (token) => <TokenAction token={token} onRevoke={revoke} onDelete={purge} />,
    },
  ]
}

interface TokenActionProps {
  token: Token
  onRevoke: (token: Token) => void
  onDelete: (token: Token) => void
}

/** Revokes a token that works, deletes one that does not. */
function TokenAction({ token, onRevoke, onDelete }: TokenActionProps) {
  const active = token.status === 'active'
  return (
    <Button
      variant="subtle"
      color={active ? 'red' : 'gray'}
      size="compact-sm"
      onClick={() => (active ? onRevoke(token) : onDelete(token))}
      aria-label={`${active ? 'Revoke' : 'Delete'} ${token.name}`}
    >
      {active ? 'Revoke' : 'Delete'}
    </Button>
  )
}

function DeleteToken({ token, onClose }: { token: Token | null; onClose: () => void }) {
  const purge = usePurgeToken()
  const close = (): void => {
    onClose()
    purge.reset()
  }
  return (
    <Confirm
      title={`Delete “${token?.name ?? ''}”?`}
      opened={token !== null}
      onClose={close}
      submit="Delete"
      busy={purge.isPending}
      error={purge.error}
      onConfirm={() => token && purge.mutate(token.id, { onSuccess: close })}
    >
      It no longer works. Deleting it removes it from this list.
    </Confirm>
  )
}

function RevokeToken({ token, onClose }: { token: Token | null; onClose: () => void }) {
  const revoke = useRevokeToken()
  const close = (): void => {
    onClose()
    revoke.reset()
  }
  return (
    <Confirm
      title={`Revoke “${token?.name ?? ''}”?`}
      opened={token !== null}
      onClose={close}
      submit="Revoke token"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => token && revoke.mutate(token.id, { onSuccess: close })}
    >
      Programs using it are refused immediately. You can't undo this.
    </Confirm>
  )
}

function CreateToken({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const show = useShowOnce()
  const create = useCreateToken((made) =>
    show({
      title: `“${made.name}” is ready`,
      secret: made.secret,
      body: <NewTokenSecret made={made} />,
    }),
  )
  const close = (): void => {
    onClose()
    create.reset()
  }
  return (
    <Dialog title="Create a token" opened={opened} onClose={close}>
      <TokenForm
        busy={create.isPending}
        error={create.error}
        onCancel={close}
        onSubmit={(input) => create.mutate(input, { onSuccess: close })}
      />
    </Dialog>
  )
}

function NewTokenSecret({ made }: { made: NewToken }) {
  return (
    <NewSecret
      text={made.secret}
      what="the token"
      code={<Snippets label="Use it" items={snippetsOf(made)} />}
    >
      Copy your token now and store it somewhere safe. You won't be able to see it again.
    </NewSecret>
  )
}

interface TokenFormProps {
  busy: boolean
  error: unknown
  onCancel: () => void
  onSubmit: (input: { name: string; scopes: Token['scopes']; expires_at: string | null }) => void
}

function TokenForm({ busy, error, onCancel, onSubmit }: TokenFormProps) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>(['convert'])
  const [expires, setExpires] = useState('')
  const [checked, setChecked] = useState(false)
  const refused = fieldError(error, 'expires_at')
  const send = (): void => {
    setChecked(true)
    if (name.trim() === '' || scopes.length === 0 || expiryProblem(expires) !== null) return
    onSubmit({
      name: name.trim(),
      scopes: SCOPES.flatMap(({ value }) => (scopes.includes(value) ? [value] : [])),
      expires_at: startOfDay(expires) || null,
    })
  }
  return (
    <DialogForm
      submit="Create token"
      busy={busy}
      error={refused === null ? error : null}
      onCancel={onCancel}
      onSubmit={send}
    >
      <TextInput
        label="Name"
        placeholder="Docs pipeline"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={checked && name.trim() === '' ? 'Enter a name.' : null}
        required
        withAsterisk={false}
        maxLength={200}
        data-autofocus
      />
      <Checkbox.Group
        label="Permissions"
        value={scopes}
        onChange={setScopes}
        error={checked && scopes.length === 0 ? 'Choose at least one.' : null}
      >
        <div style={{ display: 'grid', gap: 10, marginTop: 8 }}>
          {SCOPES.map(({ value, label, description }) => (
            <Checkbox key={value} value={value} label={label} description={description} />
          ))}
        </div>
      </Checkbox.Group>
      <DayField
        label="Expires"
        description={expiryHint()}
        value={expires}
        onChange={setExpires}
        error={checked ? (expiryProblem(expires) ?? refused) : refused}
      />
    </DialogForm>
  )
}

function snippetsOf({ secret, scopes }: NewToken) {
  const convert = {
    title: 'Convert',
    code: `curl -X POST '${location.origin}/api/v1/convert' \\
  -H 'Authorization: Bearer ${secret}' \\
  -F file=@Export.zip -F include_metadata=true`,
  }
  const manage = {
    title: 'Manage',
    code: `curl '${location.origin}/api/v1/keys' \\\n  -H 'Authorization: Bearer ${secret}'`,
  }
  return [
    ...(scopes.includes('convert') ? [convert] : []),
    ...(scopes.includes('manage') ? [manage] : []),
  ]
}
