// A field for several values: type one and press Enter, or choose a suggestion.
import { Button, TextInput } from '@mantine/core'
import { useRef, type KeyboardEvent } from 'react'
import { Icon } from './icons.tsx'
import css from './list-input.module.css'

/** The values of a field, and typed text that is not added yet but counts, too. */
export interface List {
  values: readonly string[]
  text: string
}

/** All values, including the typed text. @param complete completes a typed value */
export function valuesOf(
  { values, text }: List,
  complete: (value: string) => string = (value) => value,
): string[] {
  return [
    ...new Set([
      ...values,
      ...text
        .split(/[\s,]+/)
        .filter((value) => value !== '')
        .map(complete),
    ]),
  ]
}

interface ListInputProps {
  label: string
  description: string
  placeholder?: string | undefined
  /** The noun for one value. */
  what: string
  list: List
  suggestions?: readonly string[]
  error?: string | null
  /** Completes a typed value. */
  complete?: (value: string) => string
  onChange: (list: List) => void
}

const MAX_SUGGESTIONS = 8
const NONE: readonly string[] = []

/** A field for a list of values, shown as pills. */
export function ListInput({
  label,
  description,
  placeholder,
  what,
  list,
  suggestions = NONE,
  error = null,
  complete,
  onChange,
}: ListInputProps) {
  const { values, text } = list
  const field = useRef<HTMLInputElement>(null)
  // The clicked button disappears.
  const change = (list: List): void => {
    onChange(list)
    field.current?.focus()
  }
  const add = (typed: string): void =>
    change({ values: valuesOf({ values, text: typed }, complete), text: '' })
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ',') {
      if (text.trim() === '') return
      event.preventDefault()
      add(text)
    } else if (event.key === 'Backspace' && text === '')
      onChange({ values: values.slice(0, -1), text })
  }
  const proposed = suggestions
    .filter((value) => !values.includes(value) && value.includes(text.trim()))
    .slice(0, MAX_SUGGESTIONS)
  return (
    <div>
      <div className={css.row}>
        <TextInput
          ref={field}
          label={label}
          description={description}
          placeholder={placeholder}
          value={text}
          error={error}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          onChange={(event) => onChange({ values, text: event.currentTarget.value })}
          onKeyDown={press}
          rightSectionWidth={64}
          rightSection={
            text.trim() === '' ? null : (
              <Button size="compact-xs" variant="light" onClick={() => add(text)}>
                Add
              </Button>
            )
          }
        />
      </div>
      <Chosen
        label={label}
        what={what}
        values={values}
        onRemove={(value) => change({ values: values.filter((other) => other !== value), text })}
      />
      <Suggestions what={what} values={proposed} onAdd={add} />
    </div>
  )
}

interface ChosenProps {
  label: string
  what: string
  values: readonly string[]
  onRemove: (value: string) => void
}

/** The values of the field, each with a remove button. */
function Chosen({ label, what, values, onRemove }: ChosenProps) {
  if (values.length === 0) return null
  return (
    <ul className={css.pills} aria-label={`Chosen: ${label}`}>
      {values.map((value) => (
        <li key={value} className={css.pill}>
          {value}
          <button
            type="button"
            className={css.remove}
            aria-label={`Remove ${what} ${value}`}
            onClick={() => onRemove(value)}
          >
            <Icon name="close" size={13} />
          </button>
        </li>
      ))}
    </ul>
  )
}

interface SuggestionsProps {
  what: string
  values: readonly string[]
  onAdd: (value: string) => void
}

function Suggestions({ what, values, onAdd }: SuggestionsProps) {
  if (values.length === 0) return null
  return (
    <div className={css.suggestions}>
      Suggestions:
      {values.map((value) => (
        <button
          key={value}
          type="button"
          className={css.suggestion}
          aria-label={`Add ${what} ${value}`}
          onClick={() => onAdd(value)}
        >
          {value}
        </button>
      ))}
    </div>
  )
}
