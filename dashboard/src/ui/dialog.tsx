// Dialogs: a form, and a question before what cannot be undone. On a phone they fill the screen.
import { Button, Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { useAskBeforeLeaving } from './ask-before-leaving.ts'
import css from './dialog.module.css'
import { Form } from './form.tsx'
import { Buttons, ProblemNote } from './page.tsx'

interface DialogContext {
  /** What the form sent is under way. */
  setBusy: (isBusy: boolean) => void
  /** Somebody has begun to fill in the form. */
  markEdited: () => void
}

/** What a form tells the dialog around it. */
const DialogContext = createContext<DialogContext>({ setBusy: () => {}, markEdited: () => {} })
/** Whether something stands above the page and has the focus: the page's own dialogs wait. */
export const CoveredByOverlay = createContext(false)

/**
 * Whether something that opens is in the page, and whether it is open. Before it opens first it
 * costs nothing: pages have several of them. It comes closed, and opens behind that, because what
 * has the focus then gets it back.
 */
export function useLazyOpen(open: boolean): { present: boolean; opened: boolean } {
  const [present, setPresent] = useState(false)
  useEffect(() => {
    if (open) setPresent(true)
  }, [open])
  return { present: present || open, opened: present && open }
}

interface DialogProps {
  title: string
  opened: boolean
  onClose: () => void
  /** Nothing but its own button closes it: a secret that is shown once. */
  buttonCloseOnly?: boolean
  children: ReactNode
}

/**
 * It stays while its form is under way, and the browser asks before it leaves: what comes of that
 * may be shown only once.
 */
export function Dialog({ title, opened, onClose, buttonCloseOnly = false, children }: DialogProps) {
  const phone = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false })
  const isCovered = use(CoveredByOverlay)
  const opening = useLazyOpen(opened)
  const [isBusy, setBusy] = useState(false)
  const [edited, setEdited] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const [context] = useState<DialogContext>({ setBusy, markEdited: () => setEdited(true) })
  // Whatever closes it, the next one that opens is empty.
  if (!opened && (edited || isAsking)) {
    setEdited(false)
    setAsking(false)
  }
  const close = (): void => {
    // The second Escape takes back the first.
    if (isAsking) setAsking(false)
    else if (edited) setAsking(true)
    else onClose()
  }
  useAskBeforeLeaving(opened && (buttonCloseOnly || isBusy))
  if (isCovered || !opening.present) return null
  return (
    <Modal
      opened={opening.opened}
      onClose={close}
      title={title}
      size={buttonCloseOnly ? 680 : 480}
      fullScreen={phone}
      closeOnClickOutside={false}
      closeOnEscape={!buttonCloseOnly && !isBusy}
      withCloseButton={!buttonCloseOnly}
      closeButtonProps={{ 'aria-label': 'Close', disabled: isBusy }}
      classNames={{ content: css.content }}
    >
      <DialogContext value={context}>{children}</DialogContext>
      {isAsking && (
        <div className={css.ask} role="alertdialog" aria-label="Discard what you entered?">
          <span>Discard what you entered?</span>
          <Button
            size="xs"
            variant="default"
            ref={(button) => button?.focus()}
            onClick={() => setAsking(false)}
          >
            Keep editing
          </Button>
          <Button size="xs" color="red.9" onClick={onClose}>
            Discard
          </Button>
        </div>
      )}
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

/** A form in a dialog, with its buttons and its error. */
export function DialogForm({
  submit,
  danger = false,
  busy,
  error,
  onCancel,
  onSubmit,
  children,
}: FormProps) {
  const { setBusy, markEdited } = use(DialogContext)
  useEffect(() => {
    setBusy(busy)
    return () => setBusy(false)
  }, [setBusy, busy])
  return (
    <Form busy={busy} onSubmit={onSubmit} onEdit={markEdited}>
      {children}
      <ProblemNote error={error} />
      <div className={css.actions}>
        <Buttons>
          <Button variant="default" disabled={busy} onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" color={danger ? 'red.9' : 'pine'} loading={busy}>
            {submit}
          </Button>
        </Buttons>
      </div>
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
