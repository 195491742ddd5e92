// Compiles the endpoints that an operator declares for an added provider into rows of the table.
import type { EndpointEntry } from '../../config/providers-file.ts'
import type { EndpointRow, ModelPlace } from './endpoint-row.ts'
import { STORED } from './row-builders.ts'
import type { CustomProvider, ProviderRow } from './provider.ts'

/** A row with the additional fields of the providers file. */
export function withAdded(row: ProviderRow, custom: CustomProvider): ProviderRow {
  const { endpoints = [], minting = [], admin = [] } = custom
  if (endpoints.length + minting.length + admin.length === 0) return row
  const added = endpoints.map(addedRow)
  const taken = new Set(added.map(({ on }) => pathOf(on)))
  const [mints, admins] = [minting.map(closedPath), admin.map(closedPath)]
  const isClosed = (path: string): boolean =>
    [...mints, ...admins].some((closed) => closed.test(path.toLowerCase()))
  return {
    ...row,
    // A row that spells out a path would open it.
    endpoints: [...added, ...row.endpoints.filter(({ on }) => !taken.has(pathOf(on)))].filter(
      ({ on }) => !isClosed(pathOf(on)),
    ),
    minting: [...(row.minting ?? []), ...mints],
    admin: [...(row.admin ?? []), ...admins],
  }
}

/** The endpoints of a built-in provider below any path: `/anthropic/v1/messages`. */
export const belowAnyPath = (rows: readonly EndpointRow[]): EndpointRow[] => [
  ...rows,
  ...rows.map((row) => ({ ...row, on: row.on.replace(/ (?=\/)/, ' /{base*}') })),
]

const pathOf = (on: string): string => on.slice(on.indexOf('/'))

function addedRow({ on, model, name, uploads, ...rest }: EndpointEntry): EndpointRow {
  const place = placeOf(model, name)
  return {
    on,
    ...(place === null
      ? { class: 'neutral' }
      : { class: 'model', model: withObjects(place, rest.names) }),
    ...(name === undefined ? {} : { modelName: name }),
    // The model may be behind the file, so a form that names it is read completely.
    ...(uploads === undefined || (uploads === 'form' && place?.at === 'body') ? {} : { uploads }),
    ...rest,
  }
}

/** The place of the model in an entry; null if no model runs. */
function placeOf(model: EndpointEntry['model'], name: string | undefined): ModelPlace | null {
  if (name !== undefined || model === 'path')
    return { at: 'path', body: { required: [], also: ['model'], multipart: true } }
  if (model === undefined) return null
  if (model === 'query') return { at: 'query' }
  if (model === 'stored') return STORED
  if ('headers' in model)
    return {
      at: 'header',
      headers: model.headers.map((header) => header.toLowerCase()),
      body: { required: [], also: ['model'] },
    }
  return {
    at: 'body',
    body: { required: model.body, ...(model.form === true ? { multipart: true } : {}) },
  }
}

/** A body that is read for its model is also read for its objects. */
const withObjects = (place: ModelPlace, names: EndpointRow['names']): ModelPlace =>
  'body' in place && names !== undefined
    ? { ...place, body: { ...place.body, objects: names } }
    : place

/** Matches a path and everything below it, in loosened form: in lower case. */
const closedPath = (path: string): RegExp =>
  new RegExp(
    `^${path
      .toLowerCase()
      .replace(/\/+$/, '')
      .replaceAll(/[.+?^$()[\]\\|]/g, String.raw`\$&`)}(?:$|[/:])`,
  )
