// Forms that add or change a credential of a provider.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useChangeCredential, useCreateCredential } from '../api/credentials.ts'
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
  // Placeholders in the provider's address are part of a credential: Azure's resource, Bedrock's
  // region.
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
    const credential = { name: name.trim(), secret: secret.trim(), weight: Number(weight), values }
    create.mutate({ provider: provider.id, ...credential }, { onSuccess: onClose })
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
      <SecretField
        provider={provider.name}
        value={secret}
        onChange={setSecret}
        error={
          checked && secret.trim() === ''
            ? 'Enter your API key or token.'
            : fieldError(create.error, 'secret')
        }
      />
      <AddressValues
        base={provider.base}
        needed={needed}
        values={values}
        onChange={setValues}
        errorOf={(value) =>
          checked && !values[value]
            ? 'Enter a value. The provider cannot be reached without it.'
            : fieldError(create.error, `values.${value}`)
        }
      />
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

interface SecretFieldProps {
  provider: string
  value: string
  onChange: (secret: string) => void
  error: string | null
}

function SecretField({ provider, value, onChange, error }: SecretFieldProps) {
  return (
    <PasswordField
      label="Secret"
      description={`Your API key or token from ${provider}. It is encrypted and never shown again.`}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
      what="secret"
      data-autofocus
    />
  )
}

interface AddressValuesProps {
  base: string
  /** Names of the placeholders in the address. */
  needed: readonly string[]
  values: Readonly<Record<string, string>>
  onChange: (values: Record<string, string>) => void
  errorOf: (name: string) => string | null
}

/** A field for each placeholder in the provider's address. */
function AddressValues({ base, needed, values, onChange, errorOf }: AddressValuesProps) {
  return needed.map((name) => (
    <TextInput
      key={name}
      label={name.charAt(0).toUpperCase() + name.slice(1)}
      description={`Part of the provider's address, ${base}`}
      value={values[name] ?? ''}
      onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value.trim() })}
      error={errorOf(name)}
    />
  ))
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
      description="Its share of requests, relative to the provider's other credentials. 0 means none."
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
