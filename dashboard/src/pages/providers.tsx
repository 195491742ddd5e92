import { Button } from '@mantine/core'
import { useState } from 'react'
import {
  nameOfCredential,
  useChangeCredential,
  useDeleteCredential,
  useDeleteProvider,
  useProviders,
  useTestCredential,
} from '../api/credentials.ts'
import { useAccount } from '../api/session.ts'
import type { Credential, Provider } from '../api/shapes.ts'
import { ago, count, duration, share } from '../format.ts'
import { Badge, quoted, type State } from '../ui/bits.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Loaded, Page, ProblemNote } from '../ui/page.tsx'
import { AddCredential, AddProvider, EditCredential } from './provider-forms.tsx'
import css from './providers.module.css'
import { refusalWords } from './request-columns.tsx'

/** Providers and their credentials. */
export default function ProvidersPage() {
  const providers = useProviders()
  const admin = useAccount().role === 'admin'
  const [adding, setAdding] = useState<Provider | null>(null)
  const [extending, setExtending] = useState(false)
  return (
    <Page
      title="Providers"
      lead="The providers your apps can reach, and the credentials the proxy uses for them."
      actions={
        admin && (
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => setExtending(true)}
          >
            Add a provider
          </Button>
        )
      }
    >
      <Card flush>
        <Loaded query={providers} rows={6}>
          {(found) =>
            set(found).length === 0 ? (
              <Empty icon="plug" title="No providers yet">
                {admin
                  ? 'Add a credential to one below. It is encrypted and never shown again.'
                  : 'Ask an administrator to add a provider credential.'}
              </Empty>
            ) : (
              set(found).map((provider) => (
                <ProviderRow
                  key={provider.id}
                  provider={provider}
                  admin={admin}
                  onAdd={() => setAdding(provider)}
                />
              ))
            )
          }
        </Loaded>
      </Card>
      {providers.data && (
        <Card title={admin ? 'Not set up' : 'Not ready'}>
          <ul className={css.others}>
            {providers.data
              .filter((provider) => !isSet(provider))
              .map((provider) => (
                <li key={provider.id} className={css.other}>
                  <span>{provider.name}</span>
                  {admin && (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      onClick={() => setAdding(provider)}
                      aria-label={`Add credential for ${provider.name}`}
                    >
                      Add
                    </Button>
                  )}
                </li>
              ))}
          </ul>
        </Card>
      )}
      <AddCredential provider={adding} onClose={() => setAdding(null)} />
      <AddProvider opened={extending} onClose={() => setExtending(false)} />
    </Page>
  )
}

const isSet = ({ ready, credentials, source }: Provider): boolean =>
  ready || source !== 'built_in' || (credentials ?? []).length > 0
const set = (providers: readonly Provider[]): Provider[] => providers.filter(isSet)

/** TABLE of how a provider can do. */
const HEALTH: Readonly<Record<Provider['health'], State>> = {
  healthy: { label: 'Ready', tone: 'good' },
  degraded: { label: 'Some requests fail', tone: 'warn' },
  failing: { label: 'Failing', tone: 'bad' },
  no_credential: { label: 'Not ready', tone: 'warn' },
}

type LastError = NonNullable<Provider['last_error']>

const failureOf = ({ status, code }: LastError): string =>
  status === null ? refusalWords(code ?? 'no_answer') : String(status)
const lastFailure = (error: LastError): string =>
  `last failure ${ago(error.at)}: ${failureOf(error)}`

