// Invitations: links that create an account.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useDeleteInvitation, useInvitations, useInvite, usePlans } from '../api/accounts.ts'
import type { Invitation, NewInvitation } from '../api/shapes.ts'
import { UNKNOWN, ago, date } from '../format.ts'
import { Badge, Parts, type State } from '../ui/bits.tsx'
import { Confirm, Dialog, DialogForm } from '../ui/dialog.tsx'
import { unlessShownBy, fieldError } from '../ui/form.tsx'
import { Card, Empty } from '../ui/page.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { PagedTable, main, nowrap, type Column } from '../ui/table.tsx'
import { NewSecret } from './new-secret.tsx'

/** TABLE of the states of an invitation. */
const STATUS: Readonly<Record<Invitation['status'], State>> = {
  open: { label: 'Open', tone: 'warn' },
  accepted: { label: 'Accepted', tone: 'good' },
  expired: { label: 'Expired', tone: 'calm' },
}

/** TABLE of columns of the invitations. */
function invitationColumns(
  withdraw: (invitation: Invitation) => void,
): readonly Column<Invitation>[] {
  return [
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
            onClick={() => withdraw(invitation)}
            aria-label={`Withdraw the invitation${invitation.email === null ? '' : ` for ${invitation.email}`}`}
          >
            Withdraw
          </Button>
        ),
    },
  ]
}

/** The invitations, with buttons that revoke them. */
export function Invitations() {
  const invitations = useInvitations()
  const remove = useDeleteInvitation()
  const [withdrawing, setWithdrawing] = useState<Invitation | null>(null)
  const close = (): void => {
    setWithdrawing(null)
    remove.reset()
  }
  const columns = invitationColumns(setWithdrawing)
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

/** The dialog that creates an invitation. */
export function Invite({ opened, onClose }: { opened: boolean; onClose: () => void }) {
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
