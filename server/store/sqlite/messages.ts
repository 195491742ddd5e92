// The messages between the thread that serves requests and the threads of the store.
import type { StoreErrorCode } from '../store-error.ts'
import type { Statement } from '../statement.ts'

/** Work for a thread of the store: statements, or a procedure. The writer runs it atomically. */
export type Work =
  | { readonly statements: readonly Statement[] }
  | { /** Its address. */ readonly procedure: string; readonly args: unknown }

/**
 * Work with a number for its reply. `within`: milliseconds that a reading task may take; then it
 * ends with `slow` after its current statement.
 */
export type Task = Work & { readonly id: number; readonly within?: number | undefined }

/** The database of a reader thread. `patient`: it runs with low priority. */
export type ReadSource = { readonly patient: boolean } & (
  | { readonly path: string }
  | {
      readonly url: string
      readonly name: string
      readonly most: number
      readonly patience: number
    }
)

/**
 * The outcome of one task, sent when it is durable. `value` is the results of the statements, or
 * the procedure's result.
 */
export type Reply = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly code: StoreErrorCode; readonly message: string } }
)

/** Messages from a thread of the store: it is open, a result, or another process has written. */
export type FromThread =
  | { readonly opened: true }
  | { readonly replies: readonly Reply[] }
  | { readonly changed: true }

/** The writer's changes since the last call. */
export interface Changes {
  /**
   * Whether nothing else has changed: false the first time, and if another process has written
   * meanwhile.
   */
  readonly whole: boolean
  /** The changeset for `Connection.applyChanges`; empty if there are no changes. */
  readonly changes: Uint8Array
}

/** Messages to a thread of the store. `takeChanges` is answered with `Changes`. */
export type ToThread =
  | { readonly tasks: readonly Task[] }
  | { readonly takeChanges: number }
  | { readonly close: true }
