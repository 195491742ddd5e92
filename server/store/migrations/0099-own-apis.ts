import type { Migration } from './index.ts'

/** What an added provider's API has of its own: a JSON object, or null for nothing. */
export const ownApis: Migration = {
  name: '0099-own-apis',
  up: (schema) => [schema.alterTable('providers').addColumn('own_api', 'text')],
}
