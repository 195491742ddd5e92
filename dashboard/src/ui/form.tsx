// A form whose fields say themselves what is wrong with them.
import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { Fields } from './page.tsx'

interface FormProps {
  busy: boolean
  onSubmit: () => void
  children: ReactNode
}

/** Sends, and brings whoever works by keyboard or by ear to what has to be put right: checked here at once, by the server after its answer. */
export function Form({ busy, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [sent, setSent] = useState(0)
  const send = (event: FormEvent): void => {
    event.preventDefault()
    setSent(sent + 1)
    onSubmit()
  }
  useEffect(() => {
    if (sent > 0 && !busy) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [sent, busy])
  return (
    <form ref={form} onSubmit={send} noValidate>
      <Fields>{children}</Fields>
    </form>
  )
}

/** A field for what nobody else is to read. Mantine says of all other fields that they are invalid, of this one only what is wrong. */
export function PasswordField({ what = 'password', ...props }: PasswordInputProps & { what?: string }) {
  return <PasswordInput {...props} aria-invalid={Boolean(props.error)} visibilityToggleButtonProps={{ 'aria-label': `Show the ${what}`, tabIndex: 0 }} />
}
