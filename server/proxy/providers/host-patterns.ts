// Patterns of hosts: exact ones, those that a credential completes (`{resource}.openai.azure.com`),
// and families in which callers may name any host (`*.fal.media`, `<deployment>.api.baseten.co`).
import { HOST_PART } from '../../config/setting-kinds.ts'
import type { ProviderRow } from './provider.ts'

/** A part of one DNS label, so that no value can name another host. */
const LABEL_PART = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?'

const isFamily = (pattern: string): boolean => /[*<]/.test(pattern)

/** A pattern as a regular expression whose groups are the parts in angle brackets. */
const regexpOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll('.', String.raw`\.`)
      .replaceAll('*', LABEL_PART)
      .replaceAll(/<(\w+)>/g, `(?<$1>${LABEL_PART})`)
      .replaceAll(/\{\w+\}/g, LABEL_PART)}$`,
  )

/** Whether a host matches one of these patterns, with any values of a credential. */
export const isOneOf = (host: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => regexpOf(pattern).test(host))

/** The names of the values that a provider's host patterns need; a credential must have each. */
export const hostValues = ({ hosts }: Pick<ProviderRow, 'hosts'>): string[] => [
  ...new Set(hosts.flatMap((pattern) => pattern.match(/(?<=\{)\w+(?=\})/g) ?? [])),
]

/** A concrete host, and the values that it was made with. */
export interface ExactHost {
  readonly host: string
  readonly instance: Readonly<Record<string, string>>
}

/**
 * A host pattern filled with every known set of values; a pattern without values is one host, and a
 * family is none.
 */
export function exactHosts(
  pattern: string,
  instances: readonly Readonly<Record<string, string>>[],
): ExactHost[] {
  if (isFamily(pattern)) return []
  if (!pattern.includes('{')) return [{ host: pattern, instance: {} }]
  return instances.flatMap((values) => {
    let complete = true
    const host = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name]?.toLowerCase() ?? ''
      // Only one label, so that a setting cannot name another host.
      if (!HOST_PART.test(value)) complete = false
      return value
    })
    return complete ? [{ host, instance: values }] : []
  })
}

/** Hosts that are not listed individually. */
export interface HostFamily {
  /** The named parts of a host; null if it does not match the pattern. */
  partsOf(host: string): Readonly<Record<string, string>> | null
}

/** The family that a pattern describes; null for one that describes exact hosts. */
export function hostFamily(pattern: string): HostFamily | null {
  if (!isFamily(pattern)) return null
  const regexp = regexpOf(pattern)
  return {
    partsOf: (host) => {
      const found = regexp.exec(host)
      return found && { ...found.groups }
    },
  }
}
