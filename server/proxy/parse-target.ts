// Parses the raw target of a proxied request into an upstream address, or refuses it. Step 1 of
// pipeline.ts. `/proxy?url=<address>` and `/proxy/<host>/<path>?<query>` are two spellings of one
// address, with the same rules.
import { addressContainsKey, type QueryCredential } from './authenticate-request.ts'

/** The address that a caller named, ready to be matched and sent. */
export interface UpstreamAddress {
  readonly protocol: 'https:'
  /**
   * In lower case and punycode, as in `new URL`. A trailing dot is kept (so it matches no
   * provider).
   */
  readonly hostname: string
  readonly port: number
  /** The exact request target for the upstream, without credentials of the caller's query. */
  readonly pathAndQuery: string
  /** The credentials in the caller's query. */
  readonly queryCredentials: readonly QueryCredential[]
}

/** The upstream that a target names, or a sentence with the reason why it names none. */
export type Target =
  | { readonly ok: true; readonly upstream: UpstreamAddress }
  | { readonly ok: false; readonly message: string }

/**
 * How a target names its upstream: in the parameter `url`, or after `/proxy/`, as clients with a
 * base URL do.
 */
export type TargetForm = 'parameter' | 'base-url'

/** Longest address that is parsed, in characters; Node's own limit on a request line is 16 KiB. */
const MAX_ADDRESS_LENGTH = 16_384
/**
 * Limits of a path and a query: several times those of any provider's address, including signed
 * download addresses. Classifying one, and looking for ids in it, costs up to 10 µs per segment or
 * parameter, which is not charged to the request.
 */
const MAX_PATH = 2_048
const MAX_SEGMENTS = 64
const MAX_PARAMETERS = 256

// The characters of a path (RFC 3986 pchar and "/"): none that WHATWG URL parsing would rewrite. A
// query may have more.
const PATH = /^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/
const QUERY = /^[!$-;=?-[\]^-~]*$/
/** Printable ASCII without a space. */
export const PRINTABLE = /^[\u0021-\u007e]*$/
const BAD_PERCENT = /%(?![0-9A-Fa-f]{2})/
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/**
 * Query parameters that carry a caller's own upstream credential, in every provider's spelling
 * (compared in lower case).
 */
const CREDENTIAL_PARAMETERS = new Set([
  'key',
  'access_token',
  'oauth_token',
  'api_key',
  'api-key',
  'subscription-key',
])

/** Further parameters in which clients of the provider at an origin send a key, in lower case. */
export type KeyParametersOf = (hostname: string, port: number) => readonly string[]

const NO_PARAMETERS: readonly string[] = []
const noParameters: KeyParametersOf = () => NO_PARAMETERS

const invalid = (message: string): Target => ({ ok: false, message })

/**
 * Our own path before the named address; also in absolute form (RFC 9112, section 3.2.2), whose
 * host may not be empty, nor follow a user's name (RFC 9110, section 4.2).
 */
const OWN_PATH = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#@]+)?\/proxy(?=[/?]|$)/

/** Whether a raw request target is addressed to the proxy. */
export const isProxyTarget = (target: string): boolean => OWN_PATH.test(target)

/** The part after our own path in a raw request target: `''`, `?…` or `/…`. */
export const afterProxyPath = (target: string): string => target.replace(OWN_PATH, '')

/** The form of a target, by the part after our own path. */
export const targetForm = (target: string): TargetForm =>
  afterProxyPath(target).startsWith('/') ? 'base-url' : 'parameter'

/**
 * Reads the target of a proxy request.
 * @param target the raw request target, undecoded
 */
export function readTarget(target: string, keyParametersOf = noParameters): Target {
  if (!PRINTABLE.test(target))
    return invalid(
      'The request target has a space, a control character or a raw non-ASCII byte. Percent-encode it.',
    )
  const named = afterProxyPath(target)
  return named.startsWith('/')
    ? readBaseUrl(named.slice(1), keyParametersOf)
    : readParameter(named.slice(1), keyParametersOf)
}

