// A child key is never wider than its parent. This is checked when the child is created; its rights
// are computed from both rows whenever one of them changes, so narrowing a parent later also
// narrows its children.
import type { CachedKey, ChildParts } from './cached-key.ts'
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
 * Maximum of (characters in the child's entries × patterns of its parent): a few milliseconds of
 * comparing. It runs in a transaction that blocks the requests of all keys.
 */
const MAX_COMPARED = 500_000

/** The child's restrictions that are wider than its parent's. Null in a child inherits. */
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
          'Are too many to compare with the patterns of the parent key. Send fewer entries, or the same entries as the parent key.',
      },
    ]
  const { allows } = compileScope(models)
  const isInside = compileInside(models)
  return others
    .filter(([, entry]) => !allows([entry]) && !isInside(entry))
    .map(([at]) => ({
      param: `models.${at}`,
      detail: 'Is not covered by the models of the parent key. Name models that it may use.',
    }))
}

/**
 * The effective rights of a child: what both it and its parent allow. It has its parent's id, so it
 * counts and owns objects as its parent.
 *
 * @param secretEnd when the parent's secret that the child depends on ends; null: never
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
    patterns: one.patterns + other.patterns,
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
