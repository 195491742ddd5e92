// Writes pages as one JSON document, a piece at a time.
import type { DocumentOptions } from './document-options.ts'
import {
  certified,
  hashed,
  joined,
  rangesOf,
  type CertificateListener,
  type DocumentPage,
  type ReadResolved,
} from './document-pages.ts'
import { databasesJson, type DatabaseTable, type KnownPages } from './databases.ts'
import { propertiesJson } from './property-json.ts'

/** The workspace's field, if the export identifies it. */
function workspaceOf([first]: readonly DocumentPage[]): string {
  return first?.summary.sitemap
    ? `"workspace":${JSON.stringify(first.summary.sitemap.workspace)},`
    : ''
}

/** The data of pages besides their text. */
export interface TypedPages {
  tables(page: DocumentPage): readonly DatabaseTable[] | Promise<readonly DatabaseTable[]>
  known: KnownPages
}

/** Writes the document as JSON. */
export async function* writeJson(
  document: readonly DocumentPage[],
  read: ReadResolved,
  { tables, known }: TypedPages,
  options: DocumentOptions,
  certificate?: CertificateListener,
): AsyncGenerator<string> {
  yield `{"object":"document","title":${JSON.stringify(document[0]?.summary.title ?? '')},${workspaceOf(document)}"markdown":"`
  for await (const piece of hashed(joined(document, certified(read, certificate)), certificate))
    yield JSON.stringify(piece).slice(1, -1)
  yield '","pages":['
  for (const [i, page] of document.entries()) {
    const { summary } = page
    const metadata = options.includeMetadata
      ? { source_url: page.sourceUrl, exported_at: page.exportedAt }
      : {}
    const { path, id, title, icon, properties, values, assets } = summary
    const value = {
      id,
      parent_id: page.parent?.id ?? null,
      path,
      title,
      icon,
      anchor: page.slugs[0],
      ...metadata,
      properties,
      property_values: propertiesJson(values, known.idOf),
      markdown: (await read(page)).markdown,
      assets,
    }
    yield `${i === 0 ? '' : ','}${JSON.stringify(value).slice(0, -1)},"databases":`
    yield* databasesJson(await tables(page), known)
    yield '}'
  }
  yield ']'
  if (options.sourceMap) {
    let separator = ',"source_map":['
    for await (const ranges of rangesOf(document, read, 0)) {
      if (ranges.length > 0) yield separator + JSON.stringify(ranges).slice(1, -1)
      if (ranges.length > 0) separator = ','
    }
    yield separator === ',' ? ']' : `${separator}]`
  }
  const issued = await certificate?.finish()
  if (issued && options.showCertificate) yield `,"certificate":${JSON.stringify(issued)}`
  const differing = (issued?.differences ?? [])
    .filter(({ kind }) => kind !== 'pages')
    .map(({ page, detail }) => ({
      code: 'content_differs',
      page,
      detail,
    }))
  const warnings = document.flatMap(({ summary }) =>
    summary.warnings.map(({ code, detail, page }) => ({
      code,
      page: page ?? summary.path,
      detail,
    })),
  )
  yield `,"warnings":${JSON.stringify([...warnings, ...differing])}}\n`
}
