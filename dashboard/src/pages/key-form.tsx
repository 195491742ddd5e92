// The form that creates or edits a key.
import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useProviders } from '../api/credentials.ts'
import type { KeyInput } from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import type { Key } from '../api/shapes.ts'
import { useModels } from '../api/usage.ts'
import { exampleScope } from '../snippets.ts'
import { DialogForm } from '../ui/dialog.tsx'
import { DayField, unlessShownBy, expiryHint, fieldError } from '../ui/form.tsx'
import { ListInput, valuesOf } from '../ui/list-input.tsx'
import {
  EMPTY,
  NO_PROBLEMS,
  draftOf,
  inputOf,
  originOf,
  problemsOf,
  type KeyDraft,
  type KeyProblems,
} from './key-draft.ts'

interface KeyFormProps {
  initial?: KeyInput
  submit: string
  busy: boolean
  error: unknown
  onCancel: () => void
  onSubmit: (input: KeyInput) => void
}

const FIELDS = Object.keys(EMPTY)

/** TABLE of the stored objects that a key may use. */
export const OBJECTS: Readonly<Record<Key['objects'], string>> = {
  own: 'Only its own and shared ones',
  upstream: 'Everything not owned by another key',
}

const isObjects = (value: string): value is Key['objects'] => Object.hasOwn(OBJECTS, value)

/** The form of a new or changed key. */
export function KeyForm({
  initial = EMPTY,
  submit,
  busy,
  error,
  onCancel,
  onSubmit,
}: KeyFormProps) {
  const [draft, setDraft] = useState(() => draftOf(initial))
  const [checked, setChecked] = useState(false)
  const providers = useProviders().data ?? []
  const seen = useModels()
  const problems = problemsOf(draft, initial)
  const send = (): void => {
    setChecked(true)
    if (Object.values(problems).every((problem) => problem === null))
      onSubmit(inputOf(draft, initial))
  }
  const fields: FieldsProps = {
    draft,
    problems: checked ? problems : NO_PROBLEMS,
    error,
    example: exampleScope(providers, seen),
    change: (part) => setDraft((draft) => ({ ...draft, ...part })),
  }
  return (
    <DialogForm
      submit={submit}
      busy={busy}
      error={unlessShownBy(FIELDS, error)}
      onCancel={onCancel}
      onSubmit={send}
    >
      <LimitFields {...fields} seen={[...new Set(seen.map(({ id }) => id))]} />
      <ReachFields {...fields} ready={providers.filter(({ ready }) => ready).map(({ id }) => id)} />
    </DialogForm>
  )
}

interface FieldsProps {
  draft: KeyDraft
  /** Errors found here; the server's are in `error`. */
  problems: KeyProblems
  error: unknown
  /** Placeholders of the empty fields: a provider and its models. */
  example: ReturnType<typeof exampleScope>
  change: (part: Partial<KeyDraft>) => void
}

/** The name, the models and the limits. */
function LimitFields({
  draft,
  problems,
  error,
  example,
  change,
  seen,
}: FieldsProps & { seen: readonly string[] }) {
  return (
    <>
      <TextInput
        label="Name"
        placeholder="Website chat"
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={problems.name ?? fieldError(error, 'name')}
        required
        withAsterisk={false}
        data-autofocus
        maxLength={200}
      />
      <ListInput
        label="Models"
        what="model"
        description="Models the key can use. * matches anything. Leave blank for all models."
        placeholder={example?.models}
        list={draft.models}
        suggestions={seen}
        onChange={(models) => change({ models })}
        error={fieldError(error, 'models', valuesOf(draft.models))}
      />
      <TextInput
        label="Requests per minute"
        description="Maximum in any 60 seconds. Leave blank for no limit."
        inputMode="numeric"
        placeholder="60"
        value={draft.rpm}
        onChange={(event) => change({ rpm: event.currentTarget.value.replace(/[\s,]/g, '') })}
        error={problems.rpm ?? fieldError(error, 'rpm')}
      />
      <DayField
        label="Expires"
        description={expiryHint()}
        value={draft.expires}
        onChange={(expires) => change({ expires })}
        error={problems.expires ?? fieldError(error, 'expires_at')}
      />
    </>
  )
}

/** Fields that restrict origins, providers, objects and changes. */
function ReachFields({
  draft,
  error,
  example,
  change,
  ready,
}: FieldsProps & { ready: readonly string[] }) {
  const admin = useAccount().role === 'admin'
  return (
    <>
      <ListInput
        label="Allowed origins"
        what="origin"
        description="For keys used in browsers: the sites that can use it. Leave blank for any site."
        placeholder="https://app.example.com"
        list={draft.origins}
        onChange={(origins) => change({ origins })}
        error={fieldError(error, 'allowed_origins', valuesOf(draft.origins, originOf))}
        complete={originOf}
      />
      <ListInput
        label="Providers"
        what="provider"
        description="Providers the key can call. Leave blank for all."
        placeholder={example?.provider}
        list={draft.providers}
        suggestions={ready}
        onChange={(providers) => change({ providers })}
        error={fieldError(error, 'providers', valuesOf(draft.providers))}
      />
      {admin && (
        <NativeSelect
          label="Stored objects"
          description="Which files, responses and batches the key can use."
          data={Object.entries(OBJECTS).map(([value, label]) => ({ value, label }))}
          value={draft.objects}
          onChange={({ currentTarget: { value } }) =>
            isObjects(value) && change({ objects: value })
          }
          error={fieldError(error, 'objects')}
        />
      )}
      <Checkbox
        label="Read-only"
        description="The key can generate and read, but not change anything a provider stores."
        checked={draft.readOnly}
        onChange={(event) => change({ readOnly: event.currentTarget.checked })}
      />
    </>
  )
}
