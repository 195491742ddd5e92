import type { Migration } from './migration.ts'

/** The result of the last test call with each credential, including those from the environment. */
export const credentialTests: Migration = {
  name: '0075-credential-tests',
  up: (schema) => [
    schema
      .createTable('credential_tests')
      .addColumn('credential_id', 'text', (c) => c.primaryKey())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('ok', 'integer', (c) => c.notNull())
      .addColumn('status', 'integer')
      .addColumn('detail', 'text', (c) => c.notNull()),
  ],
}
