import { Box, Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedValue, useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useFilters } from '../address.ts'
import {
  useAccounts,
  useChangeAccount,
  useDeleteAccount,
  useDeleteInvitation,
  useInvitations,
  useInvite,
  usePlans,
  useResetPassword,
} from '../api/accounts.ts'
import { ApiError } from '../api/http.ts'
import { useAccount } from '../api/session.ts'
import type { Account, Invitation, NewInvitation, PasswordReset } from '../api/shapes.ts'
import { useAccountScope } from '../api/account-scope.ts'
import { UNKNOWN, ago, date, dateTime, usedOf } from '../format.ts'
import { Badge, Parts, type State } from '../ui/bits.tsx'
import { Confirm, Dialog, DialogForm } from '../ui/dialog.tsx'
import { unlessShownBy, fieldError } from '../ui/form.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, NoMatch, Page, ProblemNote } from '../ui/page.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { PagedTable, main, nowrap, sub, type Column } from '../ui/table.tsx'
import css from './accounts.module.css'
import { NewSecret } from './new-secret.tsx'

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

/** What is being done to an account. */
interface AccountAction {
  what: 'change' | 'disable' | 'delete'
  account: Account
}

const nameOf = ({ email, name }: Account): string => email ?? name

function Accounts() {
  const [{ search }, filter] = useFilters({ search: '' })
  const [sought] = useDebouncedValue(search, 250)
  const accounts = useAccounts(sought.trim())
  const me = useAccount()
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const change = useChangeAccount()
  const remove = useDeleteAccount()
  const [doing, setDoing] = useState<AccountAction | null>(null)
  const close = (): void => {
    setDoing(null)
    change.reset()
    remove.reset()
  }
  const submit = (what: AccountAction['what'], account: Account): void => {
    change.reset()
    setDoing({ what, account })
  }
  const columns: readonly Column<Account>[] = [
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
      cell: (account) => (
        <span className={css.actions}>
          {account.id === me.id ? <span className="dimmed">You</span> : <View account={account} />}
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            onClick={() => submit('change', account)}
            aria-label={`Edit ${nameOf(account)}`}
          >
            Edit
          </Button>
          {account.id !== me.id && (
            <Button
              variant="subtle"
              color={account.disabled ? 'pine' : 'red'}
              size="compact-sm"
              onClick={() =>
                account.disabled
                  ? change.mutate({ id: account.id, disabled: false })
                  : submit('disable', account)
              }
              aria-label={`${account.disabled ? 'Enable' : 'Disable'} ${nameOf(account)}`}
            >
              {account.disabled ? 'Enable' : 'Disable'}
            </Button>
          )}
        </span>
      ),
    },
  ]
  const chosen = doing?.account
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
      {chosen !== undefined && (
        <Dialog title={`Edit ${nameOf(chosen)}`} opened={doing?.what === 'change'} onClose={close}>
          <EditAccount
            account={chosen}
            own={chosen.id === me.id}
            onClose={close}
            onDelete={() => submit('delete', chosen)}
          />
        </Dialog>
      )}
      <Confirm
        title={`Disable ${chosen === undefined ? '' : nameOf(chosen)}?`}
        opened={doing?.what === 'disable'}
        onClose={close}
        submit="Disable"
        busy={change.isPending}
        error={change.error}
        onConfirm={() =>
          chosen && change.mutate({ id: chosen.id, disabled: true }, { onSuccess: close })
        }
      >
        Its keys and tokens stop working and nobody can sign in to it until you enable it again.
      </Confirm>
      <Confirm
        title={`Delete ${chosen === undefined ? '' : nameOf(chosen)}?`}
        opened={doing?.what === 'delete'}
        onClose={close}
        submit="Delete account"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => chosen && remove.mutate(chosen.id, { onSuccess: close })}
      >
        Its keys are revoked and its tokens and sessions end. Its usage stays in reports. You can't
        undo this.
      </Confirm>
    </Card>
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

/** TABLE of roles. */
const ROLES = [
  { value: 'member', label: 'Member: own keys, jobs and usage' },
  { value: 'admin', label: 'Administrator: the whole server' },
]

interface EditAccountProps {
  account: Account
  own: boolean
  onClose: () => void
  onDelete: () => void
}

function EditAccount({ account, own, onClose, onDelete }: EditAccountProps) {
  const change = useChangeAccount()
  const show = useShowOnce()
  // Told here: what the dialog holds is gone when the link is shown above it.
  const reset = useResetPassword((made) => {
    onClose()
    show({
      title: 'Password reset link',
      secret: made.link,
      body: <ResetLink made={made} account={account} />,
    })
  })
  const [name, setName] = useState(account.name)
  const [role, setRole] = useState<Account['role']>(account.role)
  return (
    <DialogForm
      submit="Save"
      busy={change.isPending}
      error={unlessShownBy(['name'], change.error) ?? reset.error}
      onCancel={onClose}
      onSubmit={() =>
        name.trim() !== '' &&
        change.mutate({ id: account.id, name: name.trim(), role }, { onSuccess: onClose })
      }
    >
      <TextInput
        label="Name"
        value={name}
        maxLength={200}
        onChange={(event) => setName(event.currentTarget.value)}
        error={name.trim() === '' ? 'Enter a name.' : fieldError(change.error, 'name')}
        data-autofocus
      />
      <NativeSelect
        label="Role"
        data={ROLES}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value === 'admin' ? 'admin' : 'member')}
      />
      <div className={css.more}>
        <Button
          variant="default"
          size="xs"
          loading={reset.isPending}
          onClick={() => reset.mutate(account.id)}
        >
          Create password reset link
        </Button>
        {!own && (
          <Button variant="light" color="red" size="xs" onClick={onDelete}>
            Delete account
          </Button>
        )}
      </div>
    </DialogForm>
  )
}

