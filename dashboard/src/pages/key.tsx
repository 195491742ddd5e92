import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { Refused } from '../api/http.ts'
import { useChangeKey, useKey, useRevokeKey, useRotateKey } from '../api/keys.ts'
import type { Key } from '../api/shapes.ts'
import { useRequests } from '../api/usage.ts'
import { ago, count, dateTime, fullCount } from '../format.ts'
import { Facts, Pills } from '../ui/bits.tsx'
import { Confirm, Dialog, DialogForm } from '../ui/dialog.tsx'
import { Bars, Card, Empty, Failed, Page, ProblemNote } from '../ui/page.tsx'
import { useShowOnce } from '../ui/shown-once.tsx'
import { PagedTable } from '../ui/table.tsx'
import { PeriodChoice, UsagePanel } from '../ui/usage-panel.tsx'
import { KeyForm, OBJECTS } from './key-form.tsx'
import { KeyStatus, Models } from './key-status.tsx'
import { NewKeySecret } from './new-key.tsx'
import { requestColumns } from './request-columns.tsx'
import { RequestDetails } from './request-details.tsx'

const BACK = { href: '/keys', label: 'Keys' }

export default function KeyPage() {
  const { id = '' } = useParams()
  const key = useKey(id)
  if (key.data !== undefined) return <KeyView found={key.data} />
  const gone = key.error instanceof Refused && key.error.code === 'key_not_found'
  return (
    <Page title="Key" back={BACK}>
      <Card flush>
        {key.error === null && <Bars />}
        {gone && (
          <Empty icon="key" title="This key does not exist">
            It may belong to another account.
          </Empty>
        )}
        {key.error !== null && !gone && <Failed error={key.error} retry={() => void key.refetch()} />}
      </Card>
    </Page>
  )
}

type Opened = 'edit' | 'rotate' | 'revoke' | null

function KeyView({ found }: { found: Key }) {
  const [opened, setOpened] = useState<Opened>(null)
  const change = useChangeKey(found.id)
  const revoke = useRevokeKey(found.id)
  const revoked = found.status === 'revoked'
  const close = (): void => {
    setOpened(null)
    change.reset()
    revoke.reset()
  }
  return (
    <Page
      title={found.name}
      back={BACK}
      lead={<KeyStatus status={found.status} />}
      actions={
        revoked ? undefined : (
          <>
            <Button variant="default" onClick={() => setOpened('edit')}>
              Edit
            </Button>
            <Button variant="default" onClick={() => setOpened('rotate')}>
              Rotate
            </Button>
            <Button variant="default" loading={change.isPending && opened === null} onClick={() => change.mutate({ status: found.status === 'disabled' ? 'active' : 'disabled' })}>
              {found.status === 'disabled' ? 'Enable' : 'Disable'}
            </Button>
            <Button variant="light" color="red" onClick={() => setOpened('revoke')}>
              Revoke
            </Button>
          </>
        )
      }
    >
      {opened === null && <ProblemNote error={change.error} />}
      <Card>
        <Facts
          items={[
            ['Key', <span key="prefix" className="mono">{found.prefix}…</span>],
            ['Models', <Models key="models" models={found.models} />],
            ['Requests per minute', found.rpm === null ? 'No limit' : fullCount(found.rpm)],
            ['Allowed origins', found.allowed_origins === null ? 'Everywhere' : <Pills key="origins" items={found.allowed_origins} />],
            ['Providers', found.providers === null ? 'All' : <Pills key="providers" items={found.providers} />],
            ['Stored objects', OBJECTS[found.objects]],
            ['Access', found.read_only ? 'Generates and reads' : 'Generates, reads and changes'],
            ['Expires', found.expires_at === null ? 'Never' : dateTime(found.expires_at)],
            ['Last used', found.last_used_at === null ? 'Never' : ago(found.last_used_at)],
            ['Created', dateTime(found.created_at)],
            ['Requests so far', count(found.usage.requests)],
          ]}
        />
      </Card>
      <div style={{ display: 'flex', justifyContent: 'flex-end' }}>
        <PeriodChoice />
      </div>
      <UsagePanel keyId={found.id} />
      <Recent id={found.id} />

      <Dialog title="Edit the key" opened={opened === 'edit'} onClose={close}>
        <KeyForm initial={found} submit="Save" busy={change.isPending} error={change.error} onCancel={close} onSubmit={(wishes) => change.mutate(onlyChanged(found, wishes), { onSuccess: close })} />
      </Dialog>
      <Rotate found={found} opened={opened === 'rotate'} onClose={close} />
      <Confirm title={`Revoke “${found.name}”?`} opened={opened === 'revoke'} onClose={close} submit="Revoke for good" busy={revoke.isPending} error={revoke.error} onConfirm={() => revoke.mutate(undefined, { onSuccess: close })}>
        Programs that use it are refused within a second. This cannot be undone. What it has used stays in the ledger.
      </Confirm>
    </Page>
  )
}

/** Fields that stay as they are need not be sent: an expiry that has passed would be refused, for example. */
function onlyChanged<W extends Partial<Key>>(before: Key, wishes: W): Partial<W> {
  const changed = Object.entries(wishes).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Key]))
  return Object.fromEntries(changed) as Partial<W>
}

/** TABLE of how long the old secret may go on working. */
const GRACE = [
  { value: '0', label: 'Not at all' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
]

function Rotate({ found, opened, onClose }: { found: Key; opened: boolean; onClose: () => void }) {
  const show = useShowOnce()
  const rotate = useRotateKey(found.id, (made) => show('The new secret', <NewKeySecret made={made} />))
  const [grace, setGrace] = useState('86400')
  const close = (): void => {
    onClose()
    rotate.reset()
  }
  return (
    <Dialog title={`Rotate “${found.name}”`} opened={opened} onClose={close}>
      <DialogForm submit="Create a new secret" busy={rotate.isPending} error={rotate.error} onCancel={close} onSubmit={() => rotate.mutate(Number(grace), { onSuccess: close })}>
        <NativeSelect label="The old secret goes on working for" description="Time to give the new one to every program that uses this key." data={GRACE} value={grace} onChange={(event) => setGrace(event.currentTarget.value)} data-autofocus />
      </DialogForm>
    </Dialog>
  )
}

function Recent({ id }: { id: string }) {
  const requests = useRequests({ key: id }, 10)
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
        columns={requestColumns('one key', setOpened)}
        more={false}
        empty={
          <Empty icon="list" title="Not used yet">
            Requests with this key appear here as they are made.
          </Empty>
        }
      />
      <RequestDetails id={opened} onClose={() => setOpened(null)} />
    </Card>
  )
}
