// One credential of a provider: its health, its last test, and its actions.
import { Button } from '@mantine/core'
import { useState } from 'react'
import {
  nameOfCredential,
  useChangeCredential,
  useDeleteCredential,
  useTestCredential,
} from '../api/credentials.ts'
import type { Credential, Provider } from '../api/shapes.ts'
import { ago, count, duration, share } from '../format.ts'
import { Badge, quoted } from '../ui/bits.tsx'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { ProblemNote } from '../ui/page.tsx'
import { EditCredential } from './credential-forms.tsx'
import css from './providers.module.css'
import { refusalWords } from './request-columns.tsx'

type LastError = NonNullable<Provider['last_error']>

const failureOf = ({ status, code }: LastError): string =>
  status === null ? refusalWords(code ?? 'no_response') : String(status)
/** The time and kind of the last failure. */
export const lastFailure = (error: LastError): string =>
  `last failure ${ago(error.at)}: ${failureOf(error)}`

/** Whether the proxy currently uses it. */
const isUsed = ({ status, readable, resting_ms }: Credential): boolean =>
  status === 'active' && readable && resting_ms === 0

interface CredentialRowProps {
  credential: Credential
  /** All credentials of the provider, which share its requests. */
  all: readonly Credential[]
}

/** A row of a provider's list of credentials. */
export function CredentialRow({ credential, all }: CredentialRowProps) {
  const { id, name, weight, values } = credential
  const test = useTestCredential()
  const change = useChangeCredential()
  const remove = useDeleteCredential()
  const [opened, setOpened] = useState<'edit' | 'remove' | null>(null)
  const close = (): void => setOpened(null)
  const sum = all.reduce((sum, one) => sum + (isUsed(one) ? one.weight : 0), 0)
  const part = isUsed(credential) && sum > 0 ? `${share(weight / sum)} of requests` : 'not used'
  return (
    <li className={css.credential}>
      <div className={css.credentialName}>
        <span className={css.strong}>{nameOfCredential(credential)}</span>
        <span className={css.small}>
          {[...Object.values(values), `weight ${count(weight)}`, part].join(' · ')}
        </span>
      </div>
      <Health credential={credential} />
      <CredentialActions
        credential={credential}
        testing={test.isPending}
        onTest={() => test.mutate(id)}
        onOpen={setOpened}
        onSwitch={(status) => change.mutate({ id, status })}
      />
      <LastTest of={credential} error={test.error ?? change.error} />
      <EditCredential credential={credential} opened={opened === 'edit'} onClose={close} />
      <ConfirmChange
        title={`Remove “${name}”?`}
        opened={opened === 'remove'}
        onClose={close}
        submit="Remove"
        change={remove}
        onConfirm={(done) => remove.mutate(id, { onSuccess: done })}
      >
        The proxy stops using it within a second. You can't undo this.
      </ConfirmChange>
    </li>
  )
}

interface CredentialActionsProps {
  credential: Credential
  testing: boolean
  onTest: () => void
  onOpen: (what: 'edit' | 'remove') => void
  onSwitch: (status: Credential['status']) => void
}

/** The actions of a credential. One from the settings can only be tested. */
function CredentialActions({
  credential: { name, source, status },
  testing,
  onTest,
  onOpen,
  onSwitch,
}: CredentialActionsProps) {
  const [verb, next] =
    status === 'active' ? (['Pause', 'paused'] as const) : (['Resume', 'active'] as const)
  return (
    <div className={css.actions}>
      <Button
        variant="subtle"
        size="compact-sm"
        loading={testing}
        onClick={onTest}
        aria-label={`Test ${name}`}
      >
        Test
      </Button>
      {source === 'stored' && (
        <>
          <SmallButton label="Edit" name={name} onClick={() => onOpen('edit')} />
          <SmallButton label={verb} name={name} onClick={() => onSwitch(next)} />
          <SmallButton label="Remove" name={name} color="red" onClick={() => onOpen('remove')} />
        </>
      )}
    </div>
  )
}

interface SmallButtonProps {
  label: string
  /** The name of the credential. */
  name: string
  color?: string
  onClick: () => void
}

function SmallButton({ label, name, color = 'gray', onClick }: SmallButtonProps) {
  return (
    <Button
      variant="subtle"
      color={color}
      size="compact-sm"
      onClick={onClick}
      aria-label={`${label} ${name}`}
    >
      {label}
    </Button>
  )
}

/** The result of the last test, or its error. */
function LastTest({ of: { last_test }, error }: { of: Credential; error: unknown }) {
  if (last_test === null && error === null) return null
  return (
    <div className={css.outcome} role="status">
      {last_test !== null && (
        <>
          <Badge label={last_test.ok ? 'Works' : 'Failed'} tone={last_test.ok ? 'good' : 'bad'} />{' '}
          {quoted(last_test.detail)} <span className="dimmed">Tested {ago(last_test.at)}.</span>
        </>
      )}
      <ProblemNote error={error} />
    </div>
  )
}

function Health({
  credential: { status, readable, resting_ms, last_error, last_test },
}: {
  credential: Credential
}) {
  if (!readable) return <Badge label="Cannot be decrypted" tone="bad" />
  if (status === 'paused') return <Badge label="Paused" tone="calm" />
  if (resting_ms > 0)
    return (
      <Badge
        label={`Cooling down${last_error ? ` (${failureOf(last_error)})` : ''}, ${duration(resting_ms)} left`}
        tone="bad"
      />
    )
  // A later successful test overrides the failure.
  if (last_error && !(last_test?.ok && last_test.at > last_error.at))
    return (
      <Badge
        label={`Last call failed: ${failureOf(last_error)}, ${ago(last_error.at)}`}
        tone="warn"
      />
    )
  if (last_test?.ok === false)
    return <Badge label={`Last test failed, ${ago(last_test.at)}`} tone="warn" />
  return <Badge label="Healthy" tone="good" />
}
