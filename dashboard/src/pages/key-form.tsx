// What a person decides about a key, when it is made and later.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { KeyWishes } from '../api/keys.ts'
import { useSeenModels } from '../api/usage.ts'
import { DialogForm } from '../ui/dialog.tsx'
import { DayField, besides, refusalOf } from '../ui/form.tsx'
import { ListInput, valuesOf, type List } from '../ui/list-input.tsx'

interface KeyFormProps {
  initial?: KeyWishes
  submit: string
  busy: boolean
  error: unknown
  onCancel: () => void
  onSubmit: (wishes: KeyWishes) => void
}

const EMPTY: KeyWishes = { name: '', models: null, rpm: null, allowed_origins: null, expires_at: null }
const FIELDS = Object.keys(EMPTY)
const RPM = /^(?:[1-9]\d{0,6})?$/

export function KeyForm({ initial = EMPTY, submit, busy, error, onCancel, onSubmit }: KeyFormProps) {
  const [name, setName] = useState(initial.name)
  const [models, setModels] = useState<List>({ values: initial.models ?? [], text: '' })
  const [rpm, setRpm] = useState(initial.rpm === null ? '' : String(initial.rpm))
  const [origins, setOrigins] = useState<List>({ values: initial.allowed_origins ?? [], text: '' })
  const day = initial.expires_at?.slice(0, 10) ?? ''
  const [expires, setExpires] = useState(day)
  const [checked, setChecked] = useState(false)
  const seen = useSeenModels()
  const wrong = {
    name: checked && name.trim() === '' ? 'A key needs a name, so that people know what it is for.' : refusalOf(error, 'name'),
    rpm: checked && !RPM.test(rpm) ? 'Enter a whole number from 1 to 1,000,000, or leave it empty.' : refusalOf(error, 'rpm'),
  }
  const send = (): void => {
    setChecked(true)
    if (name.trim() === '' || !RPM.test(rpm)) return
    onSubmit({
      name: name.trim(),
      models: orNull(valuesOf(models)),
      rpm: rpm === '' ? null : Number(rpm),
      allowed_origins: orNull(valuesOf(origins)),
      expires_at: expires === day ? initial.expires_at : expires || null,
    })
  }
  return (
    <DialogForm submit={submit} busy={busy} error={besides(FIELDS, error)} onCancel={onCancel} onSubmit={send}>
      <TextInput label="Name" placeholder="Website chat" value={name} onChange={(event) => setName(event.currentTarget.value)} error={wrong.name} required withAsterisk={false} data-autofocus maxLength={200} />
      <ListInput
        label="Models"
        what="model"
        description="What the key may call; * stands for anything. Leave it empty for every model."
        placeholder="gemini-2.5-*"
        list={models}
        suggestions={seen}
        onChange={setModels}
        error={refusalOf(error, 'models')}
      />
      <TextInput
        label="Requests per minute"
        description="The most in any 60 seconds. Leave it empty for no limit."
        inputMode="numeric"
        placeholder="60"
        value={rpm}
        onChange={(event) => setRpm(event.currentTarget.value.replace(/[\s,]/g, ''))}
        error={wrong.rpm}
      />
      <DayField label="Expires" description="The key stops working when this day begins, in UTC. Leave it empty for never." value={expires} onChange={setExpires} error={refusalOf(error, 'expires_at')} />
      <ListInput
        label="Allowed origins"
        what="origin"
        description="For keys in browsers: the sites that may use it. Leave it empty for any site."
        placeholder="https://app.example.com"
        list={origins}
        onChange={setOrigins}
        error={refusalOf(error, 'allowed_origins')}
      />
    </DialogForm>
  )
}

/** No entries are no restriction. */
function orNull(values: string[]): string[] | null {
  return values.length === 0 ? null : values
}
