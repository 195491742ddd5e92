// The balancers of deploy/, with other addresses and without TLS.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { installed, listening, nginxFolders, startProgram } from '../proxy/contenders.ts'

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy')

/**
 * Starts a balancer for servers on these ports. @returns its port, or null if it is not installed
 */
type StartBalancer = (folder: string, ports: readonly number[]) => Promise<number | null>

/** TABLE of balancers. */
export const BALANCERS: Readonly<Record<string, StartBalancer>> = {
  nginx: async (folder, ports) => {
    const program = installed('nginx')
    if (program === undefined) return null
    const port = await freePort()
    const [first = ''] = /^ +server 127\.0\.0\.1:8484.*;$/m.exec(read('nginx.conf')) ?? []
    const site = replaced(read('nginx.conf'), [
      [
        /^ +server 127\.0\.0\.1:8484.*;\n +server 127\.0\.0\.1:8485.*;$/m,
        ports.map((one) => first.replace('8484', String(one))).join('\n'),
      ],
      [/^ +listen 443 ssl http2;$/m, `listen 127.0.0.1:${port};`],
      [/^ +listen \[::\]:443 ssl http2;$/m, ''],
      [/^ +ssl_certificate .*$/m, ''],
      [/^ +ssl_certificate_key .*$/m, ''],
    ])
    const temporary = nginxFolders(folder)
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}\nhttp { access_log off; ${temporary}\n${site}\n}`,
    )
    startProgram(program, ['-c', config, '-p', folder])
    await listening(port)
    return port
  },
  caddy: async (folder, ports) => {
    const program = installed('caddy')
    if (program === undefined) return null
    const port = await freePort()
    const site = replaced(read('Caddyfile'), [
      [/web-1:8484 web-2:8484/, ports.map((one) => `127.0.0.1:${one}`).join(' ')],
    ])
    const config = join(folder, 'Caddyfile')
    const log = `output file ${folder}/error.log\nlevel WARN`
    writeFileSync(config, `{\nadmin off\nlog {\n${log}\n}\n}\n${site}`)
    startProgram(
      program,
      ['run', '--config', config, '--adapter', 'caddyfile'],
      {
        SITE_ADDRESS: `http://127.0.0.1:${port}`,
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder,
        HOME: folder,
      },
      'ignore',
    )
    await listening(port)
    return port
  },
}

const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8')

/**
 * @throws Error if the file lacks the replaced text, because it would then measure something else
 */
function replaced(text: string, changes: readonly [from: RegExp, to: string][]): string {
  for (const [from, to] of changes) {
    if (!from.test(text)) throw new Error(`there is no ${from} in the file`)
    text = text.replace(from, to)
  }
  return text
}
