// Decides which models a key may use.
//
// An entry of a key's `models` is either a model's exact name, or a pattern in which `*` matches
// any run of characters, including none and including `/` and `:`, but not `#`, after which
// Fireworks names a deployment, nor `,`, at which LiteLLM splits a list of models. Entries are
// case-sensitive. There are no other special characters.
// A model has one or more spellings (`gemini-x` and `models/gemini-x`; a Bedrock ARN and the id at
// its end); each provider's row lists them in `modelNames`, and an entry that matches any one of
// them allows the model:
//
//   Gemini API        gemini-x = models/gemini-x;  a tuned model only as tunedModels/x
//   Vertex            gemini-x = google/gemini-x = publishers/google/models/gemini-x, and likewise
//                     claude-x of anthropic; other publishers stay: meta/llama-x
//   Azure             the name of the deployment
//   Bedrock           the id, also at the end of a foundation-model or inference-profile ARN; the
//                     region prefix of a cross-region profile is part of the name
//                     (us.anthropic.claude-x: write *anthropic.claude-x for all)
//   fal               fal-ai/x = x, where x has no slash
//   Kling AI          kling-v2-6 = kling-v2.6-t2v = kling-v2.6-i2v = kling-v2.6-motion-control
//   Google's speech   en-US-Chirp3-HD-Kore = chirp-3-hd
//   Replicate         an entry owner/x:<digest> also allows the digest alone
//   everybody else    the name exactly as the request's body spells it
//                     (accounts/fireworks/models/x, openai/gpt-x:free)
//
// `null` is all models. An empty list allows none.

/** A compiled list of entries. Immutable; shared by all requests of a key. */
export interface Scope {
  /** True for a key without a list: every model is allowed. */
  readonly all: boolean
  /**
   * Whether `*` is among its entries, so that a request may leave the choice of model to the
   * provider.
   */
  readonly anyName: boolean
  /** The number of patterns that a name is compared with. */
  readonly patterns: number
  /** Whether a model, given by all its spellings, is allowed. */
  allows(spellings: readonly string[]): boolean
  /**
   * Adds entries of a narrower list: they allow only what both this scope and one of the patterns
   * allow.
   */
  inside(patterns: readonly string[]): readonly string[]
}

/** Maximum number of characters of an entry, and of entries of a key. */
export const SCOPE_LIMITS = { entryLength: 256, entries: 500 }

const EVERYTHING: Scope = {
  all: true,
  anyName: true,
  patterns: 0,
  allows: () => true,
  inside: (patterns) => patterns,
}

/**
 * A model's name that is safe to compare with a pattern: printable ASCII without anything that a
 * server might decode, split or resolve. Exact entries are compared unchanged.
 */
const PLAIN = /^(?!.*(?:\.\.|\/\/|@preset))[A-Za-z0-9._:/@#+~=()-]+$/

/**
 * A version named by its digest, which a request may send without the model: Replicate's `version`.
 */
const VERSION = /^[^*]+:([0-9a-f]{64})$/

/** Compiles a key's `models`. Matching is linear in the length of the name for each entry. */
export function compileScope(models: readonly string[] | null): Scope {
  if (models === null) return EVERYTHING
  const exact = new Set<string>()
  const patterns: Pattern[] = []
  for (const entry of models) {
    if (isPattern(entry)) patterns.push(compilePattern(entry))
    else exact.add(entry)
    const digest = VERSION.exec(entry)?.[1]
    if (digest !== undefined) exact.add(digest)
  }
  const allowsOne = (name: string): boolean => {
    if (!PLAIN.test(name)) return false
    const hashes = hashesIn(name)
    return patterns.some((pattern) => pattern.hashes === hashes && fits(pattern.pieces, name))
  }
  return {
    all: false,
    anyName: models.includes('*'),
    patterns: patterns.length,
    allows: (spellings) =>
      spellings.some((name) => exact.has(name)) ||
      (patterns.length > 0 && spellings.some(allowsOne)),
    inside: (wanted) => insideOf(models, wanted),
  }
}

function insideOf(entries: readonly string[], patterns: readonly string[]): string[] {
  const { allows } = compileScope(patterns)
  const isInside = compileInside(patterns)
  const found = [
    ...patterns.filter(compileInside(entries)),
    ...entries.filter((entry) => allows([entry]) || isInside(entry)),
  ]
  return [...new Set(found)]
}

/**
 * An entry with `*`: the text between its stars, and its number of `#`, which `*` does not match.
 */
interface Pattern {
  readonly pieces: readonly string[]
  readonly hashes: number
}

function compilePattern(entry: string): Pattern {
  return { pieces: entry.split('*'), hashes: hashesIn(entry) }
}

function hashesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('#'); at >= 0; at = text.indexOf('#', at + 1)) count++
  return count
}

/**
 * Whether `name`, which has as many `#` as the pattern, contains the pattern's literal pieces in
 * order, the first and last at its ends.
 */
function fits(pieces: readonly string[], name: string): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false
  const end = name.length - last.length
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/**
 * Compiles a list into a test of whether an entry is covered: the list contains it, or has a
 * pattern that matches everything the entry matches. A `*` of the list may cover stars of the
 * entry; its other characters may not. An exact name is covered only by the same name, because
 * patterns match names under more conditions: use `allows` for those.
 */
export function compileInside(entries: readonly string[]): (entry: string) => boolean {
  const own = new Set(entries)
  const patterns = entries.filter(isPattern).map(compilePattern)
  return (entry) => {
    if (own.has(entry)) return true
    if (!isPattern(entry)) return false
    const hashes = hashesIn(entry)
    return patterns.some((pattern) => pattern.hashes === hashes && fits(pattern.pieces, entry))
  }
}

/** Whether an entry is a pattern rather than an exact name. */
export function isPattern(entry: string): boolean {
  return entry.includes('*')
}

/** Why an entry cannot be in a key's `models`, in the words of a `FieldError`; null if it can. */
export function scopeEntryProblem(entry: string): string | null {
  if (entry === '') return 'Must not be empty.'
  if (entry.length > SCOPE_LIMITS.entryLength)
    return `Must have at most ${SCOPE_LIMITS.entryLength} characters.`
  if (/[^\u0020-\u007e]/.test(entry)) return 'Must be printable ASCII.'
  if (entry !== entry.trim()) return 'Must not begin or end with a space.'
  return null
}
