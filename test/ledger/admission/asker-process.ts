// A process that asks for many admissions at once, and writes how many there were. Arguments: the
// store's place, how many, then "key:rpm" or "key:rpm:child:rpm" for each key that they are asked
// for in turn. It begins when a line comes in, so that several begin together.
import { once } from 'node:events'
import { openOn, admissionRequest } from '../support/opened.ts'
import { placeFrom } from '../../support/place.ts'

const [count = '', ...keys] = process.argv.slice(4)
const { ledger, close } = await openOn(placeFrom(process.argv.slice(2)))
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const admitted: Record<string, number> = {}
const ask = async (i: number): Promise<void> => {
  const [key = '', rpm = '', child = null, childRpm = null] = keys[i % keys.length]!.split(':')
  const own = { child_id: child, child_rpm: childRpm === null ? null : Number(childRpm) }
  const admission = await ledger.admit(admissionRequest(key, Number(rpm), own))
  const counted = child ?? key
  if (admission.admitted) admitted[counted] = (admitted[counted] ?? 0) + 1
}
await Promise.all(Array.from({ length: Number(count) }, (_, i) => ask(i)))
process.stdout.write(`${JSON.stringify(admitted)}\n`)
await close()
process.exit()
