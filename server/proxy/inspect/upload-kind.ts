// Decides how to search the body of an upload for objects: a file is content, its metadata is not.
import { valuesOf } from '../../http1/header-fields.ts'
import type { Match } from '../providers/match.ts'
import { isMultipart } from './body-reader.ts'
import { isIdentity } from './decode-body.ts'
import { Findings } from './findings.ts'
import { findingsOf } from './inspection.ts'
import { boundaryOf, relatedBoundaryOf } from './boundaries.ts'
import { decodedFully } from '../providers/object-ref.ts'
import { compilePaths } from './places.ts'
import type { Provider } from '../providers/provider.ts'
import { UploadReader } from './upload-reader.ts'

/** A request that may upload a file. */
interface UploadRequest {
  readonly provider: Provider
  readonly match: Match
  readonly headers: readonly string[]
  readonly pathAndQuery: string
}

/**
 * `content`: a file, which names nothing. `parts`: parts, some of which are files. `request`: like
 * any other body.
 */
export type UploadKind = 'content' | 'parts' | 'request'

/** The kind of a request's body. */
export function uploadKindOf({ match, headers, pathAndQuery }: UploadRequest): UploadKind {
  const uploads = match.endpoint?.uploads
  if (uploads === undefined) return 'request'
  const types = valuesOf(headers, 'content-type')
  const isPlain =
    types.length <= 1 && valuesOf(headers, 'content-encoding').every((one) => isIdentity(one))
  const [type = ''] = types
  if (uploads === 'form')
    return isPlain && isMultipart(type) && boundaryOf(type) !== null ? 'parts' : 'request'
  // https://ai.google.dev/api/files: a session begins with the file's metadata and continues at an
  // address of its own. Without a session, both are parts of one body, or there is only a file.
  const commands = valuesOf(headers, 'x-goog-upload-command').join()
  const protocols = valuesOf(headers, 'x-goog-upload-protocol').join()
  const query = decodedFully(pathAndQuery.slice(pathAndQuery.indexOf('?') + 1))
  if (/start/i.test(commands)) return 'request'
  if (match.objects.some(({ kind }) => kind === UPLOAD)) return 'content'
  if (isMultipart(type) || /multipart/i.test(protocols + query))
    return isPlain && relatedBoundaryOf(type) !== null ? 'parts' : 'request'
  if (/resumable/i.test(protocols + query)) return 'request'
  return /upload/i.test(commands) ||
    /raw/i.test(protocols) ||
    /(?:^|&)upload_?(?:type|protocol)=(?:media|raw)(?:&|$)/i.test(query) ||
    !/^$|json|urlencoded/i.test(type)
    ? 'content'
    : 'request'
}

/** The kind of a session in which a file is uploaded. */
const UPLOAD = 'upload'

/** A reader for the parts of an upload. */
export function uploadReaderOf({ provider, match, headers }: UploadRequest): UploadReader {
  const places = compilePaths(match.body ?? { required: [] })
  const [type = ''] = valuesOf(headers, 'content-type')
  const related = match.endpoint?.uploads === 'body' ? relatedBoundaryOf(type) : null
  const findings: Findings = findingsOf(provider, match, places, false)
  return related === null
    ? // oxlint-disable-next-line typescript/no-non-null-assertion -- the kind of upload was decided by this boundary
      new UploadReader(boundaryOf(type)!, 'form', places, findings, provider.idNames)
    : new UploadReader(related, 'related', places, findings, provider.idNames)
}
