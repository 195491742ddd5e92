// Which files of tests run in one process: to start one and to load the server costs half a second
// of CPU, as much as the tests of most files.
import { writeFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Most files of a process: enough that little is loaded again, and few enough to share processors. */
const MAX_FILES = 8

/** TABLE of files that have their process alone. */
const ALONE = [
  // They choose the store of every server that is started.
  'test/**/on-postgres.test.ts',
  'test/proxy/objects/several-processes.test.ts',
  // It counts the collections of the whole process.
  'test/http1/read-memory.test.ts',
  // It ends before the others have started their servers, and the end of all tests so far deletes
  // what those were given.
  'test/proxy/socket/pump-turns.test.ts',
  // Its timers are not those of the system.
  'test/http1/slow-reads.test.ts',
  // Each of them takes as long as a process of others: one after another they would end last.
  'test/browser/dashboard/*.test.ts',
  'test/packages/examples.test.ts',
]

const shares = (file: string): boolean => !ALONE.some((pattern) => matchesGlob(file, pattern))

/**
 * The programs that run these files: the files themselves, or modules that import some of one
 * folder.
 *
 * @param files paths from the root
 * @param folder where the modules are written
 */
export function testPrograms(root: string, files: readonly string[], folder: string): string[] {
  const folders = Map.groupBy(files.filter(shares), (file) => dirname(file))
  return [
    ...files.filter((file) => !shares(file)),
    ...[...folders].flatMap(([name, own]) => {
      const processes = Math.ceil(own.length / MAX_FILES)
      const size = Math.ceil(own.length / processes)
      return Array.from({ length: processes }, (_, number) =>
        program(root, own.slice(number * size, (number + 1) * size), {
          folder,
          name: `${name.replaceAll(/[\\/]/g, '-')}-${number + 1}`,
        }),
      )
    }),
  ]
}

/** One file as it is; several as a module that imports them. */
function program(
  root: string,
  files: readonly string[],
  { folder, name }: { folder: string; name: string },
): string {
  const [first = ''] = files
  if (files.length === 1) return first
  const module = join(folder, `${name}.test.mjs`)
  const lines = files.map(
    (file) => `// ${basename(file)}\nimport '${pathToFileURL(join(root, file))}'\n`,
  )
  writeFileSync(module, lines.join(''))
  return module
}