function ProviderRow({
  provider,
  admin,
  onAdd,
}: {
  provider: Provider
  admin: boolean
  onAdd: () => void
}) {
  const { id, name, base, health, last_error, credentials, source, dial } = provider
  const [removing, setRemoving] = useState(false)
  const remove = useDeleteProvider()
  const close = (): void => {
    setRemoving(false)
    remove.reset()
  }
  return (
    <section className={css.provider} aria-label={name}>
      <div className={css.head}>
        <h2 className={css.name}>{name}</h2>
        <Badge {...HEALTH[health]} />
        <span className={css.space} />
        {admin && source === 'stored' && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            onClick={() => setRemoving(true)}
            aria-label={`Remove ${name}`}
          >
            Remove
          </Button>
        )}
        {admin && (
          <Button
            variant="default"
            size="xs"
            onClick={onAdd}
            aria-label={`Add credential for ${name}`}
          >
            Add credential
          </Button>
        )}
      </div>
      <p className={css.base}>
        <span className="mono">
          {base}
          {dial !== null && ` → ${dial}`}
        </span>
        {last_error !== null && <span> · {lastFailure(last_error)}</span>}
      </p>
      {credentials !== null && credentials.length > 0 && (
        <ul className={css.credentials}>
          {credentials.map((credential) => (
            <CredentialRow key={credential.id} credential={credential} all={credentials} />
          ))}
        </ul>
      )}
      <Confirm
        title={`Remove ${name}?`}
        opened={removing}
        onClose={close}
        submit="Remove"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(id, { onSuccess: close })}
      >
        This also deletes its credentials. Requests to it are refused from then on.
      </Confirm>
    </section>
  )
}

/** Whether requests go out with it now. */
const isUsed = ({ status, readable, resting_ms }: Credential): boolean =>
  status === 'active' && readable && resting_ms === 0

function CredentialRow({
  credential,
  all,
}: {
  credential: Credential
  all: readonly Credential[]
}) {
  const { id, name, source, weight, status, values, last_test } = credential
  const test = useTestCredential()
  const change = useChangeCredential()
  const remove = useDeleteCredential()
  const [opened, setOpened] = useState<'edit' | 'remove' | null>(null)
  const close = (): void => {
    setOpened(null)
    remove.reset()
  }
  const sum = all.reduce((sum, one) => sum + (isUsed(one) ? one.weight : 0), 0)
  const part = isUsed(credential) && sum > 0 ? `${share(weight / sum)} of requests` : 'not used'
  const stored = source === 'stored'
  return (
    <li className={css.credential}>
      <div className={css.credentialName}>
        <span className={css.strong}>{nameOfCredential(credential)}</span>
        <span className={css.small}>
          {[...Object.values(values), `weight ${count(weight)}`, part].join(' · ')}
        </span>
      </div>
      <Health credential={credential} />
      <div className={css.actions}>
        <Button
          variant="subtle"
          size="compact-sm"
          loading={test.isPending}
          onClick={() => test.mutate(id)}
          aria-label={`Test ${name}`}
        >
          Test
        </Button>
        {stored && (
          <>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              onClick={() => setOpened('edit')}
              aria-label={`Edit ${name}`}
            >
              Edit
            </Button>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              onClick={() =>
                change.mutate({ id, status: status === 'active' ? 'paused' : 'active' })
              }
              aria-label={`${status === 'active' ? 'Pause' : 'Resume'} ${name}`}
            >
              {status === 'active' ? 'Pause' : 'Resume'}
            </Button>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              onClick={() => setOpened('remove')}
              aria-label={`Remove ${name}`}
            >
              Remove
            </Button>
          </>
        )}
      </div>
      {(last_test !== null || test.error !== null || change.error !== null) && (
        <div className={css.outcome} role="status">
          {last_test !== null && (
            <>
              <Badge
                label={last_test.ok ? 'Works' : 'Failed'}
                tone={last_test.ok ? 'good' : 'bad'}
              />{' '}
              {quoted(last_test.detail)} <span className="dimmed">Tested {ago(last_test.at)}.</span>
            </>
          )}
          <ProblemNote error={test.error ?? change.error} />
        </div>
      )}
      <EditCredential credential={credential} opened={opened === 'edit'} onClose={close} />
      <Confirm
        title={`Remove “${name}”?`}
        opened={opened === 'remove'}
        onClose={close}
        submit="Remove"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(id, { onSuccess: close })}
      >
        The proxy stops using it within a second. You can't undo this.
      </Confirm>
    </li>
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
  // A test that passed since is the newer word.
  if (last_error && !(last_test?.ok && last_test.at > last_error.at))
    return (
      <Badge
        label={`Last call failed: ${failureOf(last_error)}, ${ago(last_error.at)}`}
        tone="warn"
      />
    )
  return <Badge label="Healthy" tone="good" />
}
