import { Box, Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useFilters } from '../address.ts'
import { useAccounts, useChangeAccount, useDeleteAccount, usePlans } from '../api/accounts.ts'
import { ApiError } from '../api/http.ts'
import { useAccount } from '../api/session.ts'
import type { Account } from '../api/shapes.ts'
import { useAccountScope } from '../api/account-scope.ts'
import { date, usedOf } from '../format.ts'
import { Badge, Parts } from '../ui/bits.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, NoMatch, Page, ProblemNote } from '../ui/page.tsx'
import { PagedTable, main, nowrap, sub, type Column } from '../ui/table.tsx'
import css from './accounts.module.css'
import { EditAccount } from './edit-account.tsx'
import { Invitations, Invite } from './invitations.tsx'

/** The administrators' page of accounts and invitations. */
export default function AccountsPage() {
  const [filters, change] = useFilters({ invite: '' })
  const inviteButton = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ invite: '1' })}>
      Invite
    </Button>
  )
  return (
    <Page
      title="Accounts"
      lead="People who can use this server. Each account sees only its own keys, jobs and usage."
      actions={inviteButton}
    >
      <Accounts />
      <Invitations />
      <Invite opened={filters.invite !== ''} onClose={() => change({ invite: '' })} />
    </Page>
  )
}

/** The open dialog of an account. */
interface AccountAction {
  what: 'change' | 'disable' | 'delete'
  account: Account
}

const nameOf = ({ email, name }: Account): string => email ?? name

function Accounts() {
  const [{ search }, filter] = useFilters({ search: '' })
  const [sought] = useDebouncedValue(search, 250)
  const accounts = useAccounts(sought.trim())
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const change = useChangeAccount()
  const [doing, setDoing] = useState<AccountAction | null>(null)
  const close = (): void => {
    setDoing(null)
    change.reset()
  }
  const submit = (what: AccountAction['what'], account: Account): void => {
    change.reset()
    setDoing({ what, account })
  }
  const columns = accountColumns(narrow, submit, ({ id }) => change.mutate({ id, disabled: false }))
  return (
    <Card flush>
      {doing === null && <ProblemNote error={change.error} />}
      <div className={css.search}>
        <TextInput
          size="xs"
          aria-label="Search accounts"
          placeholder="Search by name or e-mail"
          leftSection={<Icon name="search" size={14} />}
          value={search}
          onChange={(event) => filter({ search: event.currentTarget.value })}
        />
      </div>
      <PagedTable
        label="Accounts"
        query={accounts}
        columns={columns}
        empty={<NoMatch what="account" onClear={() => filter({ search: '' })} />}
      />
      <AccountDialogs
        doing={doing}
        change={change}
        onClose={close}
        onDelete={(account) => submit('delete', account)}
      />
    </Card>
  )
}

interface AccountDialogsProps {
  doing: AccountAction | null
  change: ReturnType<typeof useChangeAccount>
  onClose: () => void
  onDelete: (account: Account) => void
}

/** The dialogs of an account; at most one is open. */
function AccountDialogs({ doing, change, onClose, onDelete }: AccountDialogsProps) {
  const me = useAccount()
  const chosen = doing?.account
  return (
    <>
      {chosen !== undefined && (
        <Dialog
          title={`Edit ${nameOf(chosen)}`}
          opened={doing?.what === 'change'}
          onClose={onClose}
        >
          <EditAccount
            account={chosen}
            own={chosen.id === me.id}
            onClose={onClose}
            onDelete={() => onDelete(chosen)}
          />
        </Dialog>
      )}
      <Confirm
        title={`Disable ${chosen === undefined ? '' : nameOf(chosen)}?`}
        opened={doing?.what === 'disable'}
        onClose={onClose}
        submit="Disable"
        busy={change.isPending}
        error={change.error}
        onConfirm={() =>
          chosen && change.mutate({ id: chosen.id, disabled: true }, { onSuccess: onClose })
        }
      >
        Its keys and tokens stop working and nobody can sign in to it until you enable it again.
      </Confirm>
      <DeleteAccount account={chosen} opened={doing?.what === 'delete'} onClose={onClose} />
    </>
  )
}

interface DeleteAccountProps {
  account: Account | undefined
  opened: boolean
  onClose: () => void
}

