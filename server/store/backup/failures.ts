// Says why a backup or a restore failed, to the operator.
import { SetupError, codeOf } from '../../common/errors.ts'
import { StoreError } from '../store-error.ts'
import { isDiskFull } from '../transient-errors.ts'

/** Why a file or an object could not be read: `ENOENT`, `Access Denied`. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof StoreError ? message : (codeOf(error) ?? message)
}

/** Runs work that writes into `folder`. @throws SetupError if its disk is full */
export async function filling<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isDiskFull(error) && !(error instanceof StoreError && error.code === 'full')) throw error
    throw new SetupError(`The disk of ${folder} is full.`, { cause: error })
  }
}
