import { Button } from '@mantine/core'
import { useState } from 'react'
import { useDeleteProvider, useProviders } from '../api/credentials.ts'
import { useAccount } from '../api/session.ts'
import type { Provider } from '../api/shapes.ts'
import { Badge, type State } from '../ui/bits.tsx'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Empty, Loaded, Page } from '../ui/page.tsx'
import { AddCredential } from './credential-forms.tsx'
import { CredentialRow, lastFailure } from './credential-row.tsx'
import { AddProvider } from './provider-form.tsx'
import css from './providers.module.css'

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
        <NotSetUp
          providers={providers.data.filter((provider) => !isSet(provider))}
          admin={admin}
          onAdd={setAdding}
        />
      )}
      <AddCredential provider={adding} onClose={() => setAdding(null)} />
      <AddProvider opened={extending} onClose={() => setExtending(false)} />
    </Page>
  )
}

interface NotSetUpProps {
  providers: readonly Provider[]
  admin: boolean
  onAdd: (provider: Provider) => void
}

/** Providers without a usable credential. */
function NotSetUp({ providers, admin, onAdd }: NotSetUpProps) {
  return (
    <Card title={admin ? 'Not set up' : 'Not ready'}>
      <ul className={css.others}>
        {providers.toSorted(byName).map((provider) => (
          <li key={provider.id} className={css.other}>
            <span>{provider.name}</span>
            {admin && (
              <Button
                variant="subtle"
                size="compact-sm"
                onClick={() => onAdd(provider)}
                aria-label={`Add credential for ${provider.name}`}
              >
                Add
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

const byName = (one: Provider, other: Provider): number => one.name.localeCompare(other.name)

const isSet = ({ ready, credentials, source }: Provider): boolean =>
  ready || source !== 'built_in' || (credentials ?? []).length > 0
const set = (providers: readonly Provider[]): Provider[] => providers.filter(isSet)

/** TABLE of the health of a provider. */
const HEALTH: Readonly<Record<Provider['health'], State>> = {
  healthy: { label: 'Ready', tone: 'good' },
  degraded: { label: 'Some requests fail', tone: 'warn' },
  failing: { label: 'Failing', tone: 'bad' },
  no_credential: { label: 'Not ready', tone: 'warn' },
}

interface ProviderRowProps {
  provider: Provider
  admin: boolean
  onAdd: () => void
}

function ProviderRow({ provider, admin, onAdd }: ProviderRowProps) {
  const { id, name, base, last_error, credentials, dial } = provider
  const [removing, setRemoving] = useState(false)
  const remove = useDeleteProvider()
  return (
    <section className={css.provider} aria-label={name}>
      <ProviderHead
        provider={provider}
        admin={admin}
        onAdd={onAdd}
        onRemove={() => setRemoving(true)}
      />
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
      <ConfirmChange
        title={`Remove ${name}?`}
        opened={removing}
        onClose={() => setRemoving(false)}
        submit="Remove"
        change={remove}
        onConfirm={(done) => remove.mutate(id, { onSuccess: done })}
      >
        This also deletes its credentials. Requests to it are refused from then on.
      </ConfirmChange>
    </section>
  )
}

/** The name of a provider, its health and its actions. */
function ProviderHead({
  provider: { name, health, source },
  admin,
  onAdd,
  onRemove,
}: ProviderRowProps & { onRemove: () => void }) {
  return (
    <div className={css.head}>
      <h2 className={css.name}>{name}</h2>
      <Badge {...HEALTH[health]} />
      <span className={css.space} />
      {admin && source === 'stored' && (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={onRemove}
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
  )
}
