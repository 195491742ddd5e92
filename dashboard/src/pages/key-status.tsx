import type { Key } from '../api/shapes.ts'
import { Badge, Pills, type State } from '../ui/bits.tsx'

/** TABLE of the states of a key. */
export const STATUS: Readonly<Record<Key['status'], State>> = {
  active: { label: 'Active', tone: 'good' },
  disabled: { label: 'Disabled', tone: 'warn' },
  expired: { label: 'Expired', tone: 'bad' },
  revoked: { label: 'Revoked', tone: 'calm' },
}

/** A key's status as a badge. */
export function KeyStatus({ status }: { status: Key['status'] }) {
  return <Badge {...STATUS[status]} />
}

/** The models that a key may call. */
export function Models({ models, most }: { models: readonly string[] | null; most?: number }) {
  if (models === null) return <span className="dimmed">All models</span>
  return <Pills items={models} most={most} />
}
