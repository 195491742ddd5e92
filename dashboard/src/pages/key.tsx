import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { useProviderNames } from '../api/credentials.ts'
import { ApiError } from '../api/http.ts'
import {
  useChangeKey,
  useEndRotation,
  useKey,
  usePurgeKey,
  useRevokeKey,
  useRotateKey,
} from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import type { Key } from '../api/shapes.ts'
import { useRefusals, useRequests } from '../api/usage.ts'
import { ago, count, counted, dateTime, fullCount } from '../format.ts'
import { Facts, Pills } from '../ui/bits.tsx'
import { Confirm, Dialog, DialogForm } from '../ui/dialog.tsx'
import { Bars, Card, Empty, Failed, Page, ProblemNote } from '../ui/page.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { PagedTable } from '../ui/table.tsx'
import { PeriodChoice, UsagePanel } from '../ui/usage-panel.tsx'
import { KeyForm, OBJECTS } from './key-form.tsx'
import { SharedObjects } from './key-objects.tsx'
import { KeyStatus, Models } from './key-status.tsx'
import css from './key.module.css'
import { NewKeySecret } from './new-key.tsx'
import { refusalColumns, requestColumns } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'
import { UseKey } from './use-key.tsx'

const BACK = { href: '/keys', label: 'Keys' }

/** One key: its fields, its usage and its recent requests. */
export default function KeyPage() {
  const { id = '' } = useParams()
  const key = useKey(id)
  if (key.data !== undefined) return <KeyView found={key.data} />
  const gone = key.error instanceof ApiError && key.error.code === 'key_not_found'
  return (
    <Page title="Key" back={BACK}>
      <Card flush>
        {key.error === null && <Bars />}
        {gone && (
          <Empty icon="key" title="Key not found">
            It was deleted, or it belongs to another account.
          </Empty>
        )}
        {key.error !== null && !gone && (
          <Failed error={key.error} retry={() => void key.refetch()} />
        )}
      </Card>
    </Page>
  )
}

type Opened = 'edit' | 'rotate' | 'end' | 'disable' | 'revoke' | 'purge' | null

