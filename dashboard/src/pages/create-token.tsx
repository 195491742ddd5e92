// The form of a new API token, and its secret once it is created.
import { Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { NewToken, Token } from '../api/shapes.ts'
import { useCreateToken } from '../api/tokens.ts'
import { startOfDay } from '../format.ts'
import { Snippets } from '../ui/bits.tsx'
import { Dialog, DialogForm } from '../ui/dialog.tsx'
import { DayField, expiryHint, expiryProblem, fieldError } from '../ui/form.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { NewSecret } from './new-secret.tsx'

/** TABLE of scopes of a token. */
const SCOPES = [
  { value: 'convert', label: 'Convert', description: 'Convert exports and follow jobs.' },
  {
    value: 'manage',
    label: 'Manage',
    description:
      'Everything this dashboard can do, except converting (choose Convert too) and signing in.',
  },
  {
    value: 'mint',
    label: 'Mint',
    description: 'Create short-lived child keys, and nothing else.',
  },
] as const

/** The dialog that creates a token and shows it once. */
export function CreateToken({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const show = useShowOnce()
  const create = useCreateToken((made) =>
    show({
      title: `“${made.name}” is ready`,
      secret: made.secret,
      body: <NewTokenSecret made={made} />,
    }),
  )
  const close = (): void => {
    onClose()
    create.reset()
  }
  return (
    <Dialog title="Create a token" opened={opened} onClose={close}>
      <TokenForm
        busy={create.isPending}
        error={create.error}
        onCancel={close}
        onSubmit={(input) => create.mutate(input, { onSuccess: close })}
      />
    </Dialog>
  )
}

function NewTokenSecret({ made }: { made: NewToken }) {
  return (
    <NewSecret
      text={made.secret}
      what="the token"
      code={<Snippets label="Use it" items={snippetsOf(made)} />}
    >
      Copy your token now and store it somewhere safe. You won't be able to see it again.
    </NewSecret>
  )
}

interface TokenFormProps {
  busy: boolean
  error: unknown
  onCancel: () => void
  onSubmit: (input: { name: string; scopes: Token['scopes']; expires_at: string | null }) => void
}

function TokenForm({ busy, error, onCancel, onSubmit }: TokenFormProps) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>(['convert'])
  const [expires, setExpires] = useState('')
  const [checked, setChecked] = useState(false)
  const refused = fieldError(error, 'expires_at')
  const send = (): void => {
    setChecked(true)
    if (name.trim() === '' || scopes.length === 0 || expiryProblem(expires) !== null) return
    onSubmit({
      name: name.trim(),
      scopes: SCOPES.flatMap(({ value }) => (scopes.includes(value) ? [value] : [])),
      expires_at: startOfDay(expires) || null,
    })
  }
  return (
    <DialogForm
      submit="Create token"
      busy={busy}
      error={refused === null ? error : null}
      onCancel={onCancel}
      onSubmit={send}
    >
      <TextInput
        label="Name"
        placeholder="Docs pipeline"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={checked && name.trim() === '' ? 'Enter a name.' : null}
        required
        withAsterisk={false}
        maxLength={200}
        data-autofocus
      />
      <Checkbox.Group
        label="Permissions"
        value={scopes}
        onChange={setScopes}
        error={checked && scopes.length === 0 ? 'Choose at least one.' : null}
      >
        <div style={{ display: 'grid', gap: 10, marginTop: 8 }}>
          {SCOPES.map(({ value, label, description }) => (
            <Checkbox key={value} value={value} label={label} description={description} />
          ))}
        </div>
      </Checkbox.Group>
      <DayField
        label="Expires"
        description={expiryHint()}
        value={expires}
        onChange={setExpires}
        error={checked ? (expiryProblem(expires) ?? refused) : refused}
      />
    </DialogForm>
  )
}

function snippetsOf({ secret, scopes }: NewToken) {
  const convert = {
    title: 'Convert',
    code: `curl -X POST '${location.origin}/api/v1/convert' \\
  -H 'Authorization: Bearer ${secret}' \\
  -F file=@Export.zip -F include_metadata=true`,
  }
  const manage = {
    title: 'Manage',
    code: `curl '${location.origin}/api/v1/keys' \\\n  -H 'Authorization: Bearer ${secret}'`,
  }
  return [
    ...(scopes.includes('convert') ? [convert] : []),
    ...(scopes.includes('manage') ? [manage] : []),
  ]
}
