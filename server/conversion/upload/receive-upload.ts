// Parses multipart/form-data into a file on disk and options. All 400 and 413 errors of uploads
// come from here. Keeps one chunk in memory at a time, and stops reading at the first byte over a
// limit.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { Problem, invalidFields, type FieldError } from '../../common/errors.ts'
import { SNIFF_BYTES, describeWrongFile, sniff, type FileKind } from './sniff.ts'
import { writeFlushing } from './incremental-fsync.ts'
import { withoutPadding } from './transport-padding.ts'
import {
  FieldReader,
  conflicts,
  duplicate,
  findField,
  type UploadOptions,
} from './upload-options.ts'

/** A received upload: its file's facts and its options. */
export interface Upload extends UploadOptions {
  readonly kind: FileKind
  /** The name that the caller gave, without folders; `""` if none. */
  readonly fileName: string
  /** Bytes. */
  readonly size: number
  /** SHA-256 of the content, hexadecimal. */
  readonly sha256: string
}

/** The largest file of each kind, in bytes. */
export interface UploadLimits {
  readonly maxHtml: number
  readonly maxZip: number
}

/**
 * Limits on the form around the file. Fields are short, and whatever a browser or script adds fits
 * easily.
 */
const FORM_LIMITS = {
  fieldNameSize: 200,
  fieldSize: 4096,
  fields: 100,
  parts: 200,
  headerPairs: 50,
  headerSize: 16_384,
}
const MAX_FORM_OVERHEAD = 1_048_576

function maxRequestBytes({ maxHtml, maxZip }: UploadLimits): number {
  return Math.max(maxHtml, maxZip) + MAX_FORM_OVERHEAD
}

/**
 * Rejects a request whose headers already show that it is unacceptable, so that a caller with
 * `Expect: 100-continue` sends nothing.
 *
 * @throws Problem `missing_file` (400), `file_too_large` (413) or `unsupported_file_type` (415, for
 *   a compressed body)
 */
export function checkHead(
  {
    'content-type': type = '',
    'content-length': length,
    'content-encoding': encoding = 'identity',
  }: IncomingHttpHeaders,
  limits: UploadLimits,
): void {
  if (!/^\s*identity\s*$/i.test(encoding)) {
    throw new Problem(
      'unsupported_file_type',
      `The body of the request is compressed (Content-Encoding: ${encoding.slice(0, 40)}). Send the form uncompressed: an archive is already compressed.`,
      { status: 415 },
    )
  }
  if (Number(length ?? 0) > maxRequestBytes(limits)) throw formTooLarge(limits)
  openForm(type)
}

const missingFile = (detail: string): Problem => new Problem('missing_file', detail)

/** The fault of a form without the file. @param detail a sentence about the field */
const noFile = (detail: string): FieldError => ({ param: 'file', code: 'missing', detail })

const NOT_SENT = 'Send the exported .html or .zip file in this field.'
const NOT_A_FILE = 'This field has no file in it. Send it as a file, with a file name.'

/** Characters of a caller's name that an error repeats. */
const MAX_NAME = 100

/** The fault of a form whose file has another name. */
const misnamed = (name: string, fileName: string): FieldError =>
  noFile(
    `${NOT_SENT} The file ${JSON.stringify(fileName.slice(0, MAX_NAME))} is in the field ${JSON.stringify(name.slice(0, MAX_NAME))}.`,
  )

const withoutFile = (fault: FieldError): Problem =>
  new Problem('missing_file', `file: ${fault.detail}`, { errors: [fault] })

const tooMany = (what: 'parts' | 'fields'): Problem =>
  new Problem('invalid_field', `The form has more than ${FORM_LIMITS[what]} ${what}.`)

/**
 * Receives one upload into the new file `path`. Stops at the first error and leaves the rest of the
 * body unread.
 *
 * @param body the form; if it breaks off, its error is thrown
 * @param type the request's Content-Type
 * @throws Problem `missing_file`, `invalid_file`, `unsupported_file_type`, `invalid_field` (400) or
 *   `file_too_large` (413)
 */
