// Errors of writing documents and folders of pages.
import { SetupError } from '../../common/errors.ts'
import { fileErrorReason } from './inputs.ts'

/** The output could not be written. */
export class WriteError extends SetupError {}

/** Describes why a file cannot be written. */
export function writeError(output: string, error: unknown): SetupError {
  return new WriteError(`${output} cannot be written: ${fileErrorReason(error)}.`, { cause: error })
}
