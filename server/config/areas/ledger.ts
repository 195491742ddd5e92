// The settings of the ledger.
import { days, duration, setting, type SettingsArea } from '../setting-kinds.ts'

/** TABLE of the settings of the ledger. */
export const ledger = {
  retention: setting(
    'TOLLMARK_LEDGER_RETENTION',
    days,
    null,
    'How long the ledger keeps each request; unset, forever. Usage by hour and by day is always kept.',
  ),
  storeGrace: setting(
    'TOLLMARK_STORE_GRACE',
    duration,
    '30s',
    'How long known keys keep working while the database does not respond. Each process keeps to its share of the limits, and first writes each request to a file in TOLLMARK_DATA. After that, or immediately with 0s, requests get a 503.',
  ),
} satisfies SettingsArea
