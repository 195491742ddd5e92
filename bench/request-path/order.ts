// Loaded into a server before its own code: notes each entry into a function of the server, with
// the file that called it, and after each SIGUSR2 writes those since the last one to the file that
// BENCH_ORDER names.
import { renameSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { parseAst } from 'rolldown/parseAst'

/** An entry: the file and name of the function, and the file of its caller, if it has one. */
export type Entry = [file: string, name: string, caller: string | null]

/** The frame of a caller, after this file's two and the entered function. */
const CALLER = 3
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const target = process.env.BENCH_ORDER
let entries: Entry[] = []

/** The file of the function that called the one which called this; null: none of ours did. */
function callerFile(): string | null {
  const { prepareStackTrace } = Error
  Error.prepareStackTrace = (_, sites) => sites
  const sites = new Error().stack as unknown as readonly NodeJS.CallSite[]
  Error.prepareStackTrace = prepareStackTrace
  // Built-in functions that call back are skipped.
  const urls = sites.slice(CALLER).map((site) => site.getFileName() ?? '')
  const url = urls.find((one) => one.startsWith('file:'))
  return url === undefined ? null : relative(ROOT, fileURLToPath(url))
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [child: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

/** The source with a call of `enter` at the beginning of each function. */
function instrument(file: string, source: string): string {
  const inserts: [at: number, text: string][] = []
  const visit = (node: Node, name: string): void => {
    const named = node['id'] ?? node['key']
    const own = isNode(named) && typeof named['name'] === 'string' ? named['name'] : name
    const { body } = node
    if (/Function/.test(node.type) && isNode(body)) {
      const enter = `globalThis.__enter(${JSON.stringify(file)},${JSON.stringify(own)})`
      if (body.type === 'BlockStatement') inserts.push([body.start + 1, `${enter};`])
      else if (node.type === 'ArrowFunctionExpression')
        inserts.push([body.start, `(${enter},`], [body.end, ')'])
    }
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, own)
  }
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, '')
  let made = source
  for (const [at, text] of inserts.toSorted(([a], [b]) => b - a))
    made = made.slice(0, at) + text + made.slice(at)
  return made
}

if (isMainThread && target !== undefined) {
  Object.assign(globalThis, {
    __enter: (file: string, name: string) => entries.push([file, name, callerFile()]),
  })
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : ''
      return /^server\/.*\.ts$/.test(file)
        ? { ...loaded, source: instrument(file, String(loaded.source)) }
        : loaded
    },
  })
  process.on('SIGUSR2', () => {
    writeFileSync(`${target}.part`, JSON.stringify(entries))
    renameSync(`${target}.part`, target)
    entries = []
  })
}
