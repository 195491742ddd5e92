// The order in which a request enters the steps of the proxy, from its entries into functions.
import type { Entry } from './order.ts'

/** Libraries, and the request's own record: they serve every step. */
const SHARED: ReadonlySet<string> = new Set([
  'http1',
  'common',
  'telemetry',
  'store',
  'app',
  'proxy/json',
  'proxy/request-context.ts',
])
/** What calls the steps, one after the other. */
const PIPELINE = 'proxy/pipeline.ts'

/** The step that a file belongs to: a folder or file of the proxy, the keys, or the ledger. */
function stepOf(file: string): string {
  const [, room = '', inside = ''] = file.split('/')
  return room === 'proxy' ? `proxy/${inside}` : room
}

/** The entries of one request, up to the first byte that is sent to the provider. */
function beforeUpstream(entries: readonly Entry[]): readonly Entry[] {
  const find = (file: string, name: string, from: number): number =>
    entries.findIndex((entry, at) => at >= from && entry[0].endsWith(file) && entry[1] === name)
  const first = find('/server-connection.ts', 'onData', 0)
  const end = find('/request-writer.ts', 'writeNow', first)
  if (first < 0 || end < 0) throw new Error('No request was noted up to its provider.')
  return entries.slice(first, end)
}

/**
 * Prints the steps in the order in which the pipeline enters them, and those that other steps call.
 * A callback from a library belongs to the step that passed it.
 */
export function printOrder(entries: readonly Entry[]): void {
  const visits: { readonly step: string; readonly names: Set<string> }[] = []
  const calls = new Map<string, Set<string>>()
  for (const [file, name, caller] of beforeUpstream(entries)) {
    const step = stepOf(file)
    const from = caller === null ? step : stepOf(caller)
    if (step === from || step === PIPELINE || SHARED.has(step) || SHARED.has(from)) continue
    if (from !== PIPELINE) {
      const way = `${step} from ${from}`
      calls.set(way, (calls.get(way) ?? new Set()).add(name))
    } else if (visits.at(-1)?.step === step) visits.at(-1)?.names.add(name)
    else visits.push({ step, names: new Set([name]) })
  }
  const twice = Map.groupBy(visits, ({ step }) => step)
  for (const { step, names } of visits) console.log(`${step}: ${[...names].join(', ')}`)
  console.log('\ncalled by another step:')
  for (const [way, names] of [...calls].toSorted()) console.log(`${way}: ${[...names].join(', ')}`)
  const more = [...twice].filter(([, all]) => all.length > 1).map(([step]) => step)
  console.log(`\nentered more than once by the pipeline: ${more.join(', ') || 'none'}`)
}
