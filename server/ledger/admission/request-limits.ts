// The limits that a request counts under: those of its key and of the child key that sent it.
import type { AdmissionRequest } from './backend.ts'

/** The columns of the ledger that identify the limits that a row counts under. */
export type LimitOwner = 'key_id' | 'child_id'

/**
 * One limit. A request passes only if all of its limits have room, and then takes a place in each.
 */
export interface RequestLimit {
  readonly owner: LimitOwner
  /** Id of the key or the child; ids are unique. */
  readonly id: string
  /** Requests in any 60 seconds. */
  readonly rpm: number
}

/** The fields that determine a request's limits. */
export type Limited = Pick<AdmissionRequest, 'key_id' | 'rpm' | 'child_id' | 'child_rpm'>

/** The limits of a request; its key's comes first. */
export function limitsOf({ key_id, rpm, child_id, child_rpm }: Limited): RequestLimit[] {
  const limits: RequestLimit[] = []
  if (rpm !== null) limits.push({ owner: 'key_id', id: key_id, rpm })
  if (child_id !== null && child_rpm !== null)
    limits.push({ owner: 'child_id', id: child_id, rpm: child_rpm })
  return limits
}
