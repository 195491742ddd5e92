import { Button } from '@mantine/core'
import { useState } from 'react'
import { useParams } from 'wouter'
import { ApiError } from '../api/http.ts'
import { useChangeKey, useKey } from '../api/keys.ts'
import { useAccount } from '../api/session.ts'
import type { Key } from '../api/shapes.ts'
import { ago, count, dateTime, fullCount } from '../format.ts'
import { Facts, Pills } from '../ui/bits.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Skeletons, Card, Empty, Failed, Page, ProblemNote } from '../ui/page.tsx'
import { PeriodChoice, UsagePanel } from '../ui/usage-panel.tsx'
import { ChildKeys } from './child-keys.tsx'
import { KeyForm, OBJECTS } from './key-form.tsx'
import { SharedObjects } from './key-objects.tsx'
import { KeyQuestions, type KeyQuestion } from './key-questions.tsx'
import { RefusalsOfKey, RequestsOfKey } from './key-requests.tsx'
import { KeyStatus, Models } from './key-status.tsx'
import css from './key.module.css'
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
        {key.error === null && <Skeletons />}
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

type Opened = 'edit' | KeyQuestion | null

function KeyView({ found }: { found: Key }) {
  const [opened, setOpened] = useState<Opened>(null)
  const change = useChangeKey(found.id)
  const admin = useAccount().role === 'admin'
  const revoked = found.status === 'revoked'
  const close = (): void => {
    setOpened(null)
    change.reset()
  }
  return (
    <Page
      title={found.name}
      back={BACK}
      lead={<KeyStatus status={found.status} />}
      actions={
        <KeyActions
          status={found.status}
          isChild={found.parent_id != null}
          busy={change.isPending && opened === null}
          onOpen={setOpened}
          onEnable={() => change.mutate({ status: 'active' })}
        />
      }
    >
      {opened === null && <ProblemNote error={change.error} />}
      {found.previous_secret_expires_at && (
        <OldKeyNote until={found.previous_secret_expires_at} onEnd={() => setOpened('end')} />
      )}
      <Card>
        <KeyFacts found={found} />
      </Card>
      <div style={{ display: 'flex', justifyContent: 'flex-end' }}>
        <PeriodChoice />
      </div>
      <UsagePanel keyId={found.id} />
      {!revoked && <ChildKeys id={found.id} />}
      <RequestsOfKey id={found.id} />
      <RefusalsOfKey id={found.id} />
      {!revoked && admin && found.parent_id == null && <SharedObjects id={found.id} />}
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
      <KeyQuestions found={found} opened={opened} onClose={close} />
    </Page>
  )
}

interface KeyActionsProps {
  status: Key['status']
  /** A child key can only be revoked. */
  isChild: boolean
  /** Whether it is being enabled. */
  busy: boolean
  onOpen: (what: Opened) => void
  onEnable: () => void
}

/** The actions that a key's status allows. */
function KeyActions({ status, isChild, busy, onOpen, onEnable }: KeyActionsProps) {
  const deletes = (
    <Button variant="light" color="red" onClick={() => onOpen('purge')}>
      Delete
    </Button>
  )
  if (status === 'revoked') return deletes
  const revokes = (
    <Button variant="light" color="red" onClick={() => onOpen('revoke')}>
      Revoke
    </Button>
  )
  if (isChild) return revokes
  const disabled = status === 'disabled'
  return (
    <>
      <Button variant="default" onClick={() => onOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" onClick={() => onOpen('rotate')}>
        Rotate
      </Button>
      <Button
        variant="default"
        loading={busy}
        onClick={() => (disabled ? onEnable() : onOpen('disable'))}
      >
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      {revokes}
      {status === 'expired' && deletes}
    </>
  )
}

/** Tells how long the old secret stays valid, with a button that revokes it. */
function OldKeyNote({ until, onEnd }: { until: string; onEnd: () => void }) {
  return (
    <div className={css.note} role="note">
      <span>
        The old key still works until <strong>{dateTime(until)}</strong> ({ago(until)}).
      </span>
      <Button size="xs" color="red.9" onClick={onEnd}>
        Revoke old key
      </Button>
    </div>
  )
}

function KeyFacts({ found }: { found: Key }) {
  return (
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
  )
}

/**
 * Sends only changed fields, because the server would refuse an unchanged expiry in the past, for
 * example.
 */
function onlyChanged<W extends Partial<Key>>(before: Key, input: W): Partial<W> {
  const changed = Object.entries(input).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Key]),
  )
  return Object.fromEntries(changed) as Partial<W>
}
