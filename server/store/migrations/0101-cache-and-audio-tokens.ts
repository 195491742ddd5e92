import type { Migration } from './migration.ts'
import { LOCK_LEDGER } from './lock-ledger.ts'

/** Tables with a column for each kind of tokens. */
const TABLES = [
  'requests',
  'usage_hours',
  'usage_days',
  'usage_account_hours',
  'usage_account_days',
  'usage_keys',
]

/** Tokens written to a cache, and tokens of audio; null in older rows. */
export const cacheAndAudioTokens: Migration = {
  name: '0101-cache-and-audio-tokens',
  lock: LOCK_LEDGER,
  up: (schema) =>
    TABLES.flatMap((table) =>
      ['tokens_cache_write', 'tokens_audio_in', 'tokens_audio_out'].map((column) =>
        schema.alterTable(table).addColumn(column, 'bigint'),
      ),
    ),
}
