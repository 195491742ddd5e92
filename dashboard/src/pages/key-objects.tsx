// Stored provider objects shared with a key.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useProviders } from '../api/credentials.ts'
import { useShareObject, useSharedObjects, useUnshareObject } from '../api/keys.ts'
import type { SharedObject } from '../api/shapes.ts'
import { date } from '../format.ts'
import { Parts } from '../ui/bits.tsx'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Dialog, DialogForm } from '../ui/dialog.tsx'
import { unlessShownBy, fieldError } from '../ui/form.tsx'
import { Card, Empty, Loaded } from '../ui/page.tsx'
import css from './key-objects.module.css'

/** The stored objects shared with a key. */
export function SharedObjects({ id }: { id: string }) {
  const shared = useSharedObjects(id)
  const unshare = useUnshareObject(id)
  const [sharing, setSharing] = useState(false)
  const [ending, setEnding] = useState<SharedObject | null>(null)
  return (
    <Card
      title="Shared objects"
      note="Provider objects this key can read and use besides its own."
      flush
      actions={
        <Button variant="default" size="xs" onClick={() => setSharing(true)}>
          Share an object
        </Button>
      }
    >
      <Loaded query={shared} rows={2}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon="key" title="Nothing shared">
              The key can use files, vector stores and responses it created. Share others here.
            </Empty>
          ) : (
            <ul className={css.list} aria-label="Shared objects">
              {found.map((one) => (
                <li key={one.id}>
                  <span className="mono">
                    <Parts name={one.object_id} />
                  </span>
                  <span className="dimmed">
                    {one.provider}, {one.kind.replaceAll('_', ' ')}, since {date(one.created_at)}
                  </span>
                  <Button
                    variant="subtle"
                    color="red"
                    size="compact-sm"
                    onClick={() => setEnding(one)}
                    aria-label={`Stop sharing ${one.object_id}`}
                  >
                    Stop sharing
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <Dialog title="Share an object" opened={sharing} onClose={() => setSharing(false)}>
        <ShareForm id={id} onClose={() => setSharing(false)} />
      </Dialog>
      <ConfirmChange
        title={`Stop sharing “${ending?.object_id ?? ''}”?`}
        opened={ending !== null}
        onClose={() => setEnding(null)}
        submit="Stop sharing"
        change={unshare}
        onConfirm={(done) => ending && unshare.mutate(ending.id, { onSuccess: done })}
      >
        Requests with this key that use it are refused within a second.
      </ConfirmChange>
    </Card>
  )
}

function ShareForm({ id, onClose }: { id: string; onClose: () => void }) {
  const share = useShareObject(id)
  const ready = (useProviders().data ?? []).filter(({ ready }) => ready)
  const [provider, setProvider] = useState('')
  const [kind, setKind] = useState('file')
  const [object, setObject] = useState('')
  const [checked, setChecked] = useState(false)
  const chosen = provider === '' ? (ready[0]?.id ?? '') : provider
  const send = (): void => {
    setChecked(true)
    if (object.trim() === '' || kind.trim() === '') return
    share.mutate(
      { provider: chosen, kind: kind.trim(), object_id: object.trim() },
      { onSuccess: onClose },
    )
  }
  return (
    <DialogForm
      submit="Share"
      busy={share.isPending}
      error={unlessShownBy(['provider', 'kind', 'object_id'], share.error)}
      onCancel={onClose}
      onSubmit={send}
    >
      <NativeSelect
        label="Provider"
        value={chosen}
        onChange={(event) => setProvider(event.currentTarget.value)}
        data={ready.map(({ id, name }) => ({ value: id, label: name }))}
        error={fieldError(share.error, 'provider')}
      />
      <TextInput
        label="Kind"
        description="For example file, vector_store, response or batch."
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value)}
        error={checked && kind.trim() === '' ? 'Enter a kind.' : fieldError(share.error, 'kind')}
      />
      <TextInput
        label="ID"
        description="The provider's ID, exactly as written."
        placeholder="vs_abc123"
        value={object}
        onChange={(event) => setObject(event.currentTarget.value)}
        error={
          checked && object.trim() === ''
            ? "Enter the object's ID."
            : fieldError(share.error, 'object_id')
        }
        data-autofocus
      />
    </DialogForm>
  )
}
