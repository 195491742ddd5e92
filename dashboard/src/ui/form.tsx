// A form whose fields show their own errors.
import {
  PasswordInput,
  TextInput,
  type PasswordInputProps,
  type TextInputProps,
} from '@mantine/core'
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { ApiError, type FieldError } from '../api/http.ts'
import { isPast, midnight, startOfDay, zoneName } from '../format.ts'
import { Fields } from './page.tsx'

/** The hint of an expiry field. */
export const expiryHint = (): string =>
  `Expires at ${midnight()} ${zoneName()} on this date. Leave blank for no expiry.`

/** The error of an expiry in the past, or null. */
export const expiryProblem = (day: string): string | null =>
  day !== '' && isPast(startOfDay(day)) ? 'This date has passed. Choose a later one.' : null

interface FormProps {
  busy: boolean
  /** Called when a field changes. */
  onEdit?: () => void
  onSubmit: () => void
  children: ReactNode
}

/**
 * Submits, and moves the focus to the first invalid field: found here before sending, or by the
 * server.
 */
export function Form({ busy, onEdit, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [sent, setSent] = useState(0)
  const send = (event: FormEvent): void => {
    event.preventDefault()
    setSent(sent + 1)
    // A half-typed date has no value, and would be sent as none.
    const incomplete = [...(form.current?.querySelectorAll('input') ?? [])].filter(
      ({ validity }) => validity.badInput,
    )
    if (incomplete.length === 0) onSubmit()
    else for (const field of incomplete) field.checkValidity()
  }
  useEffect(() => {
    if (sent > 0 && !busy)
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [sent, busy])
  return (
    <form ref={form} onSubmit={send} onInput={onEdit} noValidate>
      <Fields>{children}</Fields>
    </form>
  )
}

/** The errors of a field and of its entries. */
const fieldErrors = (error: unknown, field: string): readonly FieldError[] =>
  error instanceof ApiError
    ? error.errors.filter(({ param }) => `${param}.`.startsWith(`${field}.`))
    : []

/**
 * The server's error for a field or one of its entries, or null.
 *
 * @param values the entries of a list, so that the error can name the invalid one
 */
export function fieldError(
  error: unknown,
  field: string,
  values: readonly string[] = [],
): string | null {
  const sentences = fieldErrors(error, field).map(({ param, detail }) => {
    const value = values[Number(/\.(\d+)$/.exec(param)?.[1])]
    return value === undefined ? detail : `“${value}”: ${detail}`
  })
  return sentences.length === 0 ? null : [...new Set(sentences)].join(' ')
}

/** The error, unless one of these fields shows it. */
export const unlessShownBy = (fields: readonly string[], error: unknown): unknown =>
  fields.some((field) => fieldErrors(error, field).length > 0) ? null : error

/** A password field. Mantine sets `aria-invalid` on all fields but this one, so set it here. */
export function PasswordField({
  what = 'password',
  ...props
}: PasswordInputProps & { what?: string }) {
  return (
    <PasswordInput
      {...props}
      aria-invalid={Boolean(props.error)}
      visibilityToggleButtonProps={{ 'aria-label': `Show the ${what}`, tabIndex: 0 }}
    />
  )
}

/** The latest date that the server supports. */
const MAX_DAY = '9999-12-31'

/** A field for an optional date, `YYYY-MM-DD`. */
export function DayField({
  error,
  onChange,
  ...props
}: Omit<TextInputProps, 'onChange'> & { onChange: (day: string) => void }) {
  const [incomplete, setHalf] = useState(false)
  return (
    <TextInput
      {...props}
      type="date"
      max={MAX_DAY}
      error={incomplete ? 'Enter a complete date, or leave this blank.' : error}
      onInvalid={() => setHalf(true)}
      onBlur={({ currentTarget }) => setHalf(incomplete && currentTarget.validity.badInput)}
      onChange={({ currentTarget }) => {
        setHalf(false)
        onChange(currentTarget.value)
      }}
    />
  )
}