function ResetLink({
  made: { link, expires_at },
  account: { email, name },
}: {
  made: PasswordReset
  account: Account
}) {
  return (
    <NewSecret text={link} what="the link">
      Send this link to {email ?? name}. It lets them set a new password. It works once and expires{' '}
      {dateTime(expires_at)}. Their old password keeps working until they use it.
    </NewSecret>
  )
}

/**
 * The plan as it was chosen last, also while it is being saved: whoever goes through the list by
 * arrow keys chooses each on the way.
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

/** TABLE of what an invitation can be. */
const STATUS: Readonly<Record<Invitation['status'], State>> = {
  open: { label: 'Open', tone: 'warn' },
  accepted: { label: 'Accepted', tone: 'good' },
  expired: { label: 'Expired', tone: 'calm' },
}

function Invitations() {
  const invitations = useInvitations()
  const remove = useDeleteInvitation()
  const [withdrawing, setWithdrawing] = useState<Invitation | null>(null)
  const close = (): void => {
    setWithdrawing(null)
    remove.reset()
  }
  const columns: readonly Column<Invitation>[] = [
    {
      title: 'For',
      cell: ({ email, status }) => (
        <span className={main}>
          {email === null ? (
            status === 'open' ? (
              'Anyone with the link'
            ) : (
              'A link without an e-mail'
            )
          ) : (
            <Parts name={email} />
          )}
        </span>
      ),
    },
    { title: 'Status', cell: ({ status }) => <Badge {...STATUS[status]} /> },
    { title: 'Plan', from: 'middle', cell: ({ plan }) => plan ?? UNKNOWN },
    {
      title: 'Created',
      from: 'wide',
      cell: ({ created_at }) => <span className={nowrap}>{ago(created_at)}</span>,
    },
    {
      title: 'Expires',
      from: 'middle',
      cell: ({ expires_at }) => <span className={nowrap}>{date(expires_at)}</span>,
    },
    {
      title: 'Actions',
      quiet: true,
      right: true,
      cell: (invitation) =>
        invitation.status === 'open' && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => setWithdrawing(invitation)}
            aria-label={`Withdraw the invitation${invitation.email === null ? '' : ` for ${invitation.email}`}`}
          >
            Withdraw
          </Button>
        ),
    },
  ]
  return (
    <Card title="Invitations" flush>
      <Confirm
        title="Withdraw invitation?"
        opened={withdrawing !== null}
        onClose={close}
        submit="Withdraw"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => withdrawing && remove.mutate(withdrawing.id, { onSuccess: close })}
      >
        The link stops working. You can create a new one at any time.
      </Confirm>
      <PagedTable
        label="Invitations"
        query={invitations}
        columns={columns}
        bars={2}
        empty={
          <Empty icon="people" title="No invitations">
            An invitation is a link that lets someone create their own account.
          </Empty>
        }
      />
    </Card>
  )
}

function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const show = useShowOnce()
  const invite = useInvite((made) =>
    show({ title: 'Invitation link', secret: made.link, body: <NewLink made={made} /> }),
  )
  const plans = usePlans()
  const [email, setEmail] = useState('')
  const [plan, setPlan] = useState('free')
  const close = (): void => {
    onClose()
    invite.reset()
    setEmail('')
  }
  return (
    <Dialog title="Invite someone" opened={opened} onClose={close}>
      <DialogForm
        submit="Create link"
        busy={invite.isPending}
        error={unlessShownBy(['email'], invite.error)}
        onCancel={close}
        onSubmit={() =>
          invite.mutate(
            { email: email.trim() === '' ? null : email.trim(), plan },
            { onSuccess: close },
          )
        }
      >
        <TextInput
          label="E-mail"
          description="Optional. It fills in their sign-up form. No e-mail is sent."
          type="email"
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(invite.error, 'email')}
          data-autofocus
        />
        <NativeSelect
          label="Plan"
          value={plan}
          onChange={(event) => setPlan(event.currentTarget.value)}
          data={(plans.data ?? []).map(({ name }) => name)}
        />
      </DialogForm>
    </Dialog>
  )
}

function NewLink({ made: { email, link, expires_at } }: { made: NewInvitation }) {
  return (
    <NewSecret text={link} what="the link">
      Send this link to {email ?? 'the person you invite'}. You won't see it again. It works once
      and expires {date(expires_at)}.
    </NewSecret>
  )
}
