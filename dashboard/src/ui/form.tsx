// A form whose fields say themselves what is wrong with them.
import { PasswordInput, TextInput, type PasswordInputProps, type TextInputProps } from '@mantine/core'
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { Refused } from '../api/http.ts'
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
    // A day that is half typed has no value, and would be sent as none.
    const half = [...(form.current?.querySelectorAll('input') ?? [])].filter(({ validity }) => validity.badInput)
    if (half.length === 0) onSubmit()
    else for (const field of half) field.checkValidity()
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

/** What the server's refusal says of a field, or of something in it, or null. */
export const refusalOf = (error: unknown, field: string): string | null => (error instanceof Refused && `${error.field}.`.startsWith(`${field}.`) ? error.message : null)

/** The error, unless it is a refusal that stands beside one of these fields. */
export const besides = (fields: readonly string[], error: unknown): unknown => (fields.some((field) => refusalOf(error, field) !== null) ? null : error)

/** A field for what nobody else is to read. Mantine says of all other fields that they are invalid, of this one only what is wrong. */
export function PasswordField({ what = 'password', ...props }: PasswordInputProps & { what?: string }) {
  return <PasswordInput {...props} aria-invalid={Boolean(props.error)} visibilityToggleButtonProps={{ 'aria-label': `Show the ${what}`, tabIndex: 0 }} />
}

/** Keeps the years that are typed within what the server knows. */
const LAST_DAY = '9999-12-31'

/** A field for a day, `YYYY-MM-DD`, or none. */
export function DayField({ error, onChange, ...props }: Omit<TextInputProps, 'onChange'> & { onChange: (day: string) => void }) {
  const [half, setHalf] = useState(false)
  return (
    <TextInput
      {...props}
      type="date"
      max={LAST_DAY}
      error={half ? 'Enter a whole date, or leave it empty.' : error}
      onInvalid={() => setHalf(true)}
      onBlur={({ currentTarget }) => setHalf(half && currentTarget.validity.badInput)}
      onChange={({ currentTarget }) => {
        setHalf(false)
        onChange(currentTarget.value)
      }}
    />
  )
}
