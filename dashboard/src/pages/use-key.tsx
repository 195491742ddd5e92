// Code that uses a key: for a provider, streaming or not.
import { NativeSelect, Switch } from '@mantine/core'
import { useState } from 'react'
import { useProviders } from '../api/credentials.ts'
import type { Key } from '../api/shapes.ts'
import { useModels } from '../api/usage.ts'
import { choicesFor, snippetsOf } from '../snippets.ts'
import { Snippets } from '../ui/bits.tsx'
import css from '../ui/bits.module.css'

interface UseKeyProps {
  scope: Pick<Key, 'models' | 'providers' | 'allowed_origins'>
  secret: string
}

export function UseKey({ scope, secret }: UseKeyProps) {
  const providers = useProviders()
  const seen = useModels()
  const [chosen, setChosen] = useState('')
  const [streaming, setStreaming] = useState(false)
  if (providers.data === undefined) return null
  const choices = choicesFor(scope, providers.data, seen)
  const choice = choices.find(({ provider }) => provider.id === chosen) ?? choices[0]
  if (!choice) return null
  const { ready, name } = choice.provider
  return (
    <div>
      <div className={css.useIt}>
        <NativeSelect
          size="xs"
          aria-label="Provider"
          value={choice.provider.id}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={choices.map(({ provider }) => ({ value: provider.id, label: provider.name }))}
        />
        <Switch size="xs" label="Streaming" checked={streaming} onChange={(event) => setStreaming(event.currentTarget.checked)} />
      </div>
      {!ready && (
        <p className={css.useNote} role="note">
          {name} has no credential yet, so this call fails until an administrator adds one under Providers.
        </p>
      )}
      <Snippets label="Use it" items={snippetsOf(choice, secret, streaming, location.origin, scope.allowed_origins?.[0] ?? null)} />
    </div>
  )
}
