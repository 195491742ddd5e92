// A stored object of a provider, and how to find it in names and addresses.

/** A stored object of the provider. Its key and credential are in the store. */
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
 * Prefix of a kind: the place has a caller's name for a new object. It may be unowned, but not
 * another key's.
 */
export const NEW = 'new '
/**
 * Instead of a created kind: the place has the version, and only the first version means that the
 * object is new.
 */
export const VERSION = 'version'
/**
 * Instead of a created kind: the place has a citation. If it names a container, code that ran there
 * made the cited file, and both are new; any other cited file existed before.
 * https://platform.openai.com/docs/guides/tools-code-interpreter
 */
export const CITATION = 'citation'

/**
 * An id from a JSON value: a string, or a number as its decimal text (parseJson keeps long ones
 * exactly); null for anything else.
 */
export const idOf = (value: unknown): string | null =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : null

/** The kind at a place, without its prefix. */
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
 * The object that a provider means by this name or address: its kind and the name's last segment,
 * decoded, without a verb (`:download`), a query, or final slashes. The id is `''` if it names
 * none: an address of something else.
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
 * Scheme and host of an address, in the form that URL parsers accept
 * (https://url.spec.whatwg.org/#concept-basic-url-parser).
 */
const SPELLED_ADDRESS = /^\s*(?:[a-z][a-z0-9+.-]*:)?[\\/]{2,}[^?#]*/i

/**
 * An address, normalised like in URL parsers: tabs, line breaks, backslashes, repeated slashes,
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

/** A text decoded until nothing changes, as far as possible, because some servers decode twice. */
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

/** Extensions that frameworks read as a format: `json`, `md`. */
const FORMAT = /^[a-z]\w{0,5}$/i

/** An id or segment without a format suffix (`file-x.json`), and without final dots. */
export function withoutFormat(id: string): string {
  let end = id.length
  while (end > 0 && id[end - 1] === '.') end--
  const dot = id.lastIndexOf('.', end - 1)
  return id.slice(0, dot > 0 && FORMAT.test(id.slice(dot + 1, end)) ? dot : end)
}

/**
 * The name of a key or parameter as a lenient server reads it: `uploadId`, `Upload-ID` and
 * `upload_id[]` are the same.
 */
export const looseName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
