// Groups test files into processes, because starting one and loading the server costs half a second
// of CPU, as much as most files' tests. Also decides which processes start first.
import { writeFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Most files per process: enough to avoid repeated loading, and few enough to spread over
 * processors.
 */
const MAX_FILES = 12

/** TABLE of files that need their own process. */
const ALONE = [
  // They choose the store of every server that they start.
  'test/**/on-postgres.test.ts',
  'test/proxy/objects/several-processes.test.ts',
  // It counts the garbage collections of the whole process.
  'test/http1/read-memory.test.ts',
  // Its timers are not those of the system.
  'test/http1/slow-reads.test.ts',
  // They take as long as a group of other files.
  'test/chaos/*.test.ts',
  'test/packages/examples.test.ts',
]

/**
 * TABLE of the files whose processes run longest. They start first, so that none runs alone at the
 * end.
 */
const LONGEST = [
  'test/browser/dashboard/*.test.ts',
  'test/conversion/on-postgres.test.ts',
  'test/chaos/*.test.ts',
  'test/packages/examples.test.ts',
  'test/conversion/*.test.ts',
  'test/cli/*.test.ts',
  'test/api/*.test.ts',
  'test/**/on-postgres.test.ts',
]

/**
 * Areas with fewer files than this share processes, as the folders of an area do: a process for
 * each folder would be 26 more, half a second of CPU each.
 */
const MIN_FILES = 6

/** Files of tests that one process runs, one after another. */
interface Program {
  readonly name: string
  /** Paths from the root. */
  readonly files: readonly string[]
}

/**
 * The programs that run these files: modules that import files of one area. Node starts them in the
 * order of their names.
 *
 * @param files paths from the root
 * @param folder the folder for these modules
 */
export function testPrograms(root: string, files: readonly string[], folder: string): string[] {
  const sizes = Map.groupBy(files, areaOf)
  const groupOf = (file: string): string => {
    const area = areaOf(file)
    return isAlone(file) || (sizes.get(area)?.length ?? 0) >= MIN_FILES ? area : 'other'
  }
  const programs = [...Map.groupBy(files, groupOf)]
    .flatMap(([name, own]) => parts(name, own))
    .sort((a, b) => rank(a) - rank(b) || b.files.length - a.files.length)
  return programs.map((program, index) => {
    const number = String(index).padStart(3, '0')
    const path = join(folder, `${number}-${program.name.replaceAll(/[\\/]/g, '-')}.test.mjs`)
    writeFileSync(path, moduleOf(root, program))
    return path
  })
}

const isAlone = (file: string): boolean => ALONE.some((pattern) => matchesGlob(file, pattern))

/** The folder below `test` or `packages`: `test/proxy`. */
const areaOf = (file: string): string =>
  isAlone(file) ? file.replace(/\.test\.ts$/, '') : dirname(file).split('/').slice(0, 2).join('/')

/** Divides files into equal parts. */
function parts(name: string, files: readonly string[]): Program[] {
  const size = Math.ceil(files.length / Math.ceil(files.length / MAX_FILES))
  return Array.from({ length: Math.ceil(files.length / size) }, (_, part) => ({
    name: `${name}-${part + 1}`,
    files: files.slice(part * size, (part + 1) * size),
  }))
}

/** A program's index in `LONGEST`; the table's length if it is not there. */
function rank({ files }: Program): number {
  const found = LONGEST.findIndex((pattern) => files.some((file) => matchesGlob(file, pattern)))
  return found === -1 ? LONGEST.length : found
}

/**
 * Imports the files, and lets no test begin before all are loaded. Some files await a server when
 * they are loaded. If all tests of the others had ended by then, Node would run everybody's global
 * `after`, which closes that server. A file that cannot be loaded fails that first test at once.
 */
const moduleOf = (root: string, { name, files }: Program): string =>
  [
    "import { test } from 'node:test'",
    'const loading = Promise.withResolvers()',
    `test(${JSON.stringify(`${name} is loaded`)}, () => loading.promise)`,
    'try {',
    ...files.map(
      (file) => `  await import(${JSON.stringify(pathToFileURL(join(root, file)).href)})`,
    ),
    '  loading.resolve()',
    '} catch (error) {',
    '  loading.reject(error)',
    '}',
    '',
  ].join('\n')
