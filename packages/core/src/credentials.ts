// Strips credentials from requests: the proxy has the providers' credentials, and callers must not
// send theirs.

/** The `apiKey` to give a provider: it requires one, and the proxy sets the real one. */
export const PROXY_MANAGED = 'proxy-managed'

/** TABLE of headers in which providers expect a credential, in lower case. */
const HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-goog-iam-authorization-token',
  'x-serverless-authorization',
  'ocp-apim-subscription-key',
  'x-amz-security-token',
  'x-amz-date',
  'x-amz-content-sha256',
  'xi-api-key',
  'x-key',
  'x-gladia-key',
  'x-hume-api-key',
])

/** The query parameters in which providers expect a credential. */
const PARAMETER = /^(?:key|access_token|oauth_token|api[_-]key|subscription-key)=/i

/** The headers without credentials, otherwise unchanged and in the same order. */
export function cleanHeaders(init: ConstructorParameters<typeof Headers>[0]): Headers {
  return new Headers(
    [...new Headers(init)].filter(
      ([name, value]) => !HEADERS.has(name) && !value.includes(PROXY_MANAGED),
    ),
  )
}

/**
 * The address without credentials in its query, and without its fragment, which no server receives.
 * It is otherwise unchanged.
 */
export function cleanAddress(href: string): string {
  const [whole = ''] = href.split('#')
  const question = whole.indexOf('?')
  if (question < 0) return whole
  const parameters = whole.slice(question + 1).split('&')
  const kept = parameters.filter(
    (parameter) => !PARAMETER.test(parameter) && !parameter.includes(PROXY_MANAGED),
  )
  if (kept.length === parameters.length) return whole
  return whole.slice(0, question) + (kept.length === 0 ? '' : `?${kept.join('&')}`)
}
