// Applies the tables of forward/header-rules.ts to requests and responses. Headers are raw lists
// (name, value, name, value, …) as in Node's rawHeaders, so they keep their order, case and
// duplicates.
import { valuesOf, nameAt, valueAt } from '../../http1/header-fields.ts'
import { copyString } from '../../common/copy-string.ts'
import {
  compileRules,
  EXCEPTIONS,
  plainName,
  REQUEST_PATTERNS,
  REQUEST_RULES,
  RESPONSE_RULES,
} from './header-rules.ts'
import { REWRITES, type ResponseContext, type Rewrite } from './rewrite-header.ts'
import { valueContainsKey } from '../authenticate-request.ts'
import type { EndpointRow } from '../providers/endpoint-row.ts'
import type { Provider } from '../providers/provider.ts'
import type { Auth } from '../providers/wire-format.ts'

const isNeverSent = compileRules(REQUEST_RULES)
const readsLikeSecret = compileRules(REQUEST_PATTERNS)
const isNeverReturned = compileRules(RESPONSE_RULES)

/** The decision about a request header. */
interface RequestHeaderRule {
  readonly lower: string
  readonly plain: string
  /** `by-name`: only to a provider whose row names it. */
  readonly forwarded: 'always' | 'by-name' | 'never'
}

/** The decision about a response header. */
interface ResponseHeaderRule {
  readonly lower: string
  readonly forwarded: boolean
  readonly rewrite: Rewrite | undefined
}

/**
 * Number of names remembered in each direction, and their maximum length. When there are more, the
 * cache is emptied.
 */
const MAX_NAMES = 2_000
const MAX_NAME_LENGTH = 64

/**
 * Caches a function of a header's name: every message has the same few names, in the same few
 * spellings.
 */
function memoizeByName<Rule>(ruleOf: (lower: string) => Rule): (name: string) => Rule {
  const rules = new Map<string, Rule>()
  return (name) => {
    const known = rules.get(name)
    if (known !== undefined) return known
    const rule = ruleOf(name.toLowerCase())
    if (name.length <= MAX_NAME_LENGTH) {
      if (rules.size >= MAX_NAMES) rules.clear()
      rules.set(copyString(name), rule)
    }
    return rule
  }
}

const requestRule = memoizeByName((lower): RequestHeaderRule => {
  const plain = plainName(lower)
  const forwarded =
    isNeverSent(plain) || valueContainsKey(lower)
      ? 'never'
      : readsLikeSecret(plain) && !EXCEPTIONS.has(plain)
        ? 'by-name'
        : 'always'
  return { lower, plain, forwarded }
})

const responseRule = memoizeByName((lower): ResponseHeaderRule => ({
  lower,
  forwarded: !isNeverReturned(plainName(lower)),
  rewrite: REWRITES.get(lower),
}))

/** A request header's name in the form of the tables. */
export const normalizedName = (name: string): string => requestRule(name).plain

/** The header names that `Connection` declares to be hop-by-hop; null if there are none. */
function connectionNames(raw: readonly string[]): Set<string> | null {
  let names: Set<string> | null = null
  for (const value of valuesOf(raw, 'connection')) {
    // The usual values name no header that would be forwarded.
    if (value === 'keep-alive') continue
    names ??= new Set()
    for (const name of value.split(',')) names.add(name.trim().toLowerCase())
  }
  // A caller must not be able to remove the framing (RFC 9110, section 7.6.1, lets an intermediary
  // ignore such names).
  for (const name of ['content-length', 'content-type', 'content-encoding']) names?.delete(name)
  return names
}

/** How this endpoint of this provider is authenticated. */
export const authOf = (provider: Provider, endpoint: EndpointRow | null): Auth =>
  endpoint?.auth ?? provider.auth

/**
 * The caller's headers to forward, without any credential: add ours with `withCredential`.
 * `Content-Length` stays; the connection sets `Transfer-Encoding`.
 */
export function requestHeaders(
  raw: readonly string[],
  provider: Provider,
  endpoint: EndpointRow | null = null,
): string[] {
  const named = connectionNames(raw)
  const auth = requestRule(authOf(provider, endpoint).header).plain
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, plain, forwarded } = requestRule(nameAt(raw, i))
    if (forwarded !== 'always' && (forwarded === 'never' || !provider.passes?.includes(lower)))
      continue
    if (
      plain === auth ||
      named?.has(lower) ||
      provider.accountChoice?.includes(plain) ||
      valueContainsKey(valueAt(raw, i))
    )
      continue
    kept.push(nameAt(raw, i), valueAt(raw, i))
  }
  return kept
}

/** The list with our credential added once. */
export function withCredential(raw: readonly string[], auth: Auth, secret: string): string[] {
  return [...raw, auth.header, auth.scheme === undefined ? secret : `${auth.scheme} ${secret}`]
}

/**
 * The upstream's headers for the caller; a `Location` that may be called is rewritten to lead
 * through the proxy again.
 */
export function responseHeaders(raw: readonly string[], context: ResponseContext): string[] {
  const named = connectionNames(raw)
  const account = context.upstream.provider.accountHeaders
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, forwarded, rewrite } = responseRule(nameAt(raw, i))
    if (
      !forwarded ||
      named?.has(lower) ||
      account?.includes(lower) ||
      (context.cors === true && lower.startsWith('access-control-'))
    )
      continue
    const value = rewrite === undefined ? valueAt(raw, i) : rewrite(valueAt(raw, i), context)
    if (value !== null) kept.push(nameAt(raw, i), value)
  }
  return kept
}
