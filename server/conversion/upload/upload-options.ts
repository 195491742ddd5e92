// The fields of the upload form besides the file: what a conversion makes.
import { FLAVOR_NAMES, type Flavor } from '@tollmark/notion-markdown/formats'
import type { FieldError } from '../../common/errors.ts'
import { flag } from '../../config/setting-kinds.ts'

/** The format of a converted document. */
export type DocumentFormat = 'markdown' | 'json' | 'chunks'

/** The fields of the upload form besides the file. */
export interface UploadOptions {
  readonly format: DocumentFormat
  readonly includeMetadata: boolean
  /** Whether JSON includes a source map: where in its Markdown each Notion block is. */
  readonly sourceMap: boolean
  /** One document, or a ZIP archive with a file for each page. */
  readonly layout: 'document' | 'pages'
  /** The program that will read the pages; null if none was given. */
  readonly flavor: Flavor | null
  /** Whether the conversion is certified; undefined if the caller did not choose. */
  readonly certificate?: boolean
}

/**
 * TABLE of the form's fields besides the file: how each is parsed, and its valid values. Unknown
 * fields are ignored.
 */
const FIELDS: Readonly<
  Record<string, { read: (value: string) => Partial<UploadOptions> | undefined; what: string }>
> = {
  format: {
    read: (value) =>
      value === 'markdown' || value === 'json' || value === 'chunks'
        ? { format: value }
        : undefined,
    what: '"markdown", "json" or "chunks"',
  },
  include_metadata: {
    read: (value) => {
      const includeMetadata = flag.parse(value)
      return includeMetadata === undefined ? undefined : { includeMetadata }
    },
    what: '"true" or "false"',
  },
  certificate: {
    read: (value) => {
      const certificate = flag.parse(value)
      return certificate === undefined ? undefined : { certificate }
    },
    what: '"true" or "false"',
  },
  source_map: {
    read: (value) => {
      const sourceMap = flag.parse(value)
      return sourceMap === undefined ? undefined : { sourceMap }
    },
    what: '"true" or "false"',
  },
  layout: {
    read: (value) => (value === 'document' || value === 'pages' ? { layout: value } : undefined),
    what: '"document" or "pages"',
  },
  flavor: {
    read: (value) => {
      const flavor = FLAVOR_NAMES.find((name) => name === value)
      return flavor === undefined ? undefined : { flavor }
    },
    what: '"gfm", "obsidian" or "docusaurus"',
  },
}

/** TABLE of conflicting fields: the condition, the field at fault and the sentence. */
const CONFLICTS: readonly {
  isThere: (options: UploadOptions) => boolean
  param: string
  detail: string
}[] = [
  {
    isThere: ({ format, sourceMap }) => sourceMap && format !== 'json',
    param: 'source_map',
    detail: 'A source map is part of JSON. Send format=json as well.',
  },
  {
    isThere: ({ format, layout }) => layout === 'pages' && format !== 'markdown',
    param: 'layout',
    detail: 'Pages are Markdown files. Send format=markdown with layout=pages, or leave it out.',
  },
  {
    isThere: ({ flavor, layout }) => flavor !== null && layout !== 'pages',
    param: 'flavor',
    detail: 'A flavor applies only to pages. Send layout=pages as well.',
  },
]

/** Field errors for conflicting fields. */
export function conflicts(options: UploadOptions): FieldError[] {
  return CONFLICTS.filter(({ isThere }) => isThere(options)).map(({ param, detail }) => ({
    param,
    code: 'invalid_value',
    detail,
  }))
}

/** A field of the form besides the file; undefined if there is none of this name. */
export function findField(name: string): (typeof FIELDS)[string] | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
}

/** The error of a field that is sent twice. @param advice a sentence */
export const duplicate = (param: string, advice: string): FieldError => ({
  param,
  code: 'duplicate',
  detail: `This field was sent twice. ${advice}`,
})

/** The fields of one form, besides the file. */
export class FieldReader {
  options: UploadOptions = {
    format: 'markdown',
    includeMetadata: false,
    sourceMap: false,
    layout: 'document',
    flavor: null,
  }
  /** Reported together, before a file is received or when the form ends. */
  readonly faults: FieldError[] = []
  readonly #seen = new Set<string>()

  /** Reads a field; ignores unknown names. @param value undefined if it is too long */
  read(name: string, value: string | undefined): void {
    const field = findField(name)
    if (!field) return
    if (this.#seen.has(name)) {
      this.faults.push(duplicate(name, 'Send it once.'))
      return
    }
    this.#seen.add(name)
    const read = value === undefined ? undefined : field.read(value)
    if (read) this.options = { ...this.options, ...read }
    else this.faults.push({ param: name, code: 'invalid_value', detail: `Must be ${field.what}.` })
  }
}
