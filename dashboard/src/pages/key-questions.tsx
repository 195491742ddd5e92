// The dialogs that rotate, disable, revoke or delete a key.
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import {
  useChangeKey,
  useEndRotation,
  usePurgeKey,
  useRevokeKey,
  useRotateKey,
} from '../api/keys.ts'
import type { Key } from '../api/shapes.ts'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Dialog, DialogForm } from '../ui/dialog.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { NewKeySecret } from './new-key.tsx'

interface QuestionProps {
  found: Key
  opened: boolean
  onClose: () => void
}

/** TABLE of choices for how long the old secret stays valid. */
const GRACE_CHOICES = [
  { value: '0', label: 'Revoke immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

function RotateKey({ found, opened, onClose }: QuestionProps) {
  const show = useShowOnce()
  const rotate = useRotateKey(found.id, (made) =>
    show({ title: 'Your new key', secret: made.secret, body: <NewKeySecret made={made} /> }),
  )
  const [grace, setGrace] = useState('86400')
  const close = (): void => {
    onClose()
    rotate.reset()
  }
  return (
    <Dialog title={`Rotate “${found.name}”`} opened={opened} onClose={close}>
      <DialogForm
        submit="Rotate key"
        busy={rotate.isPending}
        error={rotate.error}
        onCancel={close}
        onSubmit={() => rotate.mutate(Number(grace), { onSuccess: close })}
      >
        <NativeSelect
          label="Keep the old key valid for"
          description="Time to switch every app to the new key. If the key leaked, revoke it immediately."
          data={GRACE_CHOICES}
          value={grace}
          onChange={(event) => setGrace(event.currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  )
}

function EndRotation({ found, ...dialog }: QuestionProps) {
  const end = useEndRotation(found.id)
  return (
    <ConfirmChange
      {...dialog}
      title="Revoke the old key now?"
      submit="Revoke old key"
      change={end}
      onConfirm={(done) => end.mutate(undefined, { onSuccess: done })}
    >
      Apps still using it are refused within a second. The new key keeps working.
    </ConfirmChange>
  )
}

function DeleteKey({ found, ...dialog }: QuestionProps) {
  const purge = usePurgeKey(found.id)
  const [, go] = useLocation()
  return (
    <ConfirmChange
      {...dialog}
      title={`Delete “${found.name}”?`}
      submit="Delete"
      change={purge}
      onConfirm={() => purge.mutate(undefined, { onSuccess: () => go('/keys') })}
    >
      The key disappears from every list. Its usage stays in reports.
    </ConfirmChange>
  )
}

function DisableKey({ found, ...dialog }: QuestionProps) {
  const disable = useChangeKey(found.id)
  return (
    <ConfirmChange
      {...dialog}
      title={`Disable “${found.name}”?`}
      submit="Disable"
      change={disable}
      onConfirm={(done) => disable.mutate({ status: 'disabled' }, { onSuccess: done })}
    >
      Apps using this key are refused within a second, until you enable it again.
    </ConfirmChange>
  )
}

function RevokeKey({ found, ...dialog }: QuestionProps) {
  const revoke = useRevokeKey(found.id)
  return (
    <ConfirmChange
      {...dialog}
      title={`Revoke “${found.name}”?`}
      submit="Revoke key"
      change={revoke}
      onConfirm={(done) => revoke.mutate(undefined, { onSuccess: done })}
    >
      Apps using this key are refused within a second. You can't undo this. Its usage stays in
      reports.
    </ConfirmChange>
  )
}

/** TABLE of dialogs by action. */
const QUESTIONS = {
  rotate: RotateKey,
  end: EndRotation,
  disable: DisableKey,
  revoke: RevokeKey,
  purge: DeleteKey,
} as const

/** The name of a dialog. */
export type KeyQuestion = keyof typeof QUESTIONS

/** The dialogs of a key; at most one is open. */
export function KeyQuestions({
  opened,
  ...props
}: Omit<QuestionProps, 'opened'> & { opened: string | null }) {
  return Object.entries(QUESTIONS).map(([what, Question]) => (
    <Question key={what} {...props} opened={opened === what} />
  ))
}
