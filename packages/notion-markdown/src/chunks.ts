// A page as chunks for retrieval: cut at headings, then between blocks, never inside a table's row,
// code, an equation or the text of a list's item.
import type { SourcePart } from './source-marks.ts'
import { ASCII_CHARS, estimateTokens } from './tokens.ts'

/** Maximum number of tokens of a chunk, unless one block alone has more. */
export const CHUNK_TOKENS = 512

/** One chunk of a page. */
export interface PageChunk {
  text: string
  /** The headings above it, the page's title first. */
  headings: string[]
  /** The slug of the last of these. */
  anchor: string
  /** The ids of its blocks, in order, each once. */
  blocks: string[]
  tokens: number
  isLast: boolean
}

/** A heading above a part. */
interface Above {
  text: string
  slug: string
  level: number
  /** The depth of the toggle whose summary it is; null for other headings. */
  toggle: number | null
}

interface Place {
  headings: string[]
  anchor: string
}

const isHeading = ({ kind }: SourcePart): boolean => kind === 'heading' || kind === 'toggle-heading'

/**
 * Cuts a page. Each chunk is made when it is needed: with the headers of their tables, all of them
 * can have many times the size of the page.
 *
 * @param outline the page's headings, in order, and `slugs` their addresses
 * @param budget maximum number of tokens
 */
export function* chunkPage(
  page: { markdown: string; parts: readonly SourcePart[] },
  outline: readonly { text: string }[],
  slugs: readonly string[],
  budget: number,
): Generator<PageChunk> {
  const places = placesOf(page.parts, outline, slugs)
  const packer = new Packer(page.markdown, budget)
  for (const section of sectionsOf(page.parts)) {
    packer.pack(section, 0)
    packer.flush()
  }
  for (const [i, packed] of packer.chunks.entries()) {
    const { parts } = packed
    const text = textOf(page.markdown, packed)
    const firstWords = parts.findIndex((part) => !isHeading(part))
    const labelled = parts.at(firstWords)
    const place = labelled && places.get(labelled)
    const blocks = parts.flatMap(({ kind, block }) =>
      kind === 'toggle-end' || block === null ? [] : [block],
    )
    yield {
      text,
      headings: place?.headings ?? [],
      anchor: place?.anchor ?? '',
      blocks: [...new Set(blocks)],
      tokens: estimateTokens(text),
      isLast: i === packer.chunks.length - 1,
    }
  }
}

/** The headings above each part. */
function placesOf(
  parts: readonly SourcePart[],
  outline: readonly { text: string }[],
  slugs: readonly string[],
): Map<SourcePart, Place> {
  const places = new Map<SourcePart, Place>()
  const above: Above[] = []
  let heading = 0
  let place: Place = { headings: [], anchor: slugs[0] ?? '' }
  for (const part of parts) {
    // A toggle heading ends with its toggle.
    const ended = above.findIndex(({ toggle }) => toggle !== null && part.depth <= toggle)
    if (ended >= 0) above.splice(ended)
    if (isHeading(part)) {
      for (let last = above.at(-1); last && isEndedBy(last, part); last = above.at(-1)) above.pop()
      above.push({
        text: outline[heading]?.text ?? '',
        slug: slugs[heading] ?? '',
        level: part.level,
        toggle: part.kind === 'toggle-heading' ? part.depth : null,
      })
      heading++
    }
    if (isHeading(part) || ended >= 0)
      place = {
        headings: above.map(({ text }) => text),
        anchor: above.at(-1)?.slug ?? place.anchor,
      }
    places.set(part, place)
  }
  return places
}

const isEndedBy = ({ toggle, level }: Above, next: SourcePart): boolean =>
  toggle === null && level >= next.level

/**
 * A page's sections: each begins with a heading outside other blocks. Consecutive headings of
 * increasing depth stay together.
 */
function sectionsOf(parts: readonly SourcePart[]): SourcePart[][] {
  const sections: SourcePart[][] = []
  let last: SourcePart | undefined
  for (const part of parts) {
    const section = sections[sections.length - 1]
    const begins =
      isHeading(part) &&
      part.depth === 0 &&
      !(last?.kind === 'heading' && last.depth === 0 && part.level > last.level)
    if (section === undefined || begins) sections.push([part])
    else section.push(part)
    last = part
  }
  return sections
}

/** The parts of a chunk, and the table header that its first rows would lack. */
interface Packed {
  header: SourcePart | null
  parts: SourcePart[]
}

/** Fills chunks, one after another. */
class Packer {
  readonly chunks: Packed[] = []
  readonly #markdown: string
  readonly #budget: number
  #parts: SourcePart[] = []
  #tokens = 0
  /** The header of the last table, and of the one that continues in this chunk. */
  #lastHeader: SourcePart | null = null
  #header: SourcePart | null = null

