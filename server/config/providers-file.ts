// The file that TOLLMARK_PROVIDERS names: providers that the operator adds or changes.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { SetupError } from '../common/errors.ts'
import { credential } from './setting-kinds.ts'

const Entry = z.strictObject({
  /** An id of the built-in table changes that row; any other adds one. */
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, - and _'),
  /** What callers name. */
  origin: z.string(),
  /** Where we dial instead. */
  dial: z.string().exactOptional(),
  auth: z.strictObject({ header: z.string(), scheme: z.string().exactOptional() }).exactOptional(),
  /** The environment variable that holds the credential. */
  credential: z.strictObject({ env: z.string() }).exactOptional(),
})

/** A row of the file, and the credential that the environment holds for it. */
export type ProviderEntry = Readonly<z.infer<typeof Entry>> & { readonly secret: string | null }

/**
 * @throws SetupError with a sentence that names the file, or the variable of a credential, and what
 * is wrong in it
 */
export function readProvidersFile(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): ProviderEntry[] {
  const parsed = z.array(Entry).safeParse(readJson(path))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new SetupError(
      `${path} (TOLLMARK_PROVIDERS): ${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'it is not valid'}.`,
    )
  }
  const ids = parsed.data.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined)
    throw new SetupError(`${path} (TOLLMARK_PROVIDERS): "${twice}" stands there twice.`)
  return parsed.data.map((entry) => ({
    ...entry,
    secret: entry.credential ? resolveSecret(entry.credential.env, env) : null,
  }))
}

function resolveSecret(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const secret = env[name]?.trim()
  if (!secret) return null
  if (credential.parse(secret) === undefined)
    throw new SetupError(`${name} must be ${credential.what}.`)
  return secret
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : 'it cannot be read'
    throw new SetupError(
      `The file ${path}, which TOLLMARK_PROVIDERS names, is of no use: ${reason}.`,
      { cause: error },
    )
  }
}
