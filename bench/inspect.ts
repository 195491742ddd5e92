// What the inspection of request bodies costs, by the shape of the body, for a key with models and
// one without: bytes per second; the time at 4n compared with n; and the longest step, which limits
// how long other requests wait (a slice is SLICE_MS, a short step and a long one).
// `npm run bench -- inspect [TEXT …]` (parts of shapes' names), `--size MB` (4n, default
// 64). The best of many runs over 256 KB; a plain loop over the same bytes shows how slow the
// machine is. Exits with 1 if a bar is missed.
import { parseArgs } from 'node:util'
import { Inspection } from '../server/proxy/inspect/inspection.ts'
import { nextStepBytes, SLICE_MS, STEP_BYTES } from '../server/proxy/inspect/scheduler.ts'
import { classify } from '../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../server/proxy/providers/table.ts'
import { filled, JSON_BODIES, largeForm, tokenLists } from './parts/bodies.ts'

const MB = 1024 * 1024
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string', default: '64' } },
})
const size = Number(values.size) * MB
const SHORT_BYTES = MB / 4
const MIN_CPU_MS = 20

interface Shape {
  readonly name: string
  /** Gigabytes a second at least. */
  readonly bar: number
  readonly type: string
  make(bytes: number): Buffer
}

const TEXT = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(40)
const WORST = 0.5
const shape = (
  name: string,
  bar: number,
  make: Shape['make'],
  type = 'application/json',
): Shape => ({ name, bar, make, type })
const input = (name: string, bar: number, unit: string): Shape =>
  shape(name, bar, (bytes) => filled('{"model":"gpt-5","input":[', unit, ']}', bytes))
const message = (text: string): string => `{"role":"user","content":"${text}"},`
const text = (length: number): string => TEXT.slice(0, length)

/** TABLE of shapes of bodies. */
const SHAPES: readonly Shape[] = [
  input('messages of 2,000 letters', 4, message(text(1_930))),
  shape('a file in base64', 4, (bytes) =>
    filled('{"model":"gpt-5","input":[{"content":"', 'QUJD', '"}]}', bytes),
  ),
  input('strings of 400', 4, `"${text(397)}",`),
  input('strings of 60', 1, `"${text(58)}","${text(58)}",`),
  input('messages, a quote each 60', 1, `{"${text(58)}":"${text(58)}"},`),
  input(
    'code, with escapes',
    1,
    message(String.raw`function f(x) {\n  return \"a\" + x\n}\n\n`.repeat(40)),
  ),
  input('words of a letter', WORST, '"a",'),
  input('empty strings', WORST, '"",'),
  input('lists', WORST, '[],'),
  input('floats', WORST, '0.0123456,-5.5e-10,'),
  input('literals', WORST, 'true,null,false,'),
  input('strings that could be ids', WORST, '"file-abc123def456","resp_0123456789abcdef",'),
  input('tools', WORST, '{"tools":[{"type":"function","name":"f"}]},'),
  input(
    'messages in parts',
    WORST,
    '{"role":"user","content":[{"type":"input_text","text":"hello"}]},',
  ),
  input(
    'indented messages',
    WORST,
    '\n    {\n      "role": "user",\n      "content": "hello"\n    },',
  ),
  input(
    'files in messages',
    WORST,
    '{"content":[{"type":"input_file","file_id":"file-abc123def456"}]},',
  ),
  input('strings with an escape', WORST, String.raw`"a\n",`),
  input('ids with an escape', WORST, String.raw`"f\u0069le-abc123def456",`),
  shape('different ids', WORST, (bytes) => different(bytes, (i) => `"file-abc${i}",`)),
  shape('different strings with an escape', WORST, (bytes) =>
    different(bytes, (i) => String.raw`"f\n${i}",`),
  ),
  shape('different words', WORST, (bytes) => different(bytes, (i) => `"file${i}",`)),
  shape('few different ids', WORST, (bytes) => different(bytes, (i) => `"file-abc${i % 9_000}",`)),
  shape('different words, and no JSON', WORST, (bytes) => different(bytes, (i) => `wo${i},`)),
  shape('a long text, and no JSON', WORST, (bytes) =>
    filled('{"model":"gpt-5","Input":"', TEXT, '",}', bytes),
  ),
  shape('UTF-16', WORST, (bytes) =>
    Buffer.from(
      filled('{"model":"gpt-5","Input":"', TEXT, '"}', bytes / 2).toString('latin1'),
      'utf16le',
    ),
  ),
  input(
    'long numbers',
    WORST,
    '-123456789012345678901234567890.123456789012345678901234567890e+100,',
  ),
  shape('wanted keys in capitals', WORST, (bytes) =>
    filled('{"model":"gpt-5",', '"MODEL":1,', ',"z":1}', bytes),
  ),
  shape('wanted keys in capitals, and others', WORST, (bytes) =>
    filled('{"model":"gpt-5",', '"MODEL":1,"Input":2,', ',"z":1}', bytes),
  ),
  shape('backslashes', WORST, (bytes) => filled('{"model":"gpt-5","input":"', '\\\\', '"}', bytes)),
  shape('escaped quotes', WORST, (bytes) =>
    filled('{"model":"gpt-5","input":"', '\\"', '"}', bytes),
  ),
  shape('keys with escapes', WORST, (bytes) =>
    filled('{"model":"gpt-5",', '"\\u006d":1,', ',"z":1}', bytes),
  ),
  shape('keys beyond ASCII', WORST, (bytes) =>
    filled('{"model":"gpt-5",', '"mé":1,', ',"z":1}', bytes),
  ),
  ...Object.entries({ ...JSON_BODIES, 'token lists': tokenLists }).map(([name, make]) =>
    shape(name, WORST, (bytes) => make(bytes).bytes),
  ),
  shape('a form with a file', WORST, (bytes) => largeForm(bytes).bytes, largeForm(1_000).type),
]

