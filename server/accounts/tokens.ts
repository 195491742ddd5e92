// API tokens: created and shown once, listed, revoked, and checked at each request.
import { sql } from 'kysely'
import { isoTime } from '../common/clock.ts'
import { Problem } from '../common/errors.ts'
import { newId } from '../common/ids.ts'
import {
  displayPrefix,
  createSecret,
  matchesHash,
  parsePublicId,
} from '../common/issued-secrets.ts'
import type { Store } from '../store/store.ts'
import { procedure, run } from '../store/procedure.ts'
import type { AccountRow, TokenRow } from '../store/schema.ts'
import { findOrCreateAccount, type NewAccount } from './accounts.ts'

/** TABLE of scopes: what a token gives access to. */
export const SCOPES = {
  convert: 'convert files and read the jobs of the account',
  manage: 'manage tokens, keys, credentials and accounts, and read their usage',
  mint: "create short-lived child keys of the account's keys, and nothing else",
} as const

/** Name of a scope. */
export type Scope = keyof typeof SCOPES

/** An API token as the API shows it. */
export interface Token {
  id: string
  object: 'token'
  name: string
  /** The public beginning of the token, for display. */
  prefix: string
  account_id: string
  scopes: Scope[]
  status: 'active' | 'expired' | 'revoked'
  created_at: string
  expires_at: string | null
  last_used_at: string | null
}

/** A new token with its secret, which is shown once. */
export type NewToken = Token & { secret: string }

/** An authenticated caller. */
export interface Caller {
  readonly account: AccountRow
  /** The API token, or the dashboard session, it authenticated with. */
  readonly tokenId: string | null
  readonly sessionId: string | null
  readonly scopes: readonly Scope[]
}

/** How much `last_used_at` may lag, to save a write per request. */
const LAST_USED_STEP_MS = 60_000

/** Stores a token, and its account if that is new. Returns the account. */
export const issue = procedure(
  import.meta.url,
  'issue',
  function* (db, { account, token }: { account: NewAccount; token: Omit<TokenRow, 'account_id'> }) {
    const owner = yield* findOrCreateAccount(db, account)
    yield* run(db.insertInto('tokens').values({ ...token, account_id: owner.id }))
    return owner
  },
)

/**
 * Creates a token for the selected account, and the account if it does not exist.
 *
 * @param account its name, or null for the first account; and its plan if it is created
 */
export async function createToken(
  store: Store,
  account: { name: string | null; plan: string },
  wanted: { name: string; scopes: readonly Scope[]; expiresAt: number | null },
  now: number,
): Promise<{ token: NewToken; account: AccountRow }> {
  const { secret, publicId, hash } = createSecret('tmt')
  const row: Omit<TokenRow, 'account_id'> = {
    id: newId('tok', now),
    name: wanted.name,
    public_id: publicId,
    hash,
    scopes: wanted.scopes.join(' '),
    expires_at: wanted.expiresAt,
    revoked_at: null,
    created_at: now,
    last_used_at: null,
  }
  const owner = await store.run(issue, {
    account: { ...account, newId: newId('acc', now), now },
    token: row,
  })
  return { token: { ...showToken({ ...row, account_id: owner.id }, now), secret }, account: owner }
}

/** Filter of a list of tokens. */
export interface TokenFilter {
  /** One of these. */
  status?: readonly Token['status'][] | undefined
  /** Part of the name. */
  search?: string | undefined
}

/**
 * An account's tokens (every account's with null), newest first, after `cursor` (the id of the last
 * one seen).
 */
export async function listTokens(
  store: Store,
  account: string | null,
  limit: number,
  cursor: string | undefined,
  now: number,
  filter: TokenFilter = {},
): Promise<Token[]> {
  let query = matching(store, account, filter, now).selectAll().orderBy('id', 'desc').limit(limit)
  if (cursor !== undefined) query = query.where('id', '<', cursor)
  return (await query.execute()).map((row) => showToken(row, now))
}

/** Number of tokens that match a filter. */
export async function countTokens(
  store: Store,
  account: string | null,
  filter: TokenFilter,
  now: number,
): Promise<number> {
  return Number(
    (
      await matching(store, account, filter, now)
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirst()
    )?.count ?? 0,
  )
}

