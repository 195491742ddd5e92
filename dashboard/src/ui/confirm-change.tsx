// The question before a change of a record, with the change itself.
import type { ReactNode } from 'react'
import { Confirm } from './dialog.tsx'

/** A change as this dialog needs it: a mutation of any input. */
export interface Change {
  isPending: boolean
  error: unknown
  reset: () => void
}

interface ConfirmChangeProps {
  title: string
  submit: string
  opened: boolean
  change: Change
  /** Makes the change; calls `done` when it has succeeded. */
  onConfirm: (done: () => void) => void
  onClose: () => void
  children: ReactNode
}

/** Asks, makes the change, and closes when it has succeeded; what went wrong goes with the dialog. */
export function ConfirmChange({ change, onConfirm, onClose, ...question }: ConfirmChangeProps) {
  const close = (): void => {
    onClose()
    change.reset()
  }
  return (
    <Confirm
      {...question}
      busy={change.isPending}
      error={change.error}
      onClose={close}
      onConfirm={() => onConfirm(close)}
    />
  )
}
