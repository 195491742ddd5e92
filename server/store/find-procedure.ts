// Finds the procedures that a thread of the store runs.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Procedure } from './procedure.ts'

const load = createRequire(import.meta.url)
const procedures = new Map<string, Procedure<unknown, unknown>>()

/** The procedure at a location; its module is loaded at the first call. */
export function findProcedure(address: string): Procedure<unknown, unknown> {
  let found = procedures.get(address)
  if (!found) {
    const [module = '', name = ''] = address.split('#')
    found = (
      load(fileURLToPath(module)) as Record<string, Procedure<unknown, unknown> | undefined>
    )[name]
    if (found?.address !== address) throw new Error(`${module} exports no procedure ${name}`)
    procedures.set(address, found)
  }
  return found
}
