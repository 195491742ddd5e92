// TABLE of plans: what an account may use. The free plan is built in; the operator's settings add others or change it.
import type { Config } from '../config.ts'

export interface Plan {
  readonly name: string
  /** Conversions a UTC day; null is without a limit. */
  readonly conversionsPerDay: number | null
}

export interface Plans {
  /** The plan of that name. An account whose plan the operator has taken away is on the free plan. */
  of(name: string): Plan
  has(name: string): boolean
  readonly all: readonly Plan[]
}

export const FREE = 'free'

/** The plans that the settings give. */
export function readPlans({ plans, freeConversions }: Config['accounts']): Plans {
  const limits = new Map([[FREE, freeConversions as number | null]])
  for (const [name, plan] of Object.entries(plans)) limits.set(name, plan.conversions_per_day)
  const all = [...limits].map(([name, conversionsPerDay]) => ({ name, conversionsPerDay }))
  const byName = new Map(all.map((plan) => [plan.name, plan]))
  return { of: (name) => byName.get(name) ?? byName.get(FREE)!, has: (name) => byName.has(name), all }
}
