// The dialog in which an administrator edits an account.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useChangeAccount, useResetPassword } from '../api/accounts.ts'
import type { Account, PasswordReset } from '../api/shapes.ts'
import { dateTime } from '../format.ts'
import { DialogForm } from '../ui/dialog.tsx'
import { unlessShownBy, fieldError } from '../ui/form.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import css from './accounts.module.css'
import { NewSecret } from './new-secret.tsx'

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

/** Edits name and role of an account, creates a password reset link, and deletes the account. */
export function EditAccount({ account, own, onClose, onDelete }: EditAccountProps) {
  const change = useChangeAccount()
  const show = useShowOnce()
  // Handled here, because the dialog is unmounted when the link is shown.
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
