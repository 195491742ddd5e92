// Runs one attack of the fairness bench in its own process: NAME SCENE(JSON). Prints `begun`; when
// told to stop, prints the responses it got.
import { ATTACKS } from '../../test/proxy/fairness/attacks.ts'
import type { Scene } from '../../test/proxy/fairness/attack.ts'
import { Hostile } from '../../test/proxy/fairness/hostile.ts'

const [name, given = '{}'] = process.argv.slice(2)
const attack = ATTACKS.find((one) => one.name === name)
if (attack === undefined) throw new Error(`there is no attack named ${name}`)
const scene = JSON.parse(given) as Scene
const hostile = new Hostile(scene.port)
process.on('message', () => process.send?.(hostile.responses))
process.on('disconnect', () => process.exit(0))
void attack.begin(scene, hostile)
process.send?.('begun')
