// The settings of accounts and their plans.
import { integer, json, setting, text, type Kind, type SettingsArea } from '../setting-kinds.ts'

/** The largest daily quota that a plan can have. */
const MAX_COUNT = 1_000_000_000

/** Plans by name, and the conversions that their accounts have per UTC day; `null` is no limit. */
type PlanLimits = Record<string, { conversions_per_day: number | null }>

const plans: Kind<Readonly<PlanLimits>> = json(
  'JSON such as {"team":{"conversions_per_day":1000},"unlimited":{"conversions_per_day":null}}',
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const read: PlanLimits = {}
    for (const [name, plan] of Object.entries(value)) {
      const count: unknown =
        typeof plan === 'object' && plan !== null && 'conversions_per_day' in plan
          ? plan.conversions_per_day
          : undefined
      const countable =
        count === null ||
        (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT)
      if (!countable || !/^[\w-]{1,64}$/.test(name)) return undefined
      read[name] = { conversions_per_day: count }
    }
    return read
  },
)

/** TABLE of the settings of accounts and their plans. */
export const accounts = {
  plans: setting(
    'TOLLMARK_PLANS',
    plans,
    '{}',
    'More plans, or another quota for "free"; null means no limit.',
  ),
  freeConversions: setting(
    'TOLLMARK_FREE_CONVERSIONS',
    integer(0, MAX_COUNT),
    '10',
    'Conversions per UTC day for accounts on the free plan.',
  ),
  adminEmail: setting(
    'TOLLMARK_ADMIN_EMAIL',
    text,
    null,
    'E-mail address of the first account, created at the first start.',
  ),
  adminPassword: setting('TOLLMARK_ADMIN_PASSWORD', text, null, 'Password of the first account.', {
    secret: true,
  }),
} satisfies SettingsArea
