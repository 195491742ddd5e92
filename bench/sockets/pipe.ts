// A plain TCP pipe in Node that parses nothing: PORT UPSTREAM-PORT.
import { connect, createServer } from 'node:net'

const [port = '0', upstream = '0'] = process.argv.slice(2)
createServer({ noDelay: true }, (client) => {
  const provider = connect({ port: Number(upstream), host: '127.0.0.1', noDelay: true })
  client.on('error', () => provider.destroy())
  provider.on('error', () => client.destroy())
  client.pipe(provider)
  provider.pipe(client)
}).listen(Number(port), '127.0.0.1')
