// What the callers of a benchmark open its server with.
import { createToken } from '../../server/accounts/tokens.ts'
import { createKey, type KeyWishes } from '../../server/keys/keys.ts'
import { openStore } from '../../server/store/open.ts'

/** Makes an account of this plan in a data folder's store, with a token for the whole API and a proxy key; their texts. */
export async function makeSecrets(data: string, plan: string, wishes: Partial<KeyWishes> = {}): Promise<{ token: string; key: string }> {
  const now = Date.now()
  await using store = await openStore({ data, databaseUrl: null, now })
  const { account, token } = await createToken(store, { name: 'bench', plan }, { name: 'bench', scopes: ['manage', 'convert'], expiresAt: null }, now)
  const key = await createKey(store, account.id, { name: 'bench', models: null, rpm: null, allowed_origins: null, expires_at: null, ...wishes }, now)
  return { token: token.secret, key: key.secret }
}
