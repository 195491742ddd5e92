import type { Key } from '../api/shapes.ts'
import { Badge, Pills, type Tone } from '../ui/bits.tsx'

/** TABLE of what a key can be. */
export const STATUS: Readonly<Record<Key['status'], { label: string; tone: Tone }>> = {
  active: { label: 'Active', tone: 'good' },
  disabled: { label: 'Disabled', tone: 'warn' },
  expired: { label: 'Expired', tone: 'bad' },
  revoked: { label: 'Revoked', tone: 'calm' },
}

export function KeyStatus({ status }: { status: Key['status'] }) {
  return <Badge tone={STATUS[status].tone}>{STATUS[status].label}</Badge>
}

export function Models({ models, most }: { models: readonly string[] | null; most?: number }) {
  if (models === null) return <span className="dimmed">Every model</span>
  return <Pills items={models} {...(most === undefined ? {} : { most })} />
}
