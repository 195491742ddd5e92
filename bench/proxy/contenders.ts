// Starts the proxies under test, each in front of the same provider.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { NODE_FLAGS } from '../../test/support/node.ts'
import { makeSecrets } from '../parts/secrets.ts'
import { HEAP_FLAGS, startServer } from '../parts/server.ts'

/** A running proxy. */
export interface Contender {
  readonly name: string
  readonly port: number
  readonly pid: number
  /** Path and headers of a request through it. */
  readonly path: string
  readonly headers: readonly string[]
}

export interface Ours extends Contender {
  /** An API token. */
  readonly token: string
}

const PATH = '/v1/chat/completions'
const here = import.meta.dirname
const children: ChildProcess[] = []

/** Runs a program until the bench ends. */
export function startProgram(
  command: string,
  args: string[],
  env: Record<string, string> = {},
  errors: 'inherit' | 'ignore' = 'inherit',
): ChildProcess {
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', errors],
    env: { ...process.env, ...env },
  })
  children.push(child)
  return child
}

/** Whether a proxy supports streams. */
export async function streams({ port, path, headers }: Contender): Promise<boolean> {
  const fields = Object.fromEntries(headers.map((line) => line.split(': ', 2) as [string, string]))
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...fields, 'Content-Type': 'application/json' },
    body: '{"model":"gpt-5","stream":true,"messages":[]}',
  })
  return response.status === 200 && (await response.text()).includes('data: ')
}

export async function stopAll(): Promise<void> {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(
    children
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map((child) => once(child, 'exit')),
  )
}

/** Resolves when something accepts connections on a port of this machine. */
export async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const socket = createConnection({ port, host: '127.0.0.1' })
    const reached = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (reached) return
    await sleep(50)
  }
  throw new Error(`nothing listens on port ${port}`)
}

/** The `http` settings for temporary folders of an nginx that does not run as root. */
export const nginxFolders = (folder: string): string =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')

/**
 * The path of a program, from the usual folders and the PATH; undefined if it is not installed.
 */
export function installed(name: string): string | undefined {
  const path = process.env['PATH'] ?? ''
  return ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin', ...path.split(delimiter)]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

/**
 * Starts the provider; its streams have `events` events, one every `every` milliseconds. @returns
 * its port
 */
export async function startUpstream(every = 20, events = 50): Promise<number> {
  const port = await freePort()
  startProgram(process.execPath, [
    ...NODE_FLAGS,
    join(here, 'upstream.ts'),
    String(port),
    String(every),
    String(events),
  ])
  await listening(port)
  return port
}

/** nginx's plain proxy_pass; null if it is not installed. */
export async function startNginx(folder: string, upstream: number): Promise<Contender | null> {
  const site = (port: number): string =>
    `client_body_buffer_size 1m; keepalive_requests 100000000;
  upstream u { server 127.0.0.1:${upstream}; keepalive 64; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } }`
  const nginx = await runNginx(folder, site)
  return nginx && { name: 'nginx', ...nginx, path: PATH, headers: [] }
}

/**
 * Runs nginx with one worker. @param site the content of its `http` block
 * @returns its port, and the worker's process; null if it is not installed
 */
export async function runNginx(
  folder: string,
  site: (port: number) => string,
): Promise<{ port: number; pid: number } | null> {
  const found = installed('nginx')
  if (found === undefined) return null
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log /dev/null crit; events { worker_connections 8192; }
http { access_log off; ${nginxFolders(folder)} ${site(port)} }`,
  )
  const master = startProgram(found, ['-c', config, '-p', folder])
  await listening(port)
  const [pid = 0] = readFileSync(`/proc/${master.pid}/task/${master.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
  return { port, pid }
}

/** Caddy's plain reverse_proxy; null if it is not installed. */
export async function startCaddy(folder: string, upstream: number): Promise<Contender | null> {
  const found = installed('caddy')
  if (found === undefined) return null
  const port = await freePort()
  const config = join(folder, 'Caddyfile')
  writeFileSync(
    config,
    `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port}, http://localhost:${port} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${upstream} {\n  flush_interval -1\n }\n}\n`,
  )
  const child = startProgram(
    found,
    ['run', '--config', config, '--adapter', 'caddyfile'],
    { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder },
    'ignore',
  )
  await listening(port)
  return { name: 'caddy', port, pid: child.pid!, path: PATH, headers: [] }
}

/**
 * The Portkey gateway from npm, installed beside this file the first time. It runs on Node 20, as
 * in its official image (https://github.com/Portkey-AI/gateway/blob/main/Dockerfile), and on the
 * Node that runs ours.
 *
 * @returns an empty list if it cannot be installed
 */
export async function startPortkeys(upstream: number): Promise<Contender[]> {
  const folder = join(here, 'rivals')
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const itsNode = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (!existsSync(program) || !existsSync(itsNode)) {
    console.error('installing the Portkey gateway into bench/proxy/rivals (once) …')
    const args = [
      'install',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--workspaces=false',
    ]
    if (spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] }).status !== 0) return []
  }
  const headers = [
    'Authorization: Bearer sk-bench',
    'x-portkey-provider: openai',
    `x-portkey-custom-host: http://127.0.0.1:${upstream}/v1`,
  ]
  const on = async (name: string, command: string): Promise<Contender> => {
    const port = await freePort()
    const child = startProgram(
      command,
      [program, '--headless', `--port=${port}`],
      { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
      'ignore',
    )
    await listening(port)
    return { name, port, pid: child.pid!, path: PATH, headers }
  }
  return [await on('portkey', itsNode), await on('portkey, our Node', process.execPath)]
}

/**
 * Our data path without steps 1 to 6: the request parser, the upstream client, and the relay
 * between them.
 */
export async function startRelay(upstream: number): Promise<Contender> {
  const port = await freePort()
  const child = startProgram(process.execPath, [
    ...NODE_FLAGS,
    ...HEAP_FLAGS,
    join(here, 'relay.ts'),
    String(port),
    String(upstream),
  ])
  await listening(port)
  return { name: 'bare relay', port, pid: child.pid!, path: `/proxy${PATH}`, headers: [] }
}

/** Our own server with a key that is limited to models and a rate, as `npm start` runs it. */
export async function startOurs(
  folder: string,
  upstream: number,
  flags: readonly string[] = process.env['BENCH_FLAGS']?.split(' ') ?? [],
  more: Readonly<Record<string, string>> = {},
): Promise<Ours> {
  const data = join(folder, 'data')
  const { token, key } = await makeSecrets(data, 'free', { models: ['gpt-*'], rpm: 1_000_000 })
  const env = {
    TOLLMARK_DATA: data,
    LOG_LEVEL: 'warn',
    OPENAI_API_KEY: 'sk-bench',
    TOLLMARK_UPSTREAM_OPENAI: `http://127.0.0.1:${upstream}`,
    TOLLMARK_FREE_CONVERSIONS: '1000',
    ...more,
  }
  const { port, pid, child } = await startServer(env, flags)
  children.push(child)
  const path = `/proxy?url=${encodeURIComponent(`https://api.openai.com${PATH}`)}`
  return { name: 'tollmark', port, pid, path, headers: [`Authorization: Bearer ${key}`], token }
}