export async function receiveUpload(
  body: Readable,
  type: string,
  path: string,
  limits: UploadLimits,
): Promise<Upload> {
  const maxBytes = maxRequestBytes(limits)
  const form = openForm(type)
  const unpadded = withoutPadding(type)
  const fields = new FieldReader()
  let stream: Readable | undefined
  let file: Promise<Omit<Upload, keyof UploadOptions>> | undefined
  let elsewhere: FieldError | undefined
  const missing = (): FieldError => (isText ? noFile(NOT_A_FILE) : (elsewhere ?? noFile(NOT_SENT)))
  let [received, isText] = [0, false]
  try {
    await new Promise<void>((resolve, reject) => {
      form.on('field', (name: string, value: string, _: boolean, truncated: boolean) => {
        if (name === 'file') isText = true
        fields.read(name, truncated ? undefined : value)
      })
      form.on('file', (name: string | undefined, part: Readable, fileName: string | undefined) => {
        part.on('error', () => {}) // the form or receiveFile reports the error
        if (name !== 'file') {
          elsewhere ??= misnamed(name ?? '', fileName ?? '')
          return part.resume()
        }
        if (fields.faults.length > 0) return reject(invalidFields(fields.faults))
        if (file) return reject(invalidFields([duplicate(name, 'Send one file per request.')]))
        stream = part
        // Forms encode quotes in names this way (HTML standard, "multipart/form-data").
        file = receiveFile(stream, path, (fileName ?? '').replaceAll('%22', '"'), limits)
        file.catch(reject)
      })
      form.on('error', () => {
        reject(
          received > 0
            ? malformedForm('The form is not well formed, or ends before its last boundary.')
            : missingFile(
                'The request has no body. Send the exported .html or .zip file in the field "file".',
              ),
        )
      })
      for (const what of ['parts', 'fields'] as const)
        form.on(`${what}Limit`, () => reject(tooMany(what)))
      form.on('finish', () => {
        const all = [...fields.faults, ...conflicts(fields.options)]
        if (file && isText) all.push(duplicate('file', 'Send one file per request.'))
        if (all.length > 0) reject(invalidFields(file ? all : [...all, missing()]))
        else resolve()
      })
      body.on('error', reject)
      body.on('data', (piece: Buffer) => {
        received += piece.length
        if (received > maxBytes) reject(formTooLarge(limits))
      })
      body.pipe(unpadded).pipe(form)
    })
    if (!file) throw withoutFile(missing())
    return { ...(await file), ...fields.options }
  } finally {
    body.unpipe(unpadded)
    unpadded.destroy()
    abandon(form)
    stream?.destroy()
    await file?.catch(() => {})
  }
}

function openForm(type: string): BusboyInstance {
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type)) {
    throw missingFile(
      'The request is not a form. Send multipart/form-data with the exported file in the field "file".',
    )
  }
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: FORM_LIMITS,
      isPartAFile: isFilePart,
    })
  } catch (cause) {
    throw new Problem(
      'missing_file',
      'The form has no boundary in its Content-Type. Let your HTTP client set that header.',
      { cause },
    )
  }
}

/** Ends a form without its later events. */
function abandon(form: BusboyInstance): void {
  form.removeAllListeners()
  form.on('error', () => {})
  form.destroy()
}

/** Some clients send a field as a file: `FormData.append` gives each Blob a file name. */
function isFilePart(name = '', type?: string, fileName?: string): boolean {
  return (
    findField(name) === undefined && (fileName !== undefined || type === 'application/octet-stream')
  )
}

/**
 * Writes the file's bytes to `path`; counts them against the limit of its kind as soon as the kind
 * is known.
 */
async function receiveFile(
  stream: Readable,
  path: string,
  fileName: string,
  limits: UploadLimits,
): Promise<Omit<Upload, keyof UploadOptions>> {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let kind: FileKind | undefined
  let size = 0

  const check = (isWhole: boolean): void => {
    if (!kind && (isWhole || size >= SNIFF_BYTES)) {
      const first = Buffer.concat(head)
      kind = sniff(first, fileName)
      if (!kind) throw new Problem('unsupported_file_type', describeWrongFile(first, fileName))
    }
    if (kind && size > limits[LIMITS[kind]]) throw tooLarge(kind, limits)
  }
  await pipeline(
    stream,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        if (!kind) head.push(piece)
        size += piece.length
        check(false)
        hash.update(piece)
        yield piece
      }
      if (size === 0)
        throw fileName
          ? malformedForm('The file is empty.')
          : withoutFile(noFile('No file was chosen for this field.'))
      check(true)
    },
    (pieces: AsyncIterable<Buffer>) => writeFlushing(path, pieces),
  )
  // oxlint-disable-next-line typescript/no-non-null-assertion -- check(true) decides it, or throws
  return { kind: kind!, fileName, size, sha256: hash.digest('hex') }
}

/** TABLE of the setting that limits each kind. */
const LIMITS = { html: 'maxHtml', zip: 'maxZip' } as const satisfies Record<
  FileKind,
  keyof UploadLimits
>

function tooLarge(kind: FileKind, limits: UploadLimits): Problem {
  const what = kind === 'zip' ? 'a ZIP archive' : 'an HTML file'
  return new Problem(
    'file_too_large',
    `The file is larger than ${megabytes(limits[LIMITS[kind]])}, the limit for ${what}.`,
  )
}

/** For a form that was not read, or that is too large for other reasons than its file. */
function formTooLarge({ maxHtml, maxZip }: UploadLimits): Problem {
  return new Problem(
    'file_too_large',
    `The upload is too large. An HTML file may be up to ${megabytes(maxHtml)}, a ZIP archive up to ${megabytes(maxZip)}.`,
  )
}

function megabytes(bytes: number): string {
  return bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MB` : `${bytes} bytes`
}

function malformedForm(detail: string): Problem {
  return new Problem('invalid_file', detail)
}