function DeleteAccount({ account, opened, onClose }: DeleteAccountProps) {
  const remove = useDeleteAccount()
  const close = (): void => {
    onClose()
    remove.reset()
  }
  return (
    <Confirm
      title={`Delete ${account === undefined ? '' : nameOf(account)}?`}
      opened={opened}
      onClose={close}
      submit="Delete account"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => account && remove.mutate(account.id, { onSuccess: close })}
    >
      Its keys are revoked and its tokens and sessions end. Its usage stays in reports. You can't
      undo this.
    </Confirm>
  )
}

/** TABLE of columns of the accounts. On narrow screens, the plan is below the name. */
function accountColumns(
  narrow: boolean,
  ask: (what: AccountAction['what'], account: Account) => void,
  enable: (account: Account) => void,
): readonly Column<Account>[] {
  return [
    {
      title: 'Account',
      cell: (account) => {
        const { name, email } = account
        return (
          <>
            <span className={main}>{email === null ? name : <Parts name={email} />}</span>
            {email !== null && email !== name && <span className={sub}>{name}</span>}
            {narrow && <PlanOf account={account} />}
          </>
        )
      },
    },
    {
      title: 'Status',
      cell: ({ disabled, role }) =>
        disabled ? (
          <Badge label="Disabled" tone="warn" />
        ) : (
          <Badge label={role === 'admin' ? 'Admin' : 'Member'} tone="good" />
        ),
    },
    {
      title: 'Plan',
      from: 'middle',
      cell: (account) =>
        !narrow && (
          <Box miw={110}>
            <PlanOf account={account} />
          </Box>
        ),
    },
    { title: 'Conversions today', from: 'wide', right: true, cell: ({ quota }) => usedOf(quota) },
    {
      title: 'Created',
      from: 'wide',
      cell: ({ created_at }) => <span className={nowrap}>{date(created_at)}</span>,
    },
    {
      title: 'Actions',
      quiet: true,
      right: true,
      cell: (account) => <AccountActions account={account} onAsk={ask} onEnable={enable} />,
    },
  ]
}

interface AccountActionsProps {
  account: Account
  onAsk: (what: AccountAction['what'], account: Account) => void
  onEnable: (account: Account) => void
}

/** The actions of an account. Administrators cannot disable their own. */
function AccountActions({ account, onAsk, onEnable }: AccountActionsProps) {
  const own = account.id === useAccount().id
  return (
    <span className={css.actions}>
      {own ? <span className="dimmed">You</span> : <View account={account} />}
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        onClick={() => onAsk('change', account)}
        aria-label={`Edit ${nameOf(account)}`}
      >
        Edit
      </Button>
      {!own && (
        <Button
          variant="subtle"
          color={account.disabled ? 'pine' : 'red'}
          size="compact-sm"
          onClick={() => (account.disabled ? onEnable(account) : onAsk('disable', account))}
          aria-label={`${account.disabled ? 'Enable' : 'Disable'} ${nameOf(account)}`}
        >
          {account.disabled ? 'Enable' : 'Disable'}
        </Button>
      )}
    </span>
  )
}

/** Shows the keys, requests and usage of an account. */
function View({ account }: { account: Account }) {
  const [, setWhose] = useAccountScope()
  const [, go] = useLocation()
  const view = (): void => {
    setWhose(account.id)
    go('/')
  }
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      onClick={view}
      aria-label={`View ${account.email ?? account.name}`}
    >
      View
    </Button>
  )
}

/**
 * The selected plan, even while an earlier choice is being saved: arrow keys select each plan on
 * the way.
 */
function PlanOf({ account }: { account: Account }) {
  const plans = usePlans()
  const change = useChangeAccount()
  const [chosen, setChosen] = useState<string | null>(null)
  const choose = (plan: string): void => {
    setChosen(plan)
    change.mutate({ id: account.id, plan }, { onSettled: () => setChosen(null) })
  }
  return (
    <NativeSelect
      size="xs"
      maw={150}
      aria-label={`Plan of ${account.email ?? account.name}`}
      value={chosen ?? account.plan}
      error={change.error instanceof ApiError ? change.error.message : null}
      onChange={(event) => choose(event.currentTarget.value)}
      data={[...new Set([...(plans.data ?? []).map(({ name }) => name), account.plan])]}
    />
  )
}