/** Reads `<host>/<path>?<query>`. It is not decoded: its spelling is the upstream's own. */
function readBaseUrl(named: string, keyParametersOf: KeyParametersOf): Target {
  if (/^proxy\/?\?/.test(named))
    return invalid(
      'The path has /proxy twice. Client packages add it themselves: leave it out of `proxyUrl`.',
    )
  if (!/^[^/?]+\//.test(named))
    return invalid(
      'The target names no upstream address. Use /proxy/<host>/<path> or /proxy?url=<upstream address>.',
    )
  if (named.length > MAX_ADDRESS_LENGTH)
    return invalid(`The upstream address is longer than ${MAX_ADDRESS_LENGTH} characters.`)
  return readAddress(`https://${named}`, keyParametersOf)
}

/**
 * Reads `url=<address>`: one parameter, whose value is decoded once. @param search what follows the
 * `?`, undecoded
 */
function readParameter(search: string, keyParametersOf: KeyParametersOf): Target {
  const parameters = search.split('&')
  const named = parameters.filter((parameter) => parameter.startsWith('url='))
  if (named.length === 0)
    return invalid(
      'The query parameter `url` is missing. Use /proxy?url=<upstream address>, or /proxy/<host>/<path>.',
    )
  if (named.length > 1) return invalid('There is more than one query parameter `url`.')
  if (parameters.length > 1) {
    return invalid(
      'Only the query parameter `url` is allowed. If the extra parameters belong to the upstream address, percent-encode that address ' +
        'as a whole, so that its `&` becomes `%26`.',
    )
  }
  const raw = search.slice('url='.length)
  if (raw.length > MAX_ADDRESS_LENGTH)
    return invalid(`The upstream address is longer than ${MAX_ADDRESS_LENGTH} characters.`)
  let address: string
  try {
    address = decodeURIComponent(raw)
  } catch {
    return invalid('The query parameter `url` is not valid percent-encoding.')
  }
  return readAddress(address, keyParametersOf)
}

/** Reads an address that has been decoded once; also used for the `Location` of a redirect. */
export function readAddress(address: string, keyParametersOf = noParameters): Target {
  if (!address.startsWith('https://'))
    return invalid(
      'The upstream address must begin with https:// (and be percent-encoded at most once).',
    )
  if (CONTROL.test(address)) return invalid('The upstream address has a control character.')
  if (/[\s\\]/.test(address))
    return invalid(
      'The upstream address has a space or a backslash. Encode a space as %20 before encoding the address as a whole.',
    )
  if (address.includes('#'))
    return invalid('The upstream address has a fragment (#…), which no server ever receives.')

  const rest = address.slice('https://'.length)
  const cut = rest.search(/[/?]/)
  const authority = cut < 0 ? rest : rest.slice(0, cut)
  const host = readAuthority(authority)
  if (typeof host === 'string') return invalid(host)

  // Non-ASCII characters are encoded as every URL parser does.
  if (rest[cut] !== '/')
    return invalid('The upstream address has no path. Name an endpoint: https://<host>/<path>.')
  const tail = rest.slice(cut).replace(/[\u0080-\uffff]+/g, encodeURIComponent)
  const question = tail.indexOf('?')
  const path = question < 0 ? tail : tail.slice(0, question)
  const query = question < 0 ? null : tail.slice(question + 1)
  if (path.length > MAX_PATH || count(path, '/') > MAX_SEGMENTS)
    return invalid(
      `The path of the upstream address has more than ${MAX_PATH} characters or ${MAX_SEGMENTS} segments.`,
    )
  if (query !== null && count(query, '&') + count(query, ';') >= MAX_PARAMETERS)
    return invalid(`The query of the upstream address has more than ${MAX_PARAMETERS} parameters.`)
  if (!PATH.test(path))
    return invalid('The path of the upstream address has a character that must be percent-encoded.')
  if (query !== null && !QUERY.test(query))
    return invalid(
      'The query of the upstream address has a character that must be percent-encoded.',
    )
  if (BAD_PERCENT.test(tail))
    return invalid(
      'The upstream address has a % that is not followed by two hexadecimal digits. Encode it as %25.',
    )
  if (changesWhenDecodedAgain(path))
    return invalid(
      'The path of the upstream address would change its meaning if it were decoded a second time.',
    )
  const { kept, keys } =
    query === null ? NO_QUERY : withoutCredentials(query, keyParametersOf(host.hostname, host.port))
  const pathAndQuery = kept === null || (kept === '' && query !== '') ? path : `${path}?${kept}`
  if (addressContainsKey(pathAndQuery))
    return invalid(
      'The upstream address contains a proxy key or a token, which would reach the provider. Send the key in the Authorization header.',
    )
  return {
    ok: true,
    upstream: { protocol: 'https:', ...host, pathAndQuery, queryCredentials: keys },
  }
}

function count(text: string, mark: string): number {
  let found = 0
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) found++
  return found
}

