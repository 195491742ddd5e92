// Runs one attack in its own process: NAME SITUATION(JSON). Prints `ready`; when told `go`, attacks
// for some seconds and then prints the responses it got.
import { Agent, request, type OutgoingHttpHeaders } from 'node:http'
import { TROUBLES, type Client, type Situation } from './troubles.ts'

const [name = '', given = '{}'] = process.argv.slice(2)
const situation = JSON.parse(given) as Situation
const agent = new Agent({ keepAlive: true })
const responses: Record<string, number> = {}
const PIECE = 256 * 1024
let until = 0

const client: Client = {
  get over() {
    return performance.now() >= until
  },
  count(response, times) {
    responses[response] = (responses[response] ?? 0) + times
  },
  send(path, { method = 'POST', headers = {}, body, hangUpAfter = Infinity }) {
    return new Promise((resolve) => {
      const fields: OutgoingHttpHeaders = {
        ...headers,
        ...(body === undefined ? {} : { 'content-length': body.length }),
      }
      const outgoing = request({
        port: situation.port,
        host: '127.0.0.1',
        method,
        path,
        agent,
        headers: fields,
      })
      const late = setTimeout(() => outgoing.destroy(), Math.max(0, until - performance.now()))
      let over = false
      const end = (what: string): void => {
        if (over) return
        over = true
        clearTimeout(late)
        client.count(what, 1)
        resolve(what)
      }
      outgoing.on('response', (incoming) => {
        incoming.on('error', () => {}).resume()
        incoming.on('close', () => end(String(incoming.statusCode)))
        if (!outgoing.writableFinished) setTimeout(() => outgoing.destroy(), 50)
      })
      outgoing.on('error', () => {})
      outgoing.on('close', () => setImmediate(end, 'cut off'))
      if (body === undefined) return void outgoing.end()
      let at = 0
      const write = (): void => {
        while (at < body.length && !outgoing.destroyed) {
          if (at >= hangUpAfter) return void outgoing.destroy()
          if (!outgoing.write(body.subarray(at, (at += PIECE))))
            return void outgoing.once('drain', write)
        }
        outgoing.end()
      }
      write()
    })
  },
}

const trouble = TROUBLES[name]
if (trouble === undefined) throw new Error(`there is no trouble named ${name}`)
const make = await trouble(situation)
process.on('message', () => void attack())
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

async function attack(): Promise<void> {
  until = performance.now() + situation.seconds * 1000
  await make(client)
  process.send?.(responses)
}
