// TABLE of other converters as functions, configured as their READMEs recommend. They are outside
// the workspace, so that only the benchmark installs them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Turns one page of HTML into Markdown. */
export type Convert = (html: string) => string

const folder = import.meta.dirname
const require = createRequire(join(folder, 'package.json'))

/** The exports used here. */
type Module = Record<string, unknown>
const load = async (name: string): Promise<Module> =>
  (await import(pathToFileURL(require.resolve(name)).href)) as Module

/** Invisible elements, which every converter that has such an option is told to skip. */
const UNSEEN = ['style', 'script']

export const RIVALS: Readonly<Record<string, () => Promise<Convert>>> = {
  'mdream (JavaScript)': async () => {
    const { htmlToMarkdown } = (await load('@mdream/js')) as { htmlToMarkdown: Convert }
    return (html) => htmlToMarkdown(html)
  },
  'html-to-markdown (native, Rust)': async () => {
    const { convert } = require('@kreuzberg/html-to-markdown-node') as {
      convert: (html: string, options: object) => { content: string }
    }
    return (html) => convert(html, { extractMetadata: false }).content
  },
  'node-html-markdown': async () => {
    const { NodeHtmlMarkdown } = (await load('node-html-markdown')) as {
      NodeHtmlMarkdown: new (options: object) => { translate: Convert }
    }
    const translator = new NodeHtmlMarkdown({ ignore: UNSEEN })
    return (html) => translator.translate(html)
  },
  turndown: async () => {
    const { default: Turndown } = (await load('turndown')) as {
      default: new (options: object) => {
        use(plugin: unknown): void
        remove(tags: string[]): void
        turndown: Convert
      }
    }
    const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
    service.use((require('turndown-plugin-gfm') as { gfm: unknown }).gfm)
    service.remove(UNSEEN)
    return (html) => service.turndown(html)
  },
  'rehype-remark': async () => {
    interface Processor {
      use(plugin: unknown): Processor
      processSync(html: string): unknown
    }
    const { unified } = (await load('unified')) as { unified: () => Processor }
    const plugins = await Promise.all(
      ['rehype-parse', 'rehype-remark', 'remark-gfm', 'remark-stringify'].map(load),
    )
    const processor = plugins.reduce<Processor>(
      (chain, plugin) => chain.use(plugin['default']),
      unified(),
    )
    return (html) => String(processor.processSync(html))
  },
}

/** Installs missing rivals. @throws Error if npm fails */
export function installRivals(): void {
  if (existsSync(join(folder, 'node_modules', 'rehype-remark'))) return
  console.error('installing the rivals into bench/rivals (once) …')
  const args = [
    'install',
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--workspaces=false',
  ]
  const done = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] })
  if (done.status !== 0) throw new Error('npm install failed in bench/rivals; its output is above')
}