/**
 * A host that all parsers spell the same: letters, digits and hyphens, no label in punycode, the
 * last one not a number.
 */
const PLAIN_HOST = /^(?!.*xn--)(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i

/** `host[:port]` → normalised host and port, or a sentence with the reason why it is invalid. */
function readAuthority(authority: string): { hostname: string; port: number } | string {
  if (authority.includes('@')) return 'The upstream address has a user name or password.'
  if (authority.includes('%')) return 'The host of the upstream address is percent-encoded.'
  const parts = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::([1-9][0-9]{0,4}))?$/i.exec(authority)
  if (!parts?.[1])
    return 'The upstream address has no valid host, or its port is not a plain number.'
  const port = parts[2] === undefined ? 443 : Number(parts[2])
  if (port > 65_535) return 'The port of the upstream address is out of range.'
  if (PLAIN_HOST.test(parts[1])) return { hostname: parts[1].toLowerCase(), port }
  const address = `https://${parts[1]}/`
  return URL.canParse(address)
    ? { hostname: new URL(address).hostname, port }
    : 'The upstream address has no valid host.'
}

/**
 * Whether an upstream that decodes the path again would see other segments: encoded dots,
 * backslashes, `?`, `#`, control characters, or an encoded `%`. Only an encoded slash is allowed:
 * an ARN in Bedrock's model segment needs it.
 */
function changesWhenDecodedAgain(path: string): boolean {
  for (const segment of path.split('/')) {
    if (!segment.includes('%')) continue
    let decoded: string
    try {
      decoded = decodeURIComponent(segment)
    } catch {
      return true
    }
    if (CONTROL.test(decoded) || /[\\?#]/.test(decoded) || /%[0-9A-Fa-f]{2}/.test(decoded))
      return true
    if (
      decoded
        .split('/')
        .some((piece) => piece === '.' || piece === '..' || (piece === '' && decoded !== ''))
    )
      return true
  }
  return false
}

/** A query without the caller's credentials. */
interface StrippedQuery {
  /** Null if there is no query. */
  readonly kept: string | null
  readonly keys: readonly QueryCredential[]
}

const NO_KEYS: readonly QueryCredential[] = []
const NO_QUERY: StrippedQuery = { kept: null, keys: NO_KEYS }

/**
 * A query without the parameters in which a caller may send an upstream credential (`key`,
 * `access_token`, …, any case, any percent-encoding) and without Google's system parameters (`$…`).
 * Everything else keeps its bytes and its order.
 *
 * @param further parameters that carry a credential for this provider, and something else for
 *   others
 */
function withoutCredentials(query: string, further: readonly string[]): StrippedQuery {
  const parameters = query.split('&')
  const kept: string[] = []
  const keys: QueryCredential[] = []
  for (const parameter of parameters) {
    const name = parameterName(parameter)
    const isKept =
      !name.startsWith('$') && !CREDENTIAL_PARAMETERS.has(name) && !further.includes(name)
    if (isKept) kept.push(parameter)
    else if (!name.startsWith('$')) keys.push({ name, value: parameterValue(parameter) })
  }
  return kept.length === parameters.length
    ? { kept: query, keys: NO_KEYS }
    : { kept: kept.join('&'), keys }
}

/**
 * A parameter's name in lower case. A lenient server may accept one that is encoded twice, so it is
 * decoded until nothing changes.
 */
function parameterName(parameter: string): string {
  const equals = parameter.indexOf('=')
  let name = equals < 0 ? parameter : parameter.slice(0, equals)
  for (let round = 0; round < 4 && name.includes('%'); round++) {
    try {
      const decoded = decodeURIComponent(name)
      if (decoded === name) break
      name = decoded
    } catch {
      break
    }
  }
  return name.trim().toLowerCase()
}

function parameterValue(parameter: string): string {
  const value = parameter.slice(parameter.indexOf('=') + 1)
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
