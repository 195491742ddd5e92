// Dialogs: a form, and a question before what cannot be undone. On a phone they fill the screen.
import { Button, Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { useAskBeforeLeaving } from './ask-before-leaving.ts'
import { Form } from './form.tsx'
import { Buttons, ProblemNote } from './page.tsx'

/** Tells the dialog around it that what its form sent is under way. */
const Hold = createContext<(held: boolean) => void>(() => {})
/** Whether something stands above the page and has the focus: the page's own dialogs wait. */
export const Above = createContext(false)

interface DialogProps {
  title: string
  opened: boolean
  onClose: () => void
  /** Nothing but its own button closes it: a secret that is shown once. */
  firm?: boolean
  children: ReactNode
}

/** It stays while its form is under way, and the browser asks before it leaves: what comes of that may be shown only once. */
export function Dialog({ title, opened, onClose, firm = false, children }: DialogProps) {
  const phone = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false })
  const above = use(Above)
  const [held, hold] = useState(false)
  useAskBeforeLeaving(opened && (firm || held))
  if (above) return null
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={firm ? 680 : 480}
      fullScreen={phone}
      closeOnClickOutside={false}
      closeOnEscape={!firm && !held}
      withCloseButton={!firm}
      closeButtonProps={{ 'aria-label': 'Close', disabled: held }}
    >
      <Hold value={hold}>{children}</Hold>
    </Modal>
  )
}

interface FormProps {
  submit: string
  danger?: boolean
  busy: boolean
  /** A refusal that no field shows. */
  error: unknown
  onCancel: () => void
  onSubmit: () => void
  children: ReactNode
}

export function DialogForm({ submit, danger = false, busy, error, onCancel, onSubmit, children }: FormProps) {
  const hold = use(Hold)
  useEffect(() => {
    hold(busy)
    return () => hold(false)
  }, [hold, busy])
  return (
    <Form busy={busy} onSubmit={onSubmit}>
      {children}
      <ProblemNote error={error} />
      <Buttons>
        <Button variant="default" disabled={busy} onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" color={danger ? 'red.9' : 'pine'} loading={busy}>
          {submit}
        </Button>
      </Buttons>
    </Form>
  )
}

interface ConfirmProps extends Pick<FormProps, 'submit' | 'busy' | 'error' | 'children'> {
  title: string
  opened: boolean
  onClose: () => void
  onConfirm: () => void
}

/** The question before what cannot be undone, or what somebody will miss. */
export function Confirm({ title, opened, onClose, onConfirm, children, ...form }: ConfirmProps) {
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <DialogForm {...form} danger onCancel={onClose} onSubmit={onConfirm}>
        <div>{children}</div>
      </DialogForm>
    </Dialog>
  )
}
