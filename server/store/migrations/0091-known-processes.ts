import type { Migration } from './migration.ts'

/**
 * The ids of the processes that an instance counts as admitting requests, separated by commas; null
 * before its first count (server/ledger/admission/web-processes.ts).
 */
export const knownProcesses: Migration = {
  name: '0091-known-processes',
  up: (schema) => [schema.alterTable('instances').addColumn('known', 'text')],
}