  constructor(markdown: string, budget: number) {
    this.#markdown = markdown
    this.#budget = budget
  }

  /** Adds parts, those of one block together if possible. */
  pack(parts: readonly SourcePart[], depth: number): void {
    for (const group of groupsOf(parts, depth)) {
      let tokens = this.#tokensOf(group)
      if (this.#tokens + tokens > this.#budget && !this.#parts.every(isHeading)) {
        this.flush()
        tokens = this.#tokensOf(group)
      }
      const isTooLarge = this.#tokens + tokens > this.#budget
      if (isTooLarge && group.length > 1) {
        this.pack(group, depth + 1)
        this.flush()
      } else {
        this.#add(group, tokens)
        if (isTooLarge) this.flush()
      }
    }
  }

  /** Ends the chunk. The end of a toggle that begins in another chunk does not count. */
  flush(): void {
    if (this.#parts.some(({ kind }) => kind !== 'toggle-end'))
      this.chunks.push({ header: this.#header, parts: this.#parts })
    this.#parts = []
    this.#tokens = 0
    this.#header = null
  }

  #add(group: readonly SourcePart[], tokens: number): void {
    // Rows alone mean little, so each chunk of a table has its header.
    if (this.#parts.length === 0 && group[0]?.kind === 'row' && this.#lastHeader) {
      this.#header = this.#lastHeader
      this.#tokens += estimateTokens(this.#markdown.slice(this.#header.start, this.#header.end))
    }
    for (const part of group) {
      if (part.kind === 'header') this.#lastHeader = part
      this.#parts.push(part)
    }
    this.#tokens += tokens
  }

  /**
   * The text that a group adds to the chunk, with the text between them if they are adjacent.
   *
   * @returns any number above the budget for a text that exceeds it: only so much is read, because
   *   a group is measured again in each block around it
   */
  #tokensOf(group: readonly SourcePart[]): number {
    const [first] = group
    const last = group.at(-1)
    if (!first || !last) return 0
    const from = this.#parts.at(-1)?.end ?? this.#markdown.lastIndexOf('\n', first.start - 1) + 1
    const most = from + ASCII_CHARS * (this.#budget + 1)
    return estimateTokens(this.#markdown.slice(from, Math.min(last.end, most)))
  }
}

/** The parts of each block that is inside at most `depth` others. */
function groupsOf(parts: readonly SourcePart[], depth: number): SourcePart[][] {
  const groups: SourcePart[][] = []
  for (const part of parts) {
    const group = groups[groups.length - 1]
    if (group === undefined || part.depth <= depth) groups.push([part])
    else group.push(part)
  }
  return groups
}

/**
 * The text of a chunk: whole lines, without the indent of the first, and every toggle with its end.
 */
function textOf(markdown: string, { header, parts }: Packed): string {
  const texts: string[] = []
  let open = 0
  let run: { start: number; end: number } | undefined
  const endRun = (): void => {
    if (run) texts.push(outdented(markdown, run.start, run.end))
    run = undefined
  }
  for (const part of parts) {
    if (part.kind === 'toggle' || part.kind === 'toggle-heading') open++
    if (part.kind === 'toggle-end' && open-- === 0) {
      open = 0
      endRun()
      continue
    }
    if (run) run.end = part.end
    else run = { start: part.start, end: part.end }
  }
  endRun()
  const text = [...texts, ...Array.from({ length: open }, () => '</details>')].join('\n\n')
  return header ? `${outdented(markdown, header.start, header.end)}\n${text}` : text
}

/** Lines from the beginning of the line of `start`, without the indents of the first. */
function outdented(markdown: string, start: number, end: number): string {
  const text = markdown.slice(markdown.lastIndexOf('\n', start - 1) + 1, end)
  // Before the first quote's mark, and after each.
  const [first = ''] = /^[ >]*/.exec(text) ?? []
  const indents = first.split('>').map(excessOf)
  if (indents.every((indent) => indent === 0)) return text
  return text.replace(LINE_MARK, (mark) =>
    mark
      .split('>')
      .map((spaces, i) => spaces.slice(Math.min(indents[i] ?? 0, excessOf(spaces, i))))
      .join('>'),
  )
}

/** What lines begin with in lists and quotes. */
const LINE_MARK = /^[ >]*/gm

/** The spaces before a quote's mark, or after it, without the one that belongs to it. */
const excessOf = (spaces: string, marks: number): number =>
  Math.max(0, spaces.length - (marks === 0 ? 0 : 1))
