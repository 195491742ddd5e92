// Makes rows of endpoints, for every provider.
import { body } from './body-rules.ts'
import type { EndpointRow, ModelPlace } from './endpoint-row.ts'
import type { BodyRule } from './body-rule.ts'

/** The model is that of a stored object: no request names it. */
export const STORED: ModelPlace = { at: 'stored' }

/** A row that runs a model. @param on methods and a path pattern */
export const model = (
  on: string,
  place: ModelPlace = body(),
  more: Partial<EndpointRow> = {},
): EndpointRow => ({ on, class: 'model', model: place, ...more })
/** A row that runs no model. @param on methods and a path pattern */
export const neutral = (on: string, more: Partial<EndpointRow> = {}): EndpointRow => ({
  on,
  class: 'neutral',
  ...more,
})
/** The field of a form with which a place begins. */
const fieldOf = (place: string): string => place.replace(/[.[].*$/, '')

/**
 * The rows of a provider with fallback models: all rows get these places, so that none is
 * forgotten. In a form, which has no lists, none of their fields may name another model.
 */
export const tryingOthers = (
  rows: readonly EndpointRow[],
  { also: others = [], stored: kept = [] }: Pick<BodyRule, 'also' | 'stored'>,
): EndpointRow[] =>
  rows.map((row) => {
    const { model: place } = row
    if (place === undefined || !('body' in place)) return row
    const { also = [], stored = [], multipart } = place.body
    const fields = multipart === true ? [...others, ...kept].map(fieldOf) : []
    return {
      ...row,
      model: {
        ...place,
        body: {
          ...place.body,
          also: [...new Set([...also, ...others, ...fields])],
          stored: [...new Set([...stored, ...kept])],
        },
      },
    }
  })

/** Places of ids of a kind in a response; `id` by default. */
export const creates = (
  kind: string,
  ...at: string[]
): { creates: Readonly<Record<string, string>> } => ({
  creates: Object.fromEntries((at.length === 0 ? ['id'] : at).map((place) => [place, kind])),
})
