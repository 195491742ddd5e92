import type { Migration } from './migration.ts'

/**
 * The endpoints and closed paths of an added provider's own API: a JSON object, or null for none.
 */
export const ownApis: Migration = {
  name: '0099-own-apis',
  up: (schema) => [schema.alterTable('providers').addColumn('own_api', 'text')],
}
