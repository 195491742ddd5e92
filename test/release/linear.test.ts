// Whatever reads what callers send is in a table of `npm run bench -- linear`, or has a reason to
// be in none.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Folders whose modules read what callers and providers send. */
const FOLDERS = [
  'server/http1',
  'server/http1/client',
  'server/http1/websocket',
  'server/keys',
  'server/proxy',
  'server/proxy/forward',
  'server/proxy/inspect',
  'server/proxy/json',
  'server/proxy/masking',
  'server/proxy/objects',
  'server/proxy/socket',
  'server/proxy/usage',
]
/** Names of what reads. */
const READS =
  /^export (?:async )?(?:function\*?|class|const) ((?:read|parse|decode|scan|compile)[A-Z]\w*|classify|\w+(?:Reader|Parser|Decoder|Scanner|Window|Observer|Meter|Inspection))\b/gm

/** TABLE of readers without a row of their own, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  compilePaths: 'Our own tables, once each.',
  compileRules: 'Our own tables, at the start.',
  compileInside: 'Compares entries of two keys, as many as narrowing.ts allows.',
  BodyDecoder: 'Takes the framing off requests and responses: RequestReader and ResponseReader.',
  readHandshake: 'Reads fields of a head, which RequestParser bounds.',
  parseFields: 'Reads the lines of a head: RequestReader and ResponseReader.',
  parseJson: 'JSON.parse, for values that a scanner has bounded.',
  transferDecoder: 'Chooses the decoder of a part: Inspection.',
  decodeWhole: 'Node’s decoders, for 1 MB of an error at most.',
  GivenIdReader: 'Reads the keys of a body for which no row gives places: Inspection.',
  KeyedToolReader: 'Reads the tools of a body: Inspection.',
  readCredential: 'Reads fields of a head, which RequestParser bounds.',
  readDisposition: 'Reads the head of a part, which PartReader bounds: MultipartReader.',
  readRelated: 'Reads the head of a part, which PartReader bounds: MultipartReader.',
  PartReader: 'Reads the parts of a form: Inspection.',
  UploadReader:
    'Hands the parts of an upload to the two readers of parts: MultipartReader, Inspection.',
  WordBodyScanner: 'Reads what is not quite JSON: Inspection.',
  WordScanner: 'Parts the words for it: Inspection.',
  UrlencodedReader: 'Reads a body in the form of a query: Inspection.',
}

test('every reader has a row, or a reason to have none', () => {
  const rows = globSync('bench/linear/*.ts', { cwd: root }).map(read).join('\n')
  const measured = new Set(
    [...rows.matchAll(/^import \{([^}]+)\} from '\.\.\/\.\.\/(?:server|packages)\//gm)].flatMap(
      ([, names = '']) =>
        names.split(',').map((name) => name.replace(/^\s*type\s|\sas\s.*$/g, '').trim()),
    ),
  )
  const files = FOLDERS.flatMap((folder) => globSync(`${folder}/*.ts`, { cwd: root })).map((file) =>
    file.split('\\').join(posix.sep),
  )
  const readers = files.flatMap((file) =>
    [...read(file).matchAll(READS)].map(([, name = '']) => ({ file, name })),
  )
  assert.ok(readers.length > 10, `${readers.length} readers`)
  assert.deepEqual(
    readers
      .filter(({ name }) => !measured.has(name) && !(name in ELSEWHERE))
      .map(({ file, name }) => `${file}: ${name}`),
    [],
  )
  const names = new Set(readers.map(({ name }) => name))
  assert.deepEqual(
    Object.keys(ELSEWHERE).filter((name) => !names.has(name)),
    [],
    'a reader that is not there',
  )
})
