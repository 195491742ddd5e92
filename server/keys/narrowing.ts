// A child key is never wider than its parent. The request for it is checked when it is made; its
// rights are computed from both rows whenever one of them changes, so narrowing a parent later also
// narrows its children.
import type { CachedKey } from './cached-key.ts'
import { compileInside, compileScope, isPattern, type Scope } from './scope.ts'

/** The parts of a key that a child can narrow; null is unrestricted. */
export interface Restrictions {
  readonly models: readonly string[] | null
  readonly rpm: number | null
  readonly allowed_origins: readonly string[] | null
}

/** A field in which a child would be wider than its parent: its path, and a sentence. */
export interface Widening {
  readonly param: string
  readonly detail: string
}

/**
 * Most characters of a child's entries that are compared, times its parent's patterns: some
 * milliseconds. It happens in a transaction, behind which the requests of all keys wait.
 */
const MAX_COMPARED = 500_000

/** The child's restrictions that exceed its parent's. Null in a child inherits. */
export function wideningsOf(child: Restrictions, parent: Restrictions): Widening[] {
  const { models, rpm, allowed_origins } = parent
  const found = models === null ? [] : modelWidenings(child.models ?? [], models)
  if (child.rpm !== null && rpm !== null && child.rpm > rpm)
    found.push({ param: 'rpm', detail: `Must be at most ${rpm}, the limit of the parent key.` })
  for (const [at, origin] of (child.allowed_origins ?? []).entries())
    if (allowed_origins !== null && !allowed_origins.includes(origin))
      found.push({
        param: `allowed_origins.${at}`,
        detail: 'Is not among the allowed origins of the parent key.',
      })
  return found
}

function modelWidenings(asked: readonly string[], models: readonly string[]): Widening[] {
  const own = new Set(models)
  const others = [...asked.entries()].filter(([, entry]) => !own.has(entry))
  const characters = others.reduce((sum, [, entry]) => sum + entry.length, 0)
  if (characters * models.filter(isPattern).length > MAX_COMPARED)
    return [
      {
        param: 'models',
        detail:
          'Are too many to compare with the patterns of the parent key. Name fewer, or write them as the parent key has them.',
      },
    ]
  const { allows } = compileScope(models)
  const isInside = compileInside(models)
  return others
    .filter(([, entry]) => !allows([entry]) && !isInside(entry))
    .map(([at]) => ({
      param: `models.${at}`,
      detail: 'Is not inside the models of the parent key. Name models that it may use.',
    }))
}

/** A child key by itself: its own restrictions, without its parent's. */
export interface ChildParts {
  readonly id: string
  readonly endUser: string | null
  readonly scope: Scope
  readonly rpm: number | null
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly providers: ReadonlySet<string> | null
  readonly expiresAt: number
  readonly disabled: boolean
  readonly revoked: boolean
}

/**
 * The effective rights of a child: those of both it and its parent. It counts and owns objects as
 * its parent, whose id it has.
 *
 * @param secretEnd when the secret of the parent ends that the child ends with; null: never
 */
export function narrowKey(
  parent: CachedKey,
  child: ChildParts,
  secretEnd: number | null,
): CachedKey {
  return {
    ...parent,
    scope: bothScopes(parent.scope, child.scope),
    allowedOrigins: bothSets(parent.allowedOrigins, child.allowedOrigins),
    providers: bothSets(parent.providers, child.providers),
    expiresAt: Math.min(child.expiresAt, parent.expiresAt ?? Infinity, secretEnd ?? Infinity),
    disabled: parent.disabled || child.disabled,
    revoked: parent.revoked || child.revoked,
    child: {
      id: child.id,
      endUser: child.endUser,
      rpm: child.rpm === null ? null : Math.min(child.rpm, parent.rpm ?? Infinity),
    },
  }
}

function bothScopes(one: Scope, other: Scope): Scope {
  if (one.all) return other
  if (other.all) return one
  return {
    all: false,
    anyName: one.anyName && other.anyName,
    allows: (spellings) => one.allows(spellings) && other.allows(spellings),
    inside: (patterns) => other.inside(one.inside(patterns)),
  }
}

function bothSets(
  one: ReadonlySet<string> | null,
  other: ReadonlySet<string> | null,
): ReadonlySet<string> | null {
  if (one === null) return other
  return other === null ? one : one.intersection(other)
}
