// A confirmation dialog that then makes the change.
import type { ReactNode } from 'react'
import { Confirm } from './dialog.tsx'

/** The part of a mutation that this dialog uses. */
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

/** Asks, makes the change, and closes on success. Closing also resets the error. */
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
