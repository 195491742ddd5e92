// A stored object of a provider's, and how names and addresses tell which.

/**
 * A stored object of the provider's: which credential made it, and to which key it belongs, is the
 * ledger's business.
 */
export interface ObjectRef {
  readonly kind: string
  /** The last segment of the provider's name for it (`files/abc` and `abc` are one file). */
  readonly id: string
  /**
   * Whether a key with `objects: own` may name it without an owner. Default: only if it is an item,
   * or public.
   */
  readonly mayBeUnknown?: boolean
}

/**
 * Before a kind: the place has the name that a caller chooses for a new object. It may be unowned,
 * but not another key's.
 */
export const NEW = 'new '
/**
 * In place of a created kind: the place has the version, and only the first version means that the
 * object is new.
 */
export const VERSION = 'version'

/**
 * An id as JSON gives it: a text, or a number, which counts as its decimal text (parseJson keeps
 * long ones exactly); null for anything else.
 */
export const idOf = (value: unknown): string | null =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : null

/** The kind that a place is about. */
export const plainKind = (kind: string): string =>
  kind.startsWith(NEW) ? kind.slice(NEW.length) : kind

/** Scheme and authority of an address (RFC 3986), also without a scheme; or of a data URL. */
const AUTHORITY = /^(?:(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)|data:)/i
/**
 * The APIs that name objects by their address as well: https://ai.google.dev/api/files,
 * https://docs.x.ai/docs/api-reference, https://www.assemblyai.com/docs/api-reference/files/upload.
 */
const ADDRESSED =
  /(?:^|[.@-])(?:generativelanguage(?:\.\w+)*\.googleapis\.com|api\.x\.ai|cdn\.assemblyai\.com)\.?(?::\d*)?$/i

/**
 * The object that a provider calls by this name or address: its kind and the name's last segment,
 * decoded, without a verb (`:download`), a query, or slashes at its end. The id is `''` where it
 * names none: an address of something else.
 */
export function objectRef(kind: string, name: string): ObjectRef {
  const text = plainAddress(name.includes('%') ? decodedFully(name) : name).trim()
  const address = AUTHORITY.exec(text)
  if (address !== null && !ADDRESSED.test(address[1] ?? '')) return { kind, id: '' }
  const path = address === null ? text : text.slice(address[0].length)
  const plain = path
    .replace(address === null ? /[?#].*$/s : /[:?#].*$/s, '')
    .replace(/\/+$/, '')
    .replace(/\/content$/, '')
  return { kind, id: plain.slice(plain.lastIndexOf('/') + 1) }
}

/**
 * Scheme and host of an address as parsers of addresses read them
 * (https://url.spec.whatwg.org/#concept-basic-url-parser).
 */
const SPELLED_ADDRESS = /^\s*(?:[a-z][a-z0-9+.-]*:)?[\\/]{2,}[^?#]*/i

/**
 * An address, normalised like URL parsers do: tabs, line breaks, backslashes, repeated slashes,
 * wide letters and dots. Any other text unchanged.
 */
export function plainAddress(text: string): string {
  if (!/[\\/]{2}/.test(text)) return text
  const joined = text.replaceAll(/[\t\n\r]/g, '')
  const address = SPELLED_ADDRESS.exec(joined)
  if (address === null) return text
  const plain = address[0]
    .replaceAll('\\', '/')
    .replace(/\/{2,}/, '//')
    .replaceAll('。', '.')
    .normalize('NFKC')
  return plain + joined.slice(address[0].length)
}

/** A text decoded until nothing changes, as far as it can be: some servers decode twice. */
export function decodedFully(text: string): string {
  for (let round = 0; round < 4 && text.includes('%'); round++) {
    try {
      text = decodeURIComponent(text)
    } catch {
      break
    }
  }
  return text
}

/** Extensions that frameworks take for a format: `json`, `md`. */
const FORMAT = /^[a-z]\w{0,5}$/i

/** An id or segment without a format behind it (`file-x.json`), and without dots at its end. */
export function withoutFormat(id: string): string {
  let end = id.length
  while (end > 0 && id[end - 1] === '.') end--
  const dot = id.lastIndexOf('.', end - 1)
  return id.slice(0, dot > 0 && FORMAT.test(id.slice(dot + 1, end)) ? dot : end)
}

/**
 * A name of a key or parameter as a lenient server reads it: `uploadId`, `Upload-ID` and
 * `upload_id[]` are one.
 */
export const looseName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
