// Credentials for the callers of a benchmark.
import { createToken } from '../../server/accounts/tokens.ts'
import type { NewKey } from '../../server/keys/key-record.ts'
import { createKey, type KeyInput } from '../../server/keys/keys.ts'
import { openStore } from '../../server/store/open.ts'

export interface Secrets {
  account: string
  /** An API token with every scope. */
  token: string
  keys: NewKey[]
}

/**
 * Makes an account of this plan, which is its name too, in a data folder's store, with a token and
 * some keys.
 */
export async function makeKeys(
  data: string,
  plan: string,
  wishes: readonly Partial<KeyInput>[],
): Promise<Secrets> {
  const now = Date.now()
  await using store = await openStore({ data, databaseUrl: null, now })
  const { account, token } = await createToken(
    store,
    { name: plan, plan },
    { name: 'bench', scopes: ['manage', 'convert'], expiresAt: null },
    now,
  )
  const keys: NewKey[] = []
  for (const wish of wishes)
    keys.push(
      await createKey(
        store,
        account.id,
        {
          name: 'bench',
          models: null,
          rpm: null,
          allowed_origins: null,
          expires_at: null,
          ...wish,
        },
        now,
      ),
    )
  return { account: account.id, token: token.secret, keys }
}

/**
 * Creates an account on this plan in a data folder's store, with an API token and a proxy key.
 * @returns their secrets
 */
export async function makeSecrets(
  data: string,
  plan: string,
  wishes: Partial<KeyInput> = {},
): Promise<{ token: string; key: string }> {
  const { token, keys } = await makeKeys(data, plan, [wishes])
  return { token, key: keys[0]!.secret }
}
