// Other converters, as plain functions. They stand outside of the workspace, so that nobody but this benchmark installs them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Turns one page of HTML into Markdown. */
export type Convert = (html: string) => string

const folder = import.meta.dirname
const require = createRequire(join(folder, 'package.json'))

/** Installs the rivals unless they are there. Throws when npm fails. */
export function installRivals(): void {
  if (existsSync(join(folder, 'node_modules', 'turndown'))) return
  console.error('installing the rivals into bench/rivals (once) …')
  const args = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error', '--workspaces=false']
  const done = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] })
  if (done.status !== 0) throw new Error('npm install failed in bench/rivals; its output is above')
}

/** mdream's engine in JavaScript. */
export async function loadMdream(): Promise<Convert> {
  const { htmlToMarkdown } = (await import(pathToFileURL(require.resolve('@mdream/js')).href)) as { htmlToMarkdown: Convert }
  return (html) => htmlToMarkdown(html)
}

/** turndown with the GFM plugin, ATX headings and fenced code; style sheets and scripts removed, as every user must. */
export function loadTurndown(): Convert {
  const Turndown = require('turndown') as new (options: object) => { use(plugin: unknown): void; remove(tags: string[]): void; turndown: Convert }
  const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
  service.use((require('turndown-plugin-gfm') as { gfm: unknown }).gfm)
  service.remove(['style', 'script'])
  return (html) => service.turndown(html)
}