function KeyView({ found }: { found: Key }) {
  const [opened, setOpened] = useState<Opened>(null)
  const change = useChangeKey(found.id)
  const revoke = useRevokeKey(found.id)
  const admin = useAccount().role === 'admin'
  const end = useEndRotation(found.id)
  const purge = usePurgeKey(found.id)
  const [, go] = useLocation()
  const revoked = found.status === 'revoked'
  const over = revoked || found.status === 'expired'
  const close = (): void => {
    setOpened(null)
    change.reset()
    revoke.reset()
    end.reset()
    purge.reset()
  }
  return (
    <Page
      title={found.name}
      back={BACK}
      lead={<KeyStatus status={found.status} />}
      actions={
        revoked ? (
          <Button variant="light" color="red" onClick={() => setOpened('purge')}>
            Delete
          </Button>
        ) : (
          <>
            <Button variant="default" onClick={() => setOpened('edit')}>
              Edit
            </Button>
            <Button variant="default" onClick={() => setOpened('rotate')}>
              Rotate
            </Button>
            <Button
              variant="default"
              loading={change.isPending && opened === null}
              onClick={() =>
                found.status === 'disabled'
                  ? change.mutate({ status: 'active' })
                  : setOpened('disable')
              }
            >
              {found.status === 'disabled' ? 'Enable' : 'Disable'}
            </Button>
            <Button variant="light" color="red" onClick={() => setOpened('revoke')}>
              Revoke
            </Button>
            {over && (
              <Button variant="light" color="red" onClick={() => setOpened('purge')}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      {opened === null && <ProblemNote error={change.error} />}
      {found.previous_secret_expires_at && (
        <div className={css.note} role="note">
          <span>
            The old key still works until{' '}
            <strong>{dateTime(found.previous_secret_expires_at)}</strong> (
            {ago(found.previous_secret_expires_at)}).
          </span>
          <Button size="xs" color="red.9" onClick={() => setOpened('end')}>
            Revoke old key
          </Button>
        </div>
      )}
      <Card>
        <Facts
          items={[
            [
              'Key',
              <span key="prefix" className="mono">
                {found.prefix}…
              </span>,
            ],
            ['Models', <Models key="models" models={found.models} />],
            ['Requests per minute', found.rpm === null ? 'No limit' : fullCount(found.rpm)],
            [
              'Allowed origins',
              found.allowed_origins === null ? (
                'Any origin'
              ) : (
                <Pills key="origins" items={found.allowed_origins} />
              ),
            ],
            [
              'Providers',
              found.providers === null ? 'All' : <Pills key="providers" items={found.providers} />,
            ],
            ['Stored objects', OBJECTS[found.objects]],
            ['Access', found.read_only ? 'Read-only' : 'Read and write'],
            ['Expires', found.expires_at === null ? 'Never' : dateTime(found.expires_at)],
            ['Last used', found.last_used_at === null ? 'Never' : ago(found.last_used_at)],
            ['Created', dateTime(found.created_at)],
            ['Total requests', count(found.usage.requests)],
          ]}
        />
      </Card>
      <div style={{ display: 'flex', justifyContent: 'flex-end' }}>
        <PeriodChoice />
      </div>
      <UsagePanel keyId={found.id} />
      <Recent id={found.id} />
      <RefusalsOfKey id={found.id} />
      {!revoked && admin && <SharedObjects id={found.id} />}
      {!revoked && (
        <Card
          title="Use this key"
          note="Replace the dots with the rest of your key. Tollmark stores only its hash."
        >
          <UseKey scope={found} secret={`${found.prefix}…`} />
        </Card>
      )}

      <Dialog title="Edit key" opened={opened === 'edit'} onClose={close}>
        <KeyForm
          initial={found}
          submit="Save"
          busy={change.isPending}
          error={change.error}
          onCancel={close}
          onSubmit={(input) => change.mutate(onlyChanged(found, input), { onSuccess: close })}
        />
      </Dialog>
      <Rotate found={found} opened={opened === 'rotate'} onClose={close} />
      <Confirm
        title="Revoke the old key now?"
        opened={opened === 'end'}
        onClose={close}
        submit="Revoke old key"
        busy={end.isPending}
        error={end.error}
        onConfirm={() => end.mutate(undefined, { onSuccess: close })}
      >
        Apps still using it are refused within a second. The new key keeps working.
      </Confirm>
      <Confirm
        title={`Delete “${found.name}”?`}
        opened={opened === 'purge'}
        onClose={close}
        submit="Delete"
        busy={purge.isPending}
        error={purge.error}
        onConfirm={() => purge.mutate(undefined, { onSuccess: () => go('/keys') })}
      >
        The key disappears from every list. Its usage stays in reports.
      </Confirm>
      <Confirm
        title={`Disable “${found.name}”?`}
        opened={opened === 'disable'}
        onClose={close}
        submit="Disable"
        busy={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate({ status: 'disabled' }, { onSuccess: close })}
      >
        Apps using this key are refused within a second, until you enable it again.
      </Confirm>
      <Confirm
        title={`Revoke “${found.name}”?`}
        opened={opened === 'revoke'}
        onClose={close}
        submit="Revoke key"
        busy={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate(undefined, { onSuccess: close })}
      >
        Apps using this key are refused within a second. You can't undo this. Its usage stays in
        reports.
      </Confirm>
    </Page>
  )
}

/**
 * Fields that stay as they are need not be sent: an expiry that has passed would be refused, for
 * example.
 */
function onlyChanged<W extends Partial<Key>>(before: Key, input: W): Partial<W> {
  const changed = Object.entries(input).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Key]),
  )
  return Object.fromEntries(changed) as Partial<W>
}

/** TABLE of how long the old secret may go on working. */
const GRACE_CHOICES = [
  { value: '0', label: 'Revoke immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

function Rotate({ found, opened, onClose }: { found: Key; opened: boolean; onClose: () => void }) {
  const show = useShowOnce()
  const rotate = useRotateKey(found.id, (made) =>
    show({ title: 'Your new key', secret: made.secret, body: <NewKeySecret made={made} /> }),
  )
  const [grace, setGrace] = useState('86400')
  const close = (): void => {
    onClose()
    rotate.reset()
  }
  return (
    <Dialog title={`Rotate “${found.name}”`} opened={opened} onClose={close}>
      <DialogForm
        submit="Rotate key"
        busy={rotate.isPending}
        error={rotate.error}
        onCancel={close}
        onSubmit={() => rotate.mutate(Number(grace), { onSuccess: close })}
      >
        <NativeSelect
          label="Keep the old key valid for"
          description="Time to switch every app to the new key. If the key leaked, revoke it immediately."
          data={GRACE_CHOICES}
          value={grace}
          onChange={(event) => setGrace(event.currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  )
}

/** What the proxy refused of a key: why a program that has it gets no answer. */
function RefusalsOfKey({ id }: { id: string }) {
  const refusals = useRefusals({ key: id }, 5)
  const providerName = useProviderNames()
  const [opened, setOpened] = useState<string | null>(null)
  if (refusals.data === undefined || refusals.data.rows.length === 0) return null
  return (
    <Card
      title="Refused requests"
      note={`${counted(refusals.data.total ?? 0, 'request')} in the last 30 days`}
      flush
      actions={
        <Link className="textlink" href={`/requests?list=refused&key=${id}`}>
          All refusals
        </Link>
      }
    >
      <PagedTable
        label="Refusals"
        query={refusals}
        columns={refusalColumns('one key', setOpened, providerName)}
        more={false}
        compact
      />
      <RequestDetails id={opened} onClose={() => setOpened(null)} />
    </Card>
  )
}

function Recent({ id }: { id: string }) {
  const requests = useRequests({ key: id }, 10)
  const providerName = useProviderNames()
  const [opened, setOpened] = useState<string | null>(null)
  return (
    <Card
      title="Recent requests"
      flush
      actions={
        <Link className="textlink" href={`/requests?key=${id}`}>
          All requests
        </Link>
      }
    >
      <PagedTable
        label="Recent requests"
        query={requests}
        columns={requestColumns('one key', setOpened, providerName)}
        compact
        more={false}
        empty={
          <Empty icon="list" title="No requests yet">
            Requests made with this key appear here.
          </Empty>
        }
      />
      <RequestDetails id={opened} onClose={() => setOpened(null)} />
    </Card>
  )
}