/** Strings that are all different. */
function different(bytes: number, unit: (i: number) => string): Buffer {
  const units: string[] = []
  for (let i = 100_000, length = 100; length < bytes; i++)
    length += units.push(unit(i)) && units.at(-1)!.length
  return Buffer.from(`{"model":"gpt-5","input":[${units.join('').slice(0, -1)}]}`)
}

const provider = createProviderTable().byId('openai')!

/**
 * Inspects a body as the queue does. @param onStep gets the duration of each step, in milliseconds
 */
function inspect(
  { type }: Shape,
  body: Buffer,
  strict: boolean,
  onStep?: (ms: number) => void,
): void {
  const match = classify(
    provider,
    'POST',
    type === 'application/json' ? '/v1/responses' : '/v1/audio/transcriptions',
  )
  const inspection = new Inspection(
    { provider, match, headers: ['Content-Type', type], strict, limit: 2 * size },
    [body],
  )
  for (let state = '', bytes = STEP_BYTES; state !== 'done'; bytes = nextStepBytes(bytes)) {
    const begun = onStep === undefined ? 0 : performance.now()
    state = inspection.step(() => {}, bytes)
    onStep?.(performance.now() - begun)
  }
}

function plainLoop(body: Buffer): number {
  let sum = 0
  for (let i = 0; i < body.length; i++) if (body[i] === 0x22) sum++
  return sum
}

/** The shortest of many short runs in milliseconds, because other programs interrupt long ones. */
function best(run: () => void): number {
  let least = Infinity
  for (let i = 0, spent = 0; i < 20 || (i < 200 && spent < 500); i++) {
    const begun = performance.now()
    run()
    const took = performance.now() - begun
    spent += took
    least = Math.min(least, took)
  }
  return least
}

/** The least CPU time of this thread, in milliseconds. */
function cpu(run: () => void): number {
  let least = Infinity
  for (let i = 0; i < 3; i++) {
    const begun = process.threadCpuUsage()
    run()
    const { user, system } = process.threadCpuUsage(begun)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/** The longest step, in milliseconds, taking the shortest of several runs for each step. */
function longestStep(of: Shape, body: Buffer, strict: boolean): number {
  let least: number[] = []
  for (let run = 0; run < 6; run++) {
    const steps: number[] = []
    inspect(of, body, strict, (ms) => steps.push(ms))
    least = steps.map((ms, i) => Math.min(ms, least[i] ?? Infinity))
  }
  return least.reduce((most, ms) => Math.max(most, ms), 0)
}

let missed = 0
console.log(
  `${'shape'.padEnd(30)}${'strict'.padStart(8)}${'lenient'.padStart(9)}${'loop'.padStart(7)}  GB/s${'4n / n'.padStart(9)}${'longest step'.padStart(15)}`,
)
for (const one of SHAPES.filter(
  ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
)) {
  const short = one.make(SHORT_BYTES)
  const small = one.make(size / 4)
  const large = one.make(size)
  const rate = (ms: number): number => short.length / ms / 1e6
  const [strict, lenient, loop] = [
    best(() => inspect(one, short, true)),
    best(() => inspect(one, short, false)),
    best(() => void plainLoop(short)),
  ]
  const times = (body: Buffer): number => cpu(() => inspect(one, body, false))
  // A few clock ticks are too short to compare.
  const atN = times(small)
  const ratio = atN < MIN_CPU_MS ? 0 : times(large) / atN
  const step = Math.max(longestStep(one, short, true), longestStep(one, short, false))
  const verdicts = [
    Math.min(rate(strict), rate(lenient)) < one.bar ? `below ${one.bar} GB/s` : '',
    ratio > 5 ? 'NOT LINEAR' : '',
    SLICE_MS + 1.25 * step > 1 ? 'A LONG SLICE' : '',
  ].filter((verdict) => verdict !== '')
  if (verdicts.length > 0) missed++
  const columns = [
    rate(strict).toFixed(2).padStart(8),
    rate(lenient).toFixed(2).padStart(9),
    rate(loop).toFixed(2).padStart(7),
    (ratio === 0 ? '-' : ratio.toFixed(1)).padStart(15),
    `${(step * 1_000).toFixed(0)} µs`.padStart(15),
  ]
  console.log(`${one.name.padEnd(30)}${columns.join('')}  ${verdicts.join(', ')}`)
}
process.exitCode = missed > 0 ? 1 : 0
