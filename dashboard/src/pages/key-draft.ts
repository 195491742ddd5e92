// A key in its form: the entered text, its errors, and the resulting input.
import type { KeyInput } from '../api/keys.ts'
import { dayOf, startOfDay } from '../format.ts'
import { expiryProblem } from '../ui/form.tsx'
import { valuesOf, type List } from '../ui/list-input.tsx'

/** The text in the fields. */
export interface KeyDraft {
  name: string
  models: List
  rpm: string
  /** `YYYY-MM-DD`, or empty. */
  expires: string
  origins: List
  providers: List
  objects: KeyInput['objects']
  readOnly: boolean
}

/** The initial values of a new key. */
export const EMPTY: KeyInput = {
  name: '',
  models: null,
  rpm: null,
  allowed_origins: null,
  objects: 'own',
  providers: null,
  read_only: false,
  expires_at: null,
}

const RPM = /^(?:[1-9]\d{0,6})?$/

/** The initial text of the fields. */
export function draftOf(key: KeyInput): KeyDraft {
  return {
    name: key.name,
    models: { values: key.models ?? [], text: '' },
    rpm: key.rpm === null ? '' : String(key.rpm),
    expires: dayOf(key.expires_at ?? ''),
    origins: { values: key.allowed_origins ?? [], text: '' },
    providers: { values: key.providers ?? [], text: '' },
    objects: key.objects,
    readOnly: key.read_only,
  }
}

/** The error of each field, or null. */
export type KeyProblems = Readonly<Record<'name' | 'rpm' | 'expires', string | null>>

/** No errors, or not validated yet. */
export const NO_PROBLEMS: KeyProblems = { name: null, rpm: null, expires: null }

/** Validates the fields. @param before the current key; an unchanged expiry may be in the past */
export function problemsOf({ name, rpm, expires }: KeyDraft, before: KeyInput): KeyProblems {
  const past = expires === dayOf(before.expires_at ?? '') ? null : expiryProblem(expires)
  return {
    name: name.trim() === '' ? 'Enter a name.' : null,
    rpm: RPM.test(rpm) ? null : 'Enter a whole number from 1 to 1,000,000, or leave this blank.',
    expires: past && `${past} To stop the key now, disable or revoke it.`,
  }
}

/**
 * The input of valid fields.
 *
 * @param before the current key; an unchanged expiry is sent as it was
 */
export function inputOf(draft: KeyDraft, before: KeyInput): KeyInput {
  const { name, models, rpm, expires, origins, providers, objects, readOnly } = draft
  return {
    name: name.trim(),
    models: orNull(valuesOf(models)),
    rpm: rpm === '' ? null : Number(rpm),
    allowed_origins: orNull(valuesOf(origins, originOf)),
    objects,
    providers: orNull(valuesOf(providers)),
    read_only: readOnly,
    expires_at:
      expires === dayOf(before.expires_at ?? '') ? before.expires_at : startOfDay(expires) || null,
  }
}

/** Completes a host name to an origin: http for this machine, https for others. */
export function originOf(typed: string): string {
  const value = typed.replace(/\/+$/, '')
  if (
    /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ||
    !/^[\w-]+(?:\.[\w-]+)+(?::\d+)?$|^localhost(?::\d+)?$/i.test(value)
  )
    return value
  const own = /^(?:localhost|127\.)/i.test(value)
  return `${own ? 'http' : 'https'}://${value.toLowerCase()}`
}

/** An empty list means no restriction. */
function orNull(values: string[]): string[] | null {
  return values.length === 0 ? null : values
}
