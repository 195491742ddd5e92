// Dialogs: forms and confirmations. They fill the screen of a phone.
import { Button, Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { useAskBeforeLeaving } from './ask-before-leaving.ts'
import css from './dialog.module.css'
import { Form } from './form.tsx'
import { Buttons, ProblemNote } from './page.tsx'

interface DialogContext {
  /** Marks the form as being submitted. */
  setBusy: (isBusy: boolean) => void
  /** Marks the form as edited. */
  markEdited: () => void
}

/** Connects a form to its dialog. */
const DialogContext = createContext<DialogContext>({ setBusy: () => {}, markEdited: () => {} })
/** Whether an overlay above the page has the focus; the page's own dialogs wait. */
export const CoveredByOverlay = createContext(false)

/**
 * Whether a dialog is mounted, and whether it is open. It is mounted only when first opened,
 * because pages have several dialogs. It is mounted closed and then opened, so that it can return
 * the focus.
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
  /** Whether only its own button closes it: for a secret that is shown once. */
  buttonCloseOnly?: boolean
  children: ReactNode
}

/**
 * A dialog. It cannot be closed while its form is being submitted, because the result may be shown
 * only once.
 */
export function Dialog({ title, opened, onClose, buttonCloseOnly = false, children }: DialogProps) {
  const phone = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false })
  const isCovered = use(CoveredByOverlay)
  const opening = useLazyOpen(opened)
  const [isBusy, setBusy] = useState(false)
  const [edited, setEdited] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const [context] = useState<DialogContext>({ setBusy, markEdited: () => setEdited(true) })
  // Reset when closed, so that it opens empty next time.
  if (!opened && (edited || isAsking)) {
    setEdited(false)
    setAsking(false)
  }
  const close = (): void => {
    // A second Escape cancels the question.
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
  /** An error that no field shows. */
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

/** A confirmation dialog for an action that is hard to undo. */
export function Confirm({ title, opened, onClose, onConfirm, children, ...form }: ConfirmProps) {
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <DialogForm {...form} danger onCancel={onClose} onSubmit={onConfirm}>
        <div>{children}</div>
      </DialogForm>
    </Dialog>
  )
}
