// Errors on their way from another process or thread.
import { codeOf } from '../common/errors.ts'

/**
 * What is left of an error on its way: where it was thrown, and the system's code where it has one.
 * Plain data.
 */
export interface SerializedError {
  readonly stack: string
  readonly errno: string | undefined
}

/** What is sent of an error, whatever was thrown. */
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
 * @param message a sentence without a caller's data: the message of the error, whose stack is the one
 * that was carried
 */
export function deserializeError(message: string, { stack, errno }: SerializedError): Error {
  return Object.assign(new Error(message), {
    stack,
    ...(errno === undefined ? {} : { code: errno }),
  })
}
