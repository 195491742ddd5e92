// A document, or a folder of pages, that cannot be written.
import { SetupError } from '../../common/errors.ts'
import { fileErrorReason } from './inputs.ts'

/** The document could not be put where it belongs. */
export class WriteError extends SetupError {}

/** What is said where a file cannot be written. */
export function writeError(output: string, error: unknown): SetupError {
  return new WriteError(`${output} cannot be written: ${fileErrorReason(error)}.`, { cause: error })
}
