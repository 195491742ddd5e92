import type { Migration } from './migration.ts'

/** The built-in provider whose API an added one implements; null is OpenAI's dialect. */
export const spokenProviders: Migration = {
  name: '0093-spoken-providers',
  up: (schema) => [schema.alterTable('providers').addColumn('speaks', 'text')],
}
