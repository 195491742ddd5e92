// Reads the file that TOLLMARK_PROVIDERS names: providers that the operator adds or changes.
import { z } from 'zod'
import { SetupError } from '../common/errors.ts'
import { credential } from './setting-kinds.ts'
import { readText } from './text-file.ts'

/**
 * Places in a request body, a response or a query, and the kind of stored object that each names.
 */
const Places = z.record(z.string(), z.string())

/** An endpoint of an added provider: the schema of a row, as JSON. */
export const Endpoint = z
  .strictObject({
    on: z
      .string()
      .regex(
        /^(?:(?:GET|POST|PUT|PATCH|DELETE) )+\/[^\s?#]*$/,
        'must be methods and a path, such as "POST /v1/jobs/{job}"',
      ),
    /**
     * Where the model is named: places in the body, the query, headers, or the path's `{model}`.
     */
    model: z
      .union([
        z.enum(['path', 'query', 'stored']),
        z.strictObject({ body: z.array(z.string()).min(1), form: z.boolean().exactOptional() }),
        z.strictObject({ headers: z.array(z.string()).min(1) }),
      ])
      .exactOptional(),
    /** The name used in a key's models if the request names no model: `acme/tts`. */
    name: z.string().min(1).exactOptional(),
    creates: Places.exactOptional(),
    names: Places.exactOptional(),
    asks: Places.exactOptional(),
    uploads: z.enum(['form', 'body']).exactOptional(),
  })
  .refine(({ model, name }) => model === undefined || name === undefined, {
    message: 'has both a model and a name: give one',
  })

/** An endpoint of an added provider, as written in the providers file. */
export type EndpointEntry = Readonly<z.infer<typeof Endpoint>>

/** A path that is closed to every key, with all below. */
export const ClosedPath = z.string().regex(/^\/[^\s?#*{}]*$/, 'must be a path, such as /v1/keys')

/** The most endpoints, or closed paths, of one added provider. */
export const MAX_PATHS = 500

/** What an added provider's API has beyond the one that it speaks. */
export const OWN_API = {
  /** Additional endpoints. */
  endpoints: z.array(Endpoint).max(MAX_PATHS),
  /**
   * Paths that issue credentials, and paths that administer the account: blocked, with everything
   * below them.
   */
  minting: z.array(ClosedPath).max(MAX_PATHS),
  admin: z.array(ClosedPath).max(MAX_PATHS),
}

const Entry = z.strictObject({
  /** An id of the built-in table changes that row; any other adds a row. */
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, - and _'),
  /** The origin that callers name. */
  origin: z.string(),
  /** The address that we dial instead. */
  dial: z.string().exactOptional(),
  auth: z.strictObject({ header: z.string(), scheme: z.string().exactOptional() }).exactOptional(),
  /**
   * The built-in provider whose API it implements, below any path; by default, OpenAI's dialect.
   */
  speaks: z.string().exactOptional(),
  endpoints: OWN_API.endpoints.exactOptional(),
  minting: OWN_API.minting.exactOptional(),
  admin: OWN_API.admin.exactOptional(),
  /** The environment variable that holds the credential. */
  credential: z.strictObject({ env: z.string() }).exactOptional(),
})

/** A row of the file, and its credential from the environment. */
export type ProviderEntry = Readonly<z.infer<typeof Entry>> & { readonly secret: string | null }

/**
 * @throws SetupError with a sentence for every fault: the file or the credential's variable, and
 *   what is wrong
 */
export function readProvidersFile(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): ProviderEntry[] {
  const parsed = z.array(Entry).safeParse(readJson(path), { error: sentenceOf })
  if (!parsed.success)
    throw new SetupError(
      parsed.error.issues
        .map(
          ({ path: at, message }) =>
            `${path} (TOLLMARK_PROVIDERS): ${at.join('.') || 'the whole'}: ${message}.`,
        )
        .join('\n'),
    )
  const ids = parsed.data.map(({ id }) => id)
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
  const faults = twice.map((id) => `${path} (TOLLMARK_PROVIDERS): "${id}" appears twice.`)
  const entries = parsed.data.map((entry) => ({
    ...entry,
    secret: entry.credential ? resolveSecret(entry.credential.env, env, faults) : null,
  }))
  if (faults.length > 0) throw new SetupError(faults.join('\n'))
  return entries
}

/** What is wrong, to follow the place; undefined where the schema says it. */
function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys')
    return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
  if (issue.code === 'invalid_union') return 'must have one of the forms in docs/proxy.md'
  if (issue.code !== 'invalid_type') return undefined
  return issue.input === undefined ? 'is missing' : `must be of the type ${issue.expected}`
}

function resolveSecret(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): string | null {
  const secret = env[name]?.trim()
  if (!secret) return null
  if (credential.parse(secret) === undefined) faults.push(`${name} must be ${credential.what}.`)
  return secret
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readText(path)) as unknown
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : 'it cannot be read'
    throw new SetupError(
      `The file ${path}, which TOLLMARK_PROVIDERS names, cannot be used: ${reason}.`,
      { cause: error },
    )
  }
}
