// Code that uses a key with a provider, streaming or not, or the settings for a program.
import { NativeSelect, Switch } from '@mantine/core'
import { useState } from 'react'
import { useProviders } from '../api/credentials.ts'
import type { Key } from '../api/shapes.ts'
import { useModels } from '../api/usage.ts'
import { choicesFor, programsFor, setupOf, snippetsOf } from '../snippets.ts'
import { CodeBlock, Snippets } from '../ui/bits.tsx'
import css from '../ui/bits.module.css'

interface UseKeyProps {
  scope: Pick<Key, 'models' | 'providers' | 'allowed_origins'>
  secret: string
}

const CODE = 'Your code'

/** Code that calls the proxy with a key, for each provider and SDK. */
export function UseKey({ scope, secret }: UseKeyProps) {
  const providers = useProviders()
  const seen = useModels()
  const [chosen, setChosen] = useState('')
  const [streaming, setStreaming] = useState(false)
  const [client, setClient] = useState(CODE)
  if (providers.data === undefined) return null
  const choices = choicesFor(scope, providers.data, seen)
  const choice = choices.find(({ provider }) => provider.id === chosen) ?? choices[0]
  if (!choice) return null
  const { ready, name } = choice.provider
  const programs = programsFor(choice)
  // A program has a setup for each of its languages.
  const setups = programs
    .filter((program) => program.name === client)
    .map((program) => setupOf(program, location.origin, secret))
  const page = scope.allowed_origins?.[0] ?? null
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
        {programs.length > 0 && (
          <NativeSelect
            size="xs"
            aria-label="Use it in"
            value={setups.length > 0 ? client : CODE}
            onChange={(event) => setClient(event.currentTarget.value)}
            data={[CODE, ...new Set(programs.map(({ name }) => name))]}
          />
        )}
        {setups.length === 0 && (
          <Switch
            size="xs"
            label="Streaming"
            checked={streaming}
            onChange={(event) => setStreaming(event.currentTarget.checked)}
          />
        )}
      </div>
      {!ready && (
        <p className={css.useNote} role="note">
          {name} has no credential yet. This call fails until an administrator adds one on the
          Providers page.
        </p>
      )}
      {setups.length > 0 ? (
        setups.map(({ title, code }) => <CodeBlock key={title} label={title} code={code} />)
      ) : (
        <Snippets
          label="Use it"
          items={snippetsOf(choice, { secret, streaming, origin: location.origin, page })}
        />
      )}
    </div>
  )
}
