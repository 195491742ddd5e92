// Sends errors between processes and threads.
import { codeOf } from '../common/errors.ts'

/** An error as plain data: its stack, and the system's error code if it has one. */
export interface SerializedError {
  readonly stack: string
  readonly errno: string | undefined
}

/** Serializes whatever was thrown. */
export function serializeError(error: unknown): SerializedError {
  return {
    stack:
      error instanceof Error
        ? (error.stack ?? error.message)
        : 'a value that is not an Error was thrown',
    errno: codeOf(error),
  }
}

/**
 * Rebuilds an error with the stack that was sent.
 *
 * @param message must hold no caller's data
 */
export function deserializeError(message: string, { stack, errno }: SerializedError): Error {
  return Object.assign(new Error(message), {
    stack,
    ...(errno === undefined ? {} : { code: errno }),
  })
}
