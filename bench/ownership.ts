// Checks the isolation of keys' objects: 100,000 generated requests that name another key's object
// must fail, and as many ordinary ones must pass.
import { foreignThatPass, ordinaryThatFail } from '../test/proxy/objects/ownership-requests.ts'

const COUNT = Number(process.argv[2] ?? 100_000)

for (const [what, run] of [
  ["another key's object", async () => (await foreignThatPass(COUNT, 11)).passed],
  ['ordinary bodies', async () => (await ordinaryThatFail(COUNT, 12)).refused],
] as const) {
  const before = process.cpuUsage()
  const wrong = await run()
  const { user, system } = process.cpuUsage(before)
  console.log(
    `${what.padEnd(22)} ${COUNT} requests, ${wrong} decided wrongly, ${((user + system) / COUNT).toFixed(1)} µs each`,
  )
  if (wrong > 0) process.exitCode = 1
}
