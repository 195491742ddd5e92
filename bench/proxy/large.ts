// Requests like those of coding agents: 50,000 to 100,000 tokens of instructions, tools, source
// code and tool results, 200 to 400 KB of JSON.

const SOURCE = [
  'export async function readConfig(path: string): Promise<Config> {\n  const text = await readFile(path, "utf8")\n  return parse(JSON.parse(text))\n}\n',
  'def merge(left, right):\n    """Merge two sorted lists."""\n    return [heappop(x) for x in (left, right) if x["key"] != \'\\n\']\n',
  '<div class="row">\n\t<a href="/users/${id}?tab=\\"files\\"">{{ name | escape }}</a>\n</div>\n',
  'const RE = /^(?:[^"\\\\]|\\\\.)*$/u; // "quoted" \\ text\nif (a < b && c > d) return `${a}\\t${b}`\n',
]
const PROSE =
  'The failing test expects the parser to keep the trailing comment, so the fix belongs in the tokenizer. '
const LANGUAGES = [
  'Le test échoue parce que la clé n’est pas trouvée. ',
  '测试失败，因为解析器没有保留注释。',
  'Тест падает из-за пустого ключа. ',
  '🚀 done ',
]

/**
 * A fixed pseudorandom sequence, so that every run sends the same (Park and Miller's generator).
 */
function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below
}

const code = (next: (below: number) => number, bytes: number): string => {
  let text = ''
  while (text.length < bytes) text += `${next(10_000)}: ${SOURCE[next(SOURCE.length)]}`
  return text
}

const TOOLS = ['read_file', 'write_file', 'search', 'run_command', 'list_files', 'apply_patch'].map(
  (name) => ({
    type: 'function',
    function: {
      name,
      description: PROSE.repeat(4),
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: PROSE },
          lines: { type: 'array', items: { type: 'integer' } },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
  }),
)

type Next = (below: number) => number

/** TABLE of shapes of a request's messages. */
const SHAPES: readonly ((next: Next, turn: number) => unknown[])[] = [
  // Tool calls and their results.
  (next, turn) => [
    {
      role: 'assistant',
      content: PROSE,
      tool_calls: [
        {
          id: `call_${turn}`,
          type: 'function',
          function: {
            name: 'read_file',
            arguments: JSON.stringify({ path: `src/${turn}.ts`, lines: [1, 200] }),
          },
        },
      ],
    },
    { role: 'tool', tool_call_id: `call_${turn}`, content: code(next, 8_000) },
  ],
  // Blocks of content.
  (next, turn) => [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: PROSE },
        {
          type: 'tool_use',
          id: `toolu_${turn}`,
          name: 'run_command',
          input: { command: 'npm test', timeout: 60_000 },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `toolu_${turn}`,
          content: [
            { type: 'text', text: code(next, 8_000), cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
    },
  ],
  // Many short messages.
  (next) =>
    Array.from({ length: 40 }, () => ({
      role: next(2) === 0 ? 'user' : 'assistant',
      content: `${PROSE}${LANGUAGES[next(LANGUAGES.length)]}`,
    })),
  // JSON within JSON: search results.
  (next) => [
    {
      role: 'user',
      content: JSON.stringify(
        Array.from({ length: 60 }, () => ({
          file: `src/${next(1_000)}.ts`,
          line: next(500),
          match: SOURCE[next(SOURCE.length)],
        })),
      ),
    },
  ],
]

/** The bodies: 200 to 400 KB each, every shape, half of them for a streamed response. */
export const LARGE_BODIES: readonly Buffer[] = Array.from({ length: 16 }, (_, i) => {
  const next = sequence(i + 7)
  const bytes = 200_000 + next(200_000)
  const messages: unknown[] = [{ role: 'system', content: PROSE.repeat(100) }]
  const shape = SHAPES[i % SHAPES.length]!
  let size = 0
  for (let turn = 0; size < bytes; turn++) {
    const more = shape(next, turn)
    size += JSON.stringify(more).length
    messages.push(...more)
  }
  const stream = Math.floor(i / SHAPES.length) % 2 === 0
  return Buffer.from(
    JSON.stringify({
      model: 'gpt-5',
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      max_tokens: 8_000,
      tools: TOOLS,
      messages,
    }),
  )
})
