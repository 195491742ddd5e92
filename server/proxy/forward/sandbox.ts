// Keeps browsers from running a response with our origin.
import { valuesOf, without, type RawHeaders } from '../../http1/header-fields.ts'

/**
 * Prevents a browser that opens a response as a page from giving it our origin, or guessing its
 * type.
 */
export const SANDBOX: readonly string[] = [
  'Content-Security-Policy',
  'sandbox',
  'X-Content-Type-Options',
  'nosniff',
]

/**
 * Types that a browser never renders as a page: data and media, except XML. Any other type might be
 * a page, and so might a missing type, or two types, of which browsers use the last.
 */
const HARMLESS_TYPE =
  /^(?:application\/(?:json|jsonl|x-ndjson|octet-stream)|text\/event-stream|(?:audio|video|image)\/(?!svg|[\w.+-]*xml)[\w.+-]+)[ \t]*(?:;[^,]*)?$/i

/** Whether a browser that opens a response shows it without running it. */
export function isHarmless(headers: RawHeaders): boolean {
  const types = valuesOf(headers, 'content-type')
  const [type] = types
  return type !== undefined && types.length === 1 && HARMLESS_TYPE.test(type)
}

/** Adds the sandbox. The provider's own value is dropped, because only the first of two counts. */
export const withSandbox = (headers: RawHeaders): RawHeaders => [
  ...without(headers, 'x-content-type-options'),
  ...SANDBOX,
]
