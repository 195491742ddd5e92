// TABLE of plans: quotas of accounts. The free plan is built in; settings change it or add others.
import type { Config } from '../config/settings.ts'

/** A named set of limits. */
export interface Plan {
  readonly name: string
  /** Conversions per UTC day; null means no limit. */
  readonly conversionsPerDay: number | null
}

/** All plans of this server. */
export interface Plans {
  /** The plan of this name; the free plan if the operator has removed it. */
  of(name: string): Plan
  has(name: string): boolean
  readonly all: readonly Plan[]
}

/** Name of the plan that every account begins with. */
export const FREE = 'free'

/** Builds the plans from the settings. */
export function readPlans({ plans, freeConversions }: Config['accounts']): Plans {
  const given = plans[FREE]
  const free: Plan = {
    name: FREE,
    conversionsPerDay: given === undefined ? freeConversions : given.conversions_per_day,
  }
  const limits = new Map([[FREE, free.conversionsPerDay]])
  for (const [name, plan] of Object.entries(plans)) limits.set(name, plan.conversions_per_day)
  const all = [...limits].map(([name, conversionsPerDay]) => ({ name, conversionsPerDay }))
  const byName = new Map(all.map((plan) => [plan.name, plan]))
  return {
    of: (name) => byName.get(name) ?? free,
    has: (name) => byName.has(name),
    all,
  }
}
