import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useSetup } from '../api/session.ts'
import { Entrance, EntranceForm } from './entrance.tsx'

/**
 * The first run: creates the administrator account. The token is in the link that the server
 * printed.
 */
export default function SetupPage() {
  const [params] = useSearchParams()
  const given = params.get('token') ?? ''
  const [pasted, setPasted] = useState('')
  const setup = useSetup()
  const field = (
    <TextInput
      label="Setup link"
      description="Paste the link that the server printed when it started."
      value={pasted}
      onChange={(event) => setPasted(event.currentTarget.value)}
      required
      withAsterisk={false}
      autoComplete="off"
    />
  )
  const token = given === '' ? tokenOf(pasted) : given
  return (
    <Entrance title="Welcome to Tollmark" lead="Create the administrator account for this server.">
      <EntranceForm
        password="new"
        submit="Create account"
        busy={setup.isPending}
        error={setup.error}
        before={given === '' ? field : undefined}
        onSubmit={(values) => setup.mutate({ token, ...values })}
      />
    </Entrance>
  )
}

/** The token of a pasted link, or what was pasted if it is none. */
function tokenOf(text: string): string {
  return /[?&]token=([^&#\s]+)/.exec(text)?.[1] ?? text.trim()
}
