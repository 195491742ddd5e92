// What a person decides about a key, when it is made and later.
import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useProviders } from '../api/credentials.ts'
import type { KeyInput } from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import type { Key } from '../api/shapes.ts'
import { useSeenModels } from '../api/usage.ts'
import { DialogForm } from '../ui/dialog.tsx'
import { dayOf, startOfDay } from '../format.ts'
import { DayField, unlessShownBy, expiryHint, expiryProblem, fieldError } from '../ui/form.tsx'
import { ListInput, valuesOf, type List } from '../ui/list-input.tsx'

interface KeyFormProps {
  initial?: KeyInput
  submit: string
  busy: boolean
  error: unknown
  onCancel: () => void
  onSubmit: (input: KeyInput) => void
}

const EMPTY: KeyInput = {
  name: '',
  models: null,
  rpm: null,
  allowed_origins: null,
  objects: 'own',
  providers: null,
  read_only: false,
  expires_at: null,
}
const FIELDS = Object.keys(EMPTY)

/** TABLE of the stored objects that a key may name. */
export const OBJECTS: Readonly<Record<Key['objects'], string>> = {
  own: 'Only its own and shared ones',
  upstream: 'Everything in the provider account',
}

const isObjects = (value: string): value is Key['objects'] => Object.hasOwn(OBJECTS, value)

const RPM = /^(?:[1-9]\d{0,6})?$/

/** The form of a new or changed key. */
export function KeyForm({
  initial = EMPTY,
  submit,
  busy,
  error,
  onCancel,
  onSubmit,
}: KeyFormProps) {
  const [name, setName] = useState(initial.name)
  const [models, setModels] = useState<List>({ values: initial.models ?? [], text: '' })
  const [rpm, setRpm] = useState(initial.rpm === null ? '' : String(initial.rpm))
  const [origins, setOrigins] = useState<List>({ values: initial.allowed_origins ?? [], text: '' })
  const [providers, setProviders] = useState<List>({ values: initial.providers ?? [], text: '' })
  const [objects, setObjects] = useState(initial.objects)
  const [readOnly, setReadOnly] = useState(initial.read_only)
  const admin = useAccount().role === 'admin'
  const known = (useProviders().data ?? []).filter(({ ready }) => ready).map(({ id }) => id)
  const day = dayOf(initial.expires_at ?? '')
  const [expires, setExpires] = useState(day)
  const [checked, setChecked] = useState(false)
  const seen = useSeenModels()
  const errors = {
    name: checked && name.trim() === '' ? 'Enter a name.' : fieldError(error, 'name'),
    expires:
      checked && expires !== day && expiryProblem(expires) !== null
        ? `${expiryProblem(expires)} To stop the key now, disable or revoke it.`
        : fieldError(error, 'expires_at'),
    rpm:
      checked && !RPM.test(rpm)
        ? 'Enter a whole number from 1 to 1,000,000, or leave this blank.'
        : fieldError(error, 'rpm'),
  }
  const send = (): void => {
    setChecked(true)
    if (
      name.trim() === '' ||
      !RPM.test(rpm) ||
      (expires !== day && expiryProblem(expires) !== null)
    )
      return
    onSubmit({
      name: name.trim(),
      models: orNull(valuesOf(models)),
      rpm: rpm === '' ? null : Number(rpm),
      allowed_origins: orNull(valuesOf(origins, originOf)),
      objects,
      providers: orNull(valuesOf(providers)),
      read_only: readOnly,
      expires_at: expires === day ? initial.expires_at : startOfDay(expires) || null,
    })
  }
  return (
    <DialogForm
      submit={submit}
      busy={busy}
      error={unlessShownBy(FIELDS, error)}
      onCancel={onCancel}
      onSubmit={send}
    >
      <TextInput
        label="Name"
        placeholder="Website chat"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={errors.name}
        required
        withAsterisk={false}
        data-autofocus
        maxLength={200}
      />
      <ListInput
        label="Models"
        what="model"
        description="Models the key can use. * matches anything. Leave blank for all models."
        placeholder="gemini-2.5-*"
        list={models}
        suggestions={seen}
        onChange={setModels}
        error={fieldError(error, 'models', valuesOf(models))}
      />
      <TextInput
        label="Requests per minute"
        description="Maximum in any 60 seconds. Leave blank for no limit."
        inputMode="numeric"
        placeholder="60"
        value={rpm}
        onChange={(event) => setRpm(event.currentTarget.value.replace(/[\s,]/g, ''))}
        error={errors.rpm}
      />
      <DayField
        label="Expires"
        description={expiryHint()}
        value={expires}
        onChange={setExpires}
        error={errors.expires}
      />
      <ListInput
        label="Allowed origins"
        what="origin"
        description="For keys used in browsers: the sites that can use it. Leave blank for any site."
        placeholder="https://app.example.com"
        list={origins}
        onChange={setOrigins}
        error={fieldError(error, 'allowed_origins', valuesOf(origins, originOf))}
        complete={originOf}
      />
      <ListInput
        label="Providers"
        what="provider"
        description="Providers the key can call. Leave blank for all."
        placeholder="openai"
        list={providers}
        suggestions={known}
        onChange={setProviders}
        error={fieldError(error, 'providers', valuesOf(providers))}
      />
      {admin && (
        <NativeSelect
          label="Stored objects"
          description="Which files, responses and batches the key can use."
          data={Object.entries(OBJECTS).map(([value, label]) => ({ value, label }))}
          value={objects}
          onChange={({ currentTarget: { value } }) => isObjects(value) && setObjects(value)}
          error={fieldError(error, 'objects')}
        />
      )}
      <Checkbox
        label="Read-only"
        description="The key can generate and read, but not change anything a provider stores."
        checked={readOnly}
        onChange={(event) => setReadOnly(event.currentTarget.checked)}
      />
    </DialogForm>
  )
}

/**
 * An origin from the name of a host: a browser's own machine is reached without TLS, everything
 * else with it.
 */
function originOf(typed: string): string {
  const value = typed.replace(/\/+$/, '')
  if (
    /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ||
    !/^[\w-]+(?:\.[\w-]+)+(?::\d+)?$|^localhost(?::\d+)?$/i.test(value)
  )
    return value
  const own = /^(?:localhost|127\.)/i.test(value)
  return `${own ? 'http' : 'https'}://${value.toLowerCase()}`
}

/** No entries are no restriction. */
function orNull(values: string[]): string[] | null {
  return values.length === 0 ? null : values
}
