// The form that adds a provider.
import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useCreateProvider, useProviders } from '../api/credentials.ts'
import { Dialog, DialogForm } from '../ui/dialog.tsx'
import { PasswordField, unlessShownBy, fieldError } from '../ui/form.tsx'

const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/
/** Completes a bare host with https. */
const originOf = (typed: string): string =>
  /^[^\s/:@]+\.[^\s/:@]+(?::\d+)?\/?$/.test(typed) ? `https://${typed}` : typed
const ORIGIN = /^https:\/\/[^\s/]+\/?$/

/** The dialog that adds a provider. */
export function AddProvider({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog title="Add a provider" opened={opened} onClose={onClose}>
      <ProviderForm onClose={onClose} />
    </Dialog>
  )
}

/** The text in the fields. */
interface Draft {
  id: string
  origin: string
  dial: string
  header: string
  scheme: string
  /** The built-in provider whose API it speaks; empty for OpenAI's. */
  speaks: string
  /** JSON of its own endpoints and closed paths; empty for none. */
  api: string
  secret: string
}

const EMPTY: Draft = {
  id: '',
  origin: '',
  dial: '',
  header: 'Authorization',
  scheme: 'Bearer',
  speaks: '',
  api: '',
  secret: '',
}

/** The members of the JSON text. */
const OWN = ['endpoints', 'minting', 'admin']
/** That text as fields of a provider; null if it cannot be read. */
function ownApiOf(text: string): object | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && Object.keys(value).every((name) => OWN.includes(name)) ? value : null
  } catch {
    return null
  }
}

/** The server's names of the fields. */
const FIELDS = ['id', 'origin', 'dial', 'auth.header', 'auth.scheme', 'speaks', 'secret', ...OWN]

function ProviderForm({ onClose }: { onClose: () => void }) {
  const create = useCreateProvider()
  const [draft, setDraft] = useState(EMPTY)
  const [made, setMade] = useState(false)
  const [checked, setChecked] = useState(false)
  const change = (part: Partial<Draft>): void => setDraft((draft) => ({ ...draft, ...part }))
  const send = (): void => {
    setChecked(true)
    const { id, dial, header, scheme, speaks, api, secret } = draft
    const origin = originOf(draft.origin)
    const own = ownApiOf(api)
    change({ origin })
    if (!ID.test(id) || !ORIGIN.test(origin) || own === null) return
    const provider = {
      ...own,
      id,
      origin,
      dial: dial === '' ? null : dial,
      speaks: speaks === '' ? null : speaks,
      auth: header === '' ? null : { header, scheme: scheme === '' ? null : scheme },
    }
    create.mutate(
      { provider, secret: secret.trim(), made, onMade: () => setMade(true) },
      { onSuccess: onClose },
    )
  }
  const fields: FieldsProps = { draft, checked, error: create.error, change }
  return (
    <DialogForm
      submit="Add provider"
      busy={create.isPending}
      error={unlessShownBy(FIELDS, create.error)}
      onCancel={onClose}
      onSubmit={send}
    >
      <AddressFields {...fields} />
      <CredentialFields {...fields} />
      <OwnApiField {...fields} />
    </DialogForm>
  )
}

interface FieldsProps {
  draft: Draft
  /** Whether the form was submitted once. */
  checked: boolean
  error: unknown
  change: (part: Partial<Draft>) => void
}

/** Fields for the provider's name and address. */
function AddressFields({ draft, checked, error, change }: FieldsProps) {
  const { id, origin, dial, speaks } = draft
  const builtIn = (useProviders().data ?? []).filter(({ source }) => source === 'built_in')
  /** Sends the credential as that provider expects it. */
  const authOf = (speaks: string): Pick<Draft, 'header' | 'scheme'> => {
    const auth = builtIn.find(({ id }) => id === speaks)?.auth
    return auth === undefined
      ? { header: EMPTY.header, scheme: EMPTY.scheme }
      : { header: auth.header, scheme: auth.scheme ?? '' }
  }
  const apis = [
    { value: '', label: 'OpenAI-compatible' },
    ...builtIn.map(({ id, name }) => ({ value: id, label: name })),
  ]
  return (
    <>
      <TextInput
        label="ID"
        description="Shown in requests and usage."
        placeholder="acme"
        value={id}
        onChange={(event) => change({ id: event.currentTarget.value })}
        error={
          checked && !ID.test(id)
            ? 'Use lowercase letters, digits, - and _.'
            : fieldError(error, 'id')
        }
        data-autofocus
      />
      <TextInput
        label="Origin"
        description="The address your apps call."
        placeholder="https://llm.example.com"
        value={origin}
        onChange={(event) => change({ origin: event.currentTarget.value.trim() })}
        onBlur={() => change({ origin: originOf(origin) })}
        error={
          checked && !ORIGIN.test(originOf(origin))
            ? 'Enter an origin, such as https://llm.example.com.'
            : fieldError(error, 'origin')
        }
      />
      <NativeSelect
        label="API"
        description="The provider whose API it speaks."
        data={apis}
        value={speaks}
        onChange={({ currentTarget: { value } }) => change({ speaks: value, ...authOf(value) })}
        error={fieldError(error, 'speaks')}
      />
      <TextInput
        label="Connect to"
        description="Where the proxy connects, if different from the origin. Private addresses are allowed only here."
        placeholder="http://10.0.0.7:8000"
        value={dial}
        onChange={(event) => change({ dial: event.currentTarget.value.trim() })}
        error={fieldError(error, 'dial')}
      />
    </>
  )
}

/** What the server has beyond the API that it speaks, as TOLLMARK_PROVIDERS writes it. */
function OwnApiField({ draft: { api }, checked, error, change }: FieldsProps) {
  return (
    <Textarea
      label="Endpoints of its own"
      description="JSON, as in the providers file. Leave blank if it has only the API above."
      placeholder={'{ "endpoints": [{ "on": "POST /v1/speak", "model": { "body": ["model"] } }] }'}
      autosize
      minRows={2}
      maxRows={12}
      value={api}
      onChange={(event) => change({ api: event.currentTarget.value })}
      error={
        checked && ownApiOf(api) === null
          ? 'Enter a JSON object with endpoints, minting or admin.'
          : (OWN.map((name) => fieldError(error, name)).find((text) => text !== null) ?? null)
      }
    />
  )
}

/** Fields for the credential and its header. */
function CredentialFields({ draft: { secret, header, scheme }, error, change }: FieldsProps) {
  return (
    <>
      <PasswordField
        label="Credential"
        description="Your API key or token for this server. It is encrypted and never shown again. You can add it later."
        autoComplete="off"
        value={secret}
        onChange={(event) => change({ secret: event.currentTarget.value })}
        error={fieldError(error, 'secret')}
        what="credential"
      />
      <TextInput
        label="Credential header"
        value={header}
        onChange={(event) => change({ header: event.currentTarget.value.trim() })}
        error={fieldError(error, 'auth.header')}
      />
      <TextInput
        label="Credential prefix"
        description="Sent before the credential. Leave blank for none."
        value={scheme}
        onChange={(event) => change({ scheme: event.currentTarget.value.trim() })}
        error={fieldError(error, 'auth.scheme')}
      />
    </>
  )
}
