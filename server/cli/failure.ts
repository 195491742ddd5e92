// Failures of commands: their message and exit code.
import {
  SetupError,
  type ErrorCode,
  type FieldError,
  type ProblemDetails,
} from '../common/errors.ts'
import { StoreError } from '../store/store-error.ts'
import { transientProblem } from '../store/transient-errors.ts'

/** TABLE of exit codes, besides 128 + the number of a signal. */
export const EXIT = { done: 0, failed: 1, misuse: 2 } as const

/** The command line itself is wrong: exit code 2, as usual. */
export class Misuse extends Error {
  override name = 'Misuse'
}

/** The API refused a call. `message` is the API's sentence, reworded for the command line. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly problem: ProblemDetails

  /** @param args the command's arguments, as `Command.args`; all other fields are its options */
  constructor(problem: ProblemDetails, args = '') {
    super(errorMessage(problem, args))
    this.problem = problem
  }
}

/** Something failed and was already reported: only the exit code is left to set. */
export class AlreadyReported extends Error {
  override name = 'AlreadyReported'
}

/** Standard output cannot be written. `closed`: the reader closed the pipe (`| head`). */
export class OutputError extends Error {
  override name = 'OutputError'
  readonly closed: boolean

  constructor(code: string, closed = code === 'EPIPE') {
    super(`Standard output cannot be written (${code}).`)
    this.closed = closed
  }
}

/** A failure as `--json` prints it on standard error. */
export interface Failure {
  object: 'error'
  code: string
  detail: string
  errors?: readonly FieldError[] | undefined
  request_id?: string | undefined
}

/** Describes an error; undefined if it is a bug. */
export function toFailure(error: unknown): Failure | undefined {
  if (error instanceof ApiError) {
    const { code, errors, request_id } = error.problem
    return {
      object: 'error',
      code,
      detail: error.message,
      errors,
      request_id: request_id || undefined,
    }
  }
  if (error instanceof Misuse) return { object: 'error', code: 'misuse', detail: error.message }
  if (error instanceof OutputError)
    return { object: 'error', code: 'output_lost', detail: error.message }
  if (error instanceof SetupError) return { object: 'error', code: 'failed', detail: error.message }
  const transient = transientProblem(error)
  if (transient === undefined) return undefined
  // Unlike a caller of the API, the operator can mend the bucket or its credentials.
  const detail =
    error instanceof StoreError && error.code === 'blobs'
      ? `The file store cannot be used: ${error.message.replace(/\.$/, '')}.`
      : transient.detail
  return { object: 'error', code: transient.code, detail }
}

/** Fields of the API whose options have other names. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  allowed_origins: 'origins',
  expires_at: 'expires',
  grace_seconds: 'grace',
}

/** TABLE of sentences that name commands where the API's name routes. */
const COMMAND_SENTENCES: Partial<Record<ErrorCode, string>> = {
  account_not_found: 'No account has this id. "tollmark accounts list" lists them.',
  credential_not_found:
    'No stored credential has this id. "tollmark credentials list" lists them; credentials set in the environment can be changed only there.',
  job_not_found: 'No job of this account has this id. "tollmark jobs list" lists them.',
  key_not_found: 'No key of this account has this id. "tollmark keys list" lists them.',
  token_not_found: 'No API token of this account has this id. "tollmark tokens list" lists them.',
}

/** One line for each invalid field, with its name on the command line; otherwise one sentence. */
function errorMessage({ code, detail, errors = [] }: ProblemDetails, args: string): string {
  if (errors.length === 0) return COMMAND_SENTENCES[code] ?? detail
  return errors
    .map((error) =>
      error.param === '' ? error.detail : `${shownName(error.param, args)}: ${error.detail}`,
    )
    .join('\n')
}

/** `--expires` for an option, `ROLE` for an argument. */
function shownName(param: string, args: string): string {
  const [field = ''] = param.split('.')
  if (args.includes(`<${field}>`)) return field.toUpperCase()
  return `--${(OPTION_NAMES[field] ?? field).replaceAll('_', '-')}`
}
