// A form whose fields say themselves what is wrong with them.
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

/** What a field for the day of an end says of it. */
export const expiryHint = (): string =>
  `Expires at ${midnight()} ${zoneName()} on this date. Leave blank for no expiry.`

/** What is wrong with an end that has passed already. */
export const expiryProblem = (day: string): string | null =>
  day !== '' && isPast(startOfDay(day)) ? 'This date has passed. Choose a later one.' : null

interface FormProps {
  busy: boolean
  /** Something has been typed or chosen. */
  onEdit?: () => void
  onSubmit: () => void
  children: ReactNode
}

/**
 * Sends, and brings whoever works by keyboard or by ear to what has to be put right: checked here
 * at once, by the server after its answer.
 */
export function Form({ busy, onEdit, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [sent, setSent] = useState(0)
  const send = (event: FormEvent): void => {
    event.preventDefault()
    setSent(sent + 1)
    // A day that is half typed has no value, and would be sent as none.
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

/** The faults of a field, and of what is in it. */
const fieldErrors = (error: unknown, field: string): readonly FieldError[] =>
  error instanceof ApiError
    ? error.errors.filter(({ param }) => `${param}.`.startsWith(`${field}.`))
    : []

/**
 * What the server's refusal says of a field, or of something in it, or null.
 *
 * @param values the entries of a list, so that the one at fault can be named
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

/** The error, unless it is a refusal that stands beside one of these fields. */
export const unlessShownBy = (fields: readonly string[], error: unknown): unknown =>
  fields.some((field) => fieldErrors(error, field).length > 0) ? null : error

/**
 * A field for what nobody else is to read. Mantine says of all other fields that they are invalid,
 * of this one only what is wrong.
 */
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

/** Keeps the years that are typed within what the server knows. */
const MAX_DAY = '9999-12-31'

/** A field for a day, `YYYY-MM-DD`, or none. */
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
