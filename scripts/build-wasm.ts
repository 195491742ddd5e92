// Compiles the JSON scanner's module: `npm run build:wasm`, after each change below
// server/proxy/json/. What it writes is committed beside its source, so that a fresh clone runs
// without a build.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MEMORY_PAGES } from '../server/proxy/json/layout.ts'

const root = join(import.meta.dirname, '..')
/** The path of the compiled JSON scanner. */
export const SCANNER = join(root, 'server/proxy/json/scanner.wasm')
/** Its sources, which look like TypeScript and are none. From the root. */
export const ASSEMBLY = 'server/proxy/json/assembly'

const PAGES = String(MEMORY_PAGES)
/**
 * The state and the tables have addresses of their own (layout.ts), so there is no run-time
 * library.
 */
const FLAGS = [
  '-O3',
  '--noAssert',
  '--converge',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--use',
  'abort=',
  '--initialMemory',
  PAGES,
  '--maximumMemory',
  PAGES,
  '--noColors',
]

/**
 * Writes the module, whose bytes are the same on every machine.
 *
 * @throws Error with the compiler's words where it does not compile
 */
export async function compileScanner(into: string): Promise<void> {
  // A process of its own: the compiler's types change those of JavaScript's lists for everybody who
  // imports it.
  const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js')
  await promisify(execFile)(
    process.execPath,
    [compiler, `${ASSEMBLY}/index.ts`, '--outFile', into, ...FLAGS],
    { cwd: root },
  )
}

if (import.meta.main) await compileScanner(SCANNER)
