// Compiles the JSON scanner: `npm run build:wasm`, after each change below server/proxy/json/. The
// result is committed beside its source, so that a fresh clone runs without a build.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MEMORY_PAGES } from '../server/proxy/json/layout.ts'

const root = join(import.meta.dirname, '..')
/** The path of the compiled JSON scanner. */
export const SCANNER = join(root, 'server/proxy/json/scanner.wasm')
/** Its AssemblyScript sources, from the root. */
export const ASSEMBLY = 'server/proxy/json/assembly'

const PAGES = String(MEMORY_PAGES)
/** State and tables have fixed addresses (layout.ts), so no run-time library is needed. */
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
 * Writes the module; its bytes are the same on every machine.
 *
 * @throws Error with the compiler's output if it does not compile
 */
export async function compileScanner(into: string): Promise<void> {
  // A separate process, because importing the compiler would change the types of JavaScript's
  // arrays everywhere.
  const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js')
  await promisify(execFile)(
    process.execPath,
    [compiler, `${ASSEMBLY}/index.ts`, '--outFile', into, ...FLAGS],
    { cwd: root },
  )
}

if (import.meta.main) await compileScanner(SCANNER)
