import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useFilters } from '../address.ts'
import { useAccount } from '../api/session.ts'
import type { Token } from '../api/shapes.ts'
import { usePurgeToken, useRevokeToken, useTokens } from '../api/tokens.ts'
import { dateTime, usedOf } from '../format.ts'
import { Badge, Facts, Pills, type State } from '../ui/bits.tsx'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Filters, NoMatch, Page, filterGrow } from '../ui/page.tsx'
import { PagedTable, main, sub, type Column } from '../ui/table.tsx'
import { EXPIRES, LAST_USED } from '../ui/time-columns.tsx'
import { CreateToken } from './create-token.tsx'

const STATUS: Readonly<Record<Token['status'], State>> = {
  active: { label: 'Active', tone: 'good' },
  expired: { label: 'Expired', tone: 'bad' },
  revoked: { label: 'Revoked', tone: 'calm' },
}

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
      lead="Tokens let programs convert exports and do everything else this dashboard does, except signing in."
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

/** TABLE of columns; the last one asks before revoking or deleting a token. */
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
    LAST_USED,
    EXPIRES,
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

/** Revokes an active token, or deletes one that has ended. */
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
  return (
    <ConfirmChange
      title={`Delete “${token?.name ?? ''}”?`}
      opened={token !== null}
      onClose={onClose}
      submit="Delete"
      change={purge}
      onConfirm={(done) => token && purge.mutate(token.id, { onSuccess: done })}
    >
      It no longer works. Deleting it removes it from this list.
    </ConfirmChange>
  )
}

function RevokeToken({ token, onClose }: { token: Token | null; onClose: () => void }) {
  const revoke = useRevokeToken()
  return (
    <ConfirmChange
      title={`Revoke “${token?.name ?? ''}”?`}
      opened={token !== null}
      onClose={onClose}
      submit="Revoke token"
      change={revoke}
      onConfirm={(done) => token && revoke.mutate(token.id, { onSuccess: done })}
    >
      Programs using it are refused immediately. You can't undo this.
    </ConfirmChange>
  )
}