function matching(
  store: Store,
  account: string | null,
  { status, search = '' }: TokenFilter,
  now: number,
) {
  let query = store.db.selectFrom('tokens')
  if (account !== null) query = query.where('account_id', '=', account)
  if (search !== '')
    query = query.where(
      sql<boolean>`lower(name) like ${`%${search.replaceAll(/[\\%_]/g, '\\$&').toLowerCase()}%`} escape '\\'`,
    )
  if (status === undefined) return query
  return query.where((e) => {
    const stays = e('revoked_at', 'is', null)
    const is = {
      revoked: e('revoked_at', 'is not', null),
      expired: e.and([stays, e('expires_at', '<=', now)]),
      active: e.and([stays, e.or([e('expires_at', 'is', null), e('expires_at', '>', now)])]),
    }
    return e.or(status.map((one) => is[one]))
  })
}

/** Deletes a token permanently; records created with it stay. @throws Problem `token_not_found` */
export async function purgeToken(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<void> {
  await getToken(store, id, account, now)
  await store.db.deleteFrom('tokens').where('id', '=', id).execute()
}

/**
 * @throws Problem `token_not_found` if there is no such token, or (with `account`) it belongs to
 *   another account
 */
export async function getToken(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<Token> {
  const row = await store.db
    .selectFrom('tokens')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || (account !== null && row.account_id !== account)) {
    throw new Problem(
      'token_not_found',
      'No API token of this account has this id. GET /api/v1/tokens lists them.',
    )
  }
  return showToken(row, now)
}

/**
 * Revokes a token permanently. Revoking it again changes nothing.
 *
 * @throws Problem `token_not_found`
 */
export async function revokeToken(
  store: Store,
  id: string,
  account: string | null,
  now: number,
): Promise<Token> {
  await getToken(store, id, account, now)
  await store.db
    .updateTable('tokens')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return getToken(store, id, account, now)
}

/**
 * Authenticates a caller by its `Authorization` header (RFC 6750, section 2.1). Malformed tokens
 * cost no query.
 *
 * @throws Problem `invalid_token`; only for a real token does its sentence say why it does not work
 */
export async function authenticate(
  store: Store,
  authorization: string | undefined,
  now: number,
): Promise<Caller> {
  const secret = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (secret === undefined)
    throw invalidToken('Send an API token in the header "Authorization: Bearer <API_TOKEN>".')
  if (secret.startsWith('tmk_'))
    throw invalidToken(
      'This is a proxy key, which works only under /proxy. Send an API token, which begins with tmt_.',
    )
  const publicId = parsePublicId('tmt', secret)
  const row =
    publicId === undefined
      ? undefined
      : await store.db
          .selectFrom('tokens')
          .selectAll()
          .where('public_id', '=', publicId)
          .executeTakeFirst()
  if (!row || !matchesHash(secret, row.hash))
    throw invalidToken('The API token is not valid. Check that it was copied completely.')
  if (row.revoked_at !== null)
    throw invalidToken('The API token has been revoked. Use another one.')
  if (row.expires_at !== null && row.expires_at <= now)
    throw invalidToken('The API token has expired. Create a new one.')
  const account = await store.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', row.account_id)
    .executeTakeFirstOrThrow()
  if (account.disabled === 1)
    throw invalidToken('The account of this API token is disabled. An administrator can enable it.')
  recordUse(store, row, now)
  return { account, tokenId: row.id, sessionId: null, scopes: parseScopes(row) }
}

/** Records that a token is in use, at most once a minute, in the background. */
function recordUse(store: Store, { id, last_used_at }: TokenRow, now: number): void {
  if (last_used_at !== null && now - last_used_at < LAST_USED_STEP_MS) return
  const note = store.db.updateTable('tokens').set({ last_used_at: now }).where('id', '=', id)
  note.execute().catch(() => {})
}

function invalidToken(detail: string): Problem {
  return new Problem('invalid_token', detail)
}

function parseScopes(row: TokenRow): Scope[] {
  return row.scopes.split(' ').filter((word): word is Scope => word in SCOPES)
}

function showToken(row: TokenRow, now: number): Token {
  const expired = row.expires_at !== null && row.expires_at <= now
  return {
    id: row.id,
    object: 'token',
    name: row.name,
    prefix: displayPrefix('tmt', row.public_id),
    account_id: row.account_id,
    scopes: parseScopes(row),
    status: row.revoked_at !== null ? 'revoked' : expired ? 'expired' : 'active',
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
    last_used_at: isoTime(row.last_used_at),
  }
}
