// The active child keys of a key.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { useChildKeys, useEndChild } from '../api/keys.ts'
import type { Key } from '../api/shapes.ts'
import { ago, dateTime, fullCount } from '../format.ts'
import { ConfirmChange } from '../ui/confirm-change.tsx'
import { Card, Loaded } from '../ui/page.tsx'
import css from './key-objects.module.css'

/** The active child keys of a key, with buttons that revoke them; nothing if there are none. */
export function ChildKeys({ id }: { id: string }) {
  const children = useChildKeys(id)
  const end = useEndChild()
  const [ending, setEnding] = useState<Key | null>(null)
  if (children.data?.length === 0) return null
  return (
    <Card
      title="Child keys"
      note="Short-lived keys with some of this key's rights. They share this key's limit and end with it."
      flush
    >
      <Loaded query={children} rows={2}>
        {(found) => (
          <ul className={css.list} aria-label="Child keys">
            {found.map((child) => (
              <li key={child.id}>
                <span>{child.end_user ?? <span className="mono">{child.prefix}…</span>}</span>
                <span className="dimmed">{describe(child)}</span>
                <Link
                  className="textlink"
                  href={`/requests?key=${id}&child=${child.id}`}
                  aria-label={`Requests of ${child.end_user ?? child.prefix}`}
                >
                  Requests
                </Link>
                <Button
                  variant="subtle"
                  color="red"
                  size="compact-sm"
                  onClick={() => setEnding(child)}
                  aria-label={`End ${child.end_user ?? child.prefix}`}
                >
                  End
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <ConfirmChange
        title={`End the child key of “${ending?.end_user ?? ending?.prefix ?? ''}”?`}
        opened={ending !== null}
        onClose={() => setEnding(null)}
        submit="End"
        change={end}
        onConfirm={(done) => ending && end.mutate(ending.id, { onSuccess: done })}
      >
        Requests with it are refused within a second.
      </ConfirmChange>
    </Card>
  )
}

/** Describes its restrictions and expiry. */
function describe({ models, rpm, expires_at }: Key): string {
  const limit = rpm === null ? [] : [`${fullCount(rpm)} a minute`]
  const end = expires_at === null ? [] : [`ends ${ago(expires_at)}, ${dateTime(expires_at)}`]
  return [models?.join(', ') ?? 'All models', ...limit, ...end].join(' · ')
}
