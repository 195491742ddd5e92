// What a request says of its models and objects where no model is decided about: for the ledger, and for whose objects they are.
import { valuesOf, without } from '../../http/fields.ts'
import { parseJson } from '../json-paths.ts'
import { JsonScanner } from '../json-scanner.ts'
import { queryModels } from '../outside-body.ts'
import { bodyRuleOf, objectRef, type Match, type ObjectRef } from '../providers/endpoint.ts'
import { decodeBody } from './decode.ts'
import { boundaryOf, readFields } from './multipart.ts'
import { fieldRefs, LONGEST_NAME, MOST_NAMED, placesOf, refsIn } from './names.ts'

/** Bytes of a form in which its model is looked for. */
const BEGINNING = 65_536

/**
 * Notes the model of a body while it streams by, for the ledger. It decides nothing, so it is lenient: compressed bodies are not
 * read, and of a multipart body only the beginning is.
 */
export class ModelObserver {
  /** The first model that the request names, or null. */
  model: string | null
  objects: ObjectRef[]
  /** Whether something stood where an object is named that was too long to look at, or too much. */
  unclear = false
  /** Whether it asks the provider to keep the answer. */
  kept = false
  #scanner: JsonScanner | null = null
  #lookalike = false
  #named = 0
  #head: Buffer[] | null = null
  #headLength = 0

  constructor(match: Match, headers: readonly string[], pathAndQuery: string) {
    this.model = match.model ?? queryModels(pathAndQuery)?.[0] ?? null
    this.objects = [...match.objects]
    const rule = bodyRuleOf(match)
    if (rule === null || valuesOf(headers, 'content-encoding').some((encoding) => encoding !== 'identity')) return
    const places = placesOf(rule)
    if (isForm(headers)) {
      if (this.model === null) this.#head = []
      return
    }
    this.#scanner = new JsonScanner(
      places.wanted,
      {
        value: (path, raw) => {
          if (++this.#named > MOST_NAMED) {
            this.unclear = true
            return
          }
          const value = raw && parseJson(raw.toString('utf8'))
          const kind = places.objects.get(path)
          if (kind !== undefined) {
            if (raw === null) this.unclear = true
            else this.objects.push(...refsIn(kind, value))
          }
          if (path === places.keeps?.at) this.kept = places.keeps.by.includes(value)
          else if (typeof value !== 'string') return
          else if (places.required.has(path) || (path === 'model' && this.model === null)) this.model = value
        },
        oddity: (kind, path) => {
          if (kind === 'lookalike' && [...places.objects.keys()].some((place) => place.startsWith(path))) this.#lookalike = true
        },
      },
      { longestValue: LONGEST_NAME },
    )
  }

  /** Whether bytes are still of interest. */
  get watching(): boolean {
    return this.#scanner?.ok === true || this.#head !== null
  }

  write(chunk: Buffer): void {
    this.#scanner?.write(chunk)
    if (!this.#head) return
    this.#head.push(Buffer.from(chunk))
    this.#headLength += chunk.length
    if (this.#headLength > BEGINNING) this.#readHead()
  }

  /** Whether every server reads the same objects in it, once it has ended. */
  get certain(): boolean {
    return this.#scanner === null || (this.#scanner.complete && !this.#lookalike)
  }

  /** Nothing more comes. @returns the model */
  end(): string | null {
    this.#scanner?.end()
    this.#readHead()
    return this.model
  }

  /** Once for all pieces: a caller may send them byte by byte. */
  #readHead(): void {
    if (this.#head) this.model = modelOf(Buffer.concat(this.#head).toString('latin1'))
    this.#head = null
  }
}

/** The model that a form names, whose beginning this is. Searched forwards only: what is searched is the caller's. */
function modelOf(form: string): string | null {
  const name = form.search(/\bname="?model"?\r\n/)
  const blank = name < 0 ? -1 : form.indexOf('\r\n\r\n', name)
  const end = blank < 0 ? -1 : form.indexOf('\r\n', blank + 4)
  const length = end - blank - 4
  return length > 0 && length <= 256 ? Buffer.from(form.slice(blank + 4, end), 'latin1').toString('utf8') : null
}

const typeOf = (headers: readonly string[]): string => valuesOf(headers, 'content-type')[0] ?? ''
const isForm = (headers: readonly string[]): boolean => /^multipart\//i.test(typeOf(headers))

/** Whether a body of this endpoint may name stored objects. Of a form only its fields can. */
export function namesObjects(match: Match, headers: readonly string[]): boolean {
  const rule = bodyRuleOf(match)
  return rule?.objects !== undefined && (!isForm(headers) || placesOf(rule).objectFields.size > 0)
}

/** The stored objects that a whole form names; null where that cannot be known. */
function formObjects(match: Match, headers: readonly string[], body: Buffer): ObjectRef[] | null {
  if (!isForm(headers) || !namesObjects(match, headers)) return []
  const places = placesOf(bodyRuleOf(match)!)
  const boundary = boundaryOf(typeOf(headers))
  const found = boundary === null ? null : readFields(body, boundary, places.objectFields)
  return found?.ok === true ? fieldRefs(places, found.fields) : null
}

/** What could be the name of a stored object: no provider's are shorter. So many different ones are looked for. */
const WORD = /[\w.~-]{6,}/g
const MOST_WORDS = 50_000

/**
 * What a body could name that is no plain JSON, but that a more lenient server might read: whatever in it could be the name of a stored object. Null
 * where that is too much.
 */
function wordObjects(match: Match, body: Buffer): ObjectRef[] | null {
  const kinds = [...new Set(placesOf(bodyRuleOf(match)!).objects.values())]
  // Without its zeros UTF-16 reads as ASCII.
  const text = body.toString('latin1').replaceAll('\0', '').replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  const words = new Set<string>()
  for (const [word] of text.matchAll(WORD)) if (words.add(word).size > MOST_WORDS) return null
  return [...words].flatMap((word) => kinds.map((kind) => objectRef(kind, word)))
}

/**
 * What a body that is held says, for a key without limits on its models: read like one that streams by, after it has been decoded.
 * Null where that cannot be done, so that it is not known whose objects it names. There at once unless the body has to be decoded first.
 */
export function observeHeld(match: Match, headers: readonly string[], pathAndQuery: string, body: Buffer, limit: number): ModelObserver | null | Promise<ModelObserver | null> {
  const observe = (plain: Buffer, about: readonly string[]) => {
    const observer = new ModelObserver(match, about, pathAndQuery)
    observer.write(plain)
    observer.end()
    const others = observer.certain ? formObjects(match, about, plain) : wordObjects(match, plain)
    if (observer.unclear || others === null) return null
    observer.objects = observer.objects.concat(others)
    return observer
  }
  const encodings = valuesOf(headers, 'content-encoding')
  if (encodings[0] === undefined) return observe(body, headers)
  if (encodings.length > 1) return null
  return decodeBody(body, encodings[0], limit).then((plain) => (plain === null ? null : observe(plain, without(headers, 'content-encoding'))))
}
