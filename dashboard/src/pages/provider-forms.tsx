// Forms for credentials and providers.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useChangeCredential, useCreateCredential, useCreateProvider } from '../api/credentials.ts'
import type { Credential, Provider } from '../api/shapes.ts'
import { Dialog, DialogForm } from '../ui/dialog.tsx'
import { PasswordField, unlessShownBy, fieldError } from '../ui/form.tsx'

const WEIGHT = /^(?:0|[1-9]\d{0,3})$/
const weightProblem = (weight: string): string | null =>
  WEIGHT.test(weight) && Number(weight) <= 1000 ? null : 'Enter a whole number from 0 to 1,000.'

/** The dialog that adds a credential to a provider. */
export function AddCredential({
  provider,
  onClose,
}: {
  provider: Provider | null
  onClose: () => void
}) {
  return (
    <Dialog
      title={`Add a credential for ${provider?.name ?? ''}`}
      opened={provider !== null}
      onClose={onClose}
    >
      {provider !== null && (
        <CredentialForm key={provider.id} provider={provider} onClose={onClose} />
      )}
    </Dialog>
  )
}

function CredentialForm({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const create = useCreateCredential()
  const [name, setName] = useState('default')
  const [secret, setSecret] = useState('')
  const [weight, setWeight] = useState('1')
  const [values, setValues] = useState<Record<string, string>>({})
  const [checked, setChecked] = useState(false)
  // What stands in braces in the provider's address is part of a credential: Azure's resource,
  // Bedrock's region.
  const needed = [...provider.base.matchAll(/\{(\w+)\}/g)].map(([, value = '']) => value)
  const send = (): void => {
    setChecked(true)
    if (
      secret.trim() === '' ||
      name.trim() === '' ||
      weightProblem(weight) !== null ||
      needed.some((value) => !values[value])
    )
      return
    create.mutate(
      {
        provider: provider.id,
        name: name.trim(),
        secret: secret.trim(),
        weight: Number(weight),
        values,
      },
      { onSuccess: onClose },
    )
  }
  return (
    <DialogForm
      submit="Save credential"
      busy={create.isPending}
      error={unlessShownBy(
        ['secret', ...needed.map((value) => `values.${value}`), 'name', 'weight'],
        create.error,
      )}
      onCancel={onClose}
      onSubmit={send}
    >
      <PasswordField
        label="Secret"
        description={`Your API key or token from ${provider.name}. It is encrypted and never shown again.`}
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        error={
          checked && secret.trim() === ''
            ? 'Enter your API key or token.'
            : fieldError(create.error, 'secret')
        }
        what="secret"
        data-autofocus
      />
      {needed.map((value) => (
        <TextInput
          key={value}
          label={value.charAt(0).toUpperCase() + value.slice(1)}
          description={`Part of the provider's address, ${provider.base}`}
          value={values[value] ?? ''}
          onChange={(event) => setValues({ ...values, [value]: event.currentTarget.value.trim() })}
          error={
            checked && !values[value]
              ? 'Enter a value. The provider cannot be reached without it.'
              : fieldError(create.error, `values.${value}`)
          }
        />
      ))}
      <TextInput
        label="Name"
        description="Helps you tell credentials apart."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={checked && name.trim() === '' ? 'Enter a name.' : fieldError(create.error, 'name')}
        maxLength={200}
      />
      <Weight value={weight} onChange={setWeight} error={weightProblem(weight)} />
    </DialogForm>
  )
}

function Weight({
  value,
  onChange,
  error,
}: {
  value: string
  onChange: (value: string) => void
  error: string | null
}) {
  return (
    <TextInput
      label="Weight"
      description="Its share of requests, relative to the provider's other credentials. 0 means it is only a fallback."
      inputMode="numeric"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  )
}

/** The dialog that changes a credential. */
export function EditCredential({
  credential,
  opened,
  onClose,
}: {
  credential: Credential
  opened: boolean
  onClose: () => void
}) {
  return (
    <Dialog title="Edit credential" opened={opened} onClose={onClose}>
      <EditForm credential={credential} onClose={onClose} />
    </Dialog>
  )
}

function EditForm({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const change = useChangeCredential()
  const [name, setName] = useState(credential.name)
  const [weight, setWeight] = useState(String(credential.weight))
  const send = (): void => {
    if (name.trim() !== '' && weightProblem(weight) === null)
      change.mutate(
        { id: credential.id, name: name.trim(), weight: Number(weight) },
        { onSuccess: onClose },
      )
  }
  return (
    <DialogForm
      submit="Save"
      busy={change.isPending}
      error={change.error}
      onCancel={onClose}
      onSubmit={send}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={name.trim() === '' ? 'Enter a name.' : null}
        maxLength={200}
        data-autofocus
      />
      <Weight value={weight} onChange={setWeight} error={weightProblem(weight)} />
    </DialogForm>
  )
}

const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/
/** A host alone is meant with https. */
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

function ProviderForm({ onClose }: { onClose: () => void }) {
  const create = useCreateProvider()
  const [id, setId] = useState('')
  const [origin, setOrigin] = useState('')
  const [dial, setDial] = useState('')
  const [header, setHeader] = useState('Authorization')
  const [scheme, setScheme] = useState('Bearer')
  const [secret, setSecret] = useState('')
  const [made, setMade] = useState(false)
  const [checked, setChecked] = useState(false)
  const wrong = {
    id:
      checked && !ID.test(id)
        ? 'Use lowercase letters, digits, - and _.'
        : fieldError(create.error, 'id'),
    origin:
      checked && !ORIGIN.test(originOf(origin))
        ? 'Enter an origin, such as https://llm.example.com.'
        : fieldError(create.error, 'origin'),
  }
  const send = (): void => {
    setChecked(true)
    const whole = originOf(origin)
    setOrigin(whole)
    if (!ID.test(id) || !ORIGIN.test(whole)) return
    const provider = {
      id,
      origin: whole,
      dial: dial === '' ? null : dial,
      auth: header === '' ? null : { header, scheme: scheme === '' ? null : scheme },
    }
    create.mutate(
      { provider, secret: secret.trim(), made, onMade: () => setMade(true) },
      { onSuccess: onClose },
    )
  }
  return (
    <DialogForm
      submit="Add provider"
      busy={create.isPending}
      error={unlessShownBy(
        ['id', 'origin', 'dial', 'auth.header', 'auth.scheme', 'secret'],
        create.error,
      )}
      onCancel={onClose}
      onSubmit={send}
    >
      <TextInput
        label="ID"
        description="Shown in requests and usage."
        placeholder="acme"
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
        error={wrong.id}
        data-autofocus
      />
      <TextInput
        label="Origin"
        description="The address your apps call. The server must be OpenAI-compatible."
        placeholder="https://llm.example.com"
        value={origin}
        onChange={(event) => setOrigin(event.currentTarget.value.trim())}
        onBlur={() => setOrigin(originOf(origin))}
        error={wrong.origin}
      />
      <TextInput
        label="Connect to"
        description="Where the proxy connects, if different from the origin. Private addresses are allowed only here."
        placeholder="http://10.0.0.7:8000"
        value={dial}
        onChange={(event) => setDial(event.currentTarget.value.trim())}
        error={fieldError(create.error, 'dial')}
      />
      <PasswordField
        label="Credential"
        description="Your API key or token for this server. It is encrypted and never shown again. You can add it later."
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        error={fieldError(create.error, 'secret')}
        what="credential"
      />
      <TextInput
        label="Credential header"
        value={header}
        onChange={(event) => setHeader(event.currentTarget.value.trim())}
        error={fieldError(create.error, 'auth.header')}
      />
      <TextInput
        label="Credential prefix"
        description="Sent before the credential. Leave blank for none."
        value={scheme}
        onChange={(event) => setScheme(event.currentTarget.value.trim())}
        error={fieldError(create.error, 'auth.scheme')}
      />
    </DialogForm>
  )
}
