// TABLE of the providers' SDKs in TypeScript and Python: how each creates a client with a base URL
// and generates text, whole or streamed.

/**
 * How to use an SDK in one language. `{base}`, `{key}`, `{model}` and `{region}` become string
 * literals.
 */
export interface Usage {
  imports: string
  create: readonly string[]
  whole: readonly string[]
  /** `{write}` prints a piece of the text. */
  streamed: readonly string[]
}

/** One provider's SDK: how to create a client and make a call. */
export interface Sdk {
  typescript: Usage
  python: Usage
}

/** A TypeScript call with one argument per line. */
const ts = (start: string, ...args: string[]): string[] => [
  `${start}({`,
  ...args.map((line) => `  ${line}`),
  '})',
]
/** A Python call with one argument per line. */
const py = (start: string, ...args: string[]): string[] => [
  `${start}(`,
  ...args.map((line) => `    ${line}`),
  ')',
]

const ASKED = "'Say hello.'"
const MODEL = { ts: 'model: {model},', py: 'model={model},' }
const MESSAGES = {
  ts: `messages: [{ role: 'user', content: ${ASKED} }],`,
  py: `messages=[{'role': 'user', 'content': ${ASKED}}],`,
}
const CHAT = { ts: [MODEL.ts, MESSAGES.ts], py: [MODEL.py, MESSAGES.py] }
const printed = (piece: string): string => `print(${piece}, end='', flush=True)`

/** OpenAI's SDK, and others generated in the same way. */
function like(name: string, typescript: string, python: string) {
  const options = {
    ts: ['baseURL: {base},', 'apiKey: {key},'],
    py: ['base_url={base},', 'api_key={key},'],
  }
  return {
    typescript: {
      imports: `import ${name} from '${typescript}'`,
      create: ts(`const client = new ${name}`, ...options.ts),
    },
    python: {
      imports: `from ${python} import ${name}`,
      create: py(`client = ${name}`, ...options.py),
    },
  }
}

/** Chat completions with the SDKs of OpenAI and Groq. */
function chat(made: ReturnType<typeof like>): Sdk {
  const call = 'client.chat.completions.create'
  return {
    typescript: {
      ...made.typescript,
      whole: [
        ...ts(`const completion = await ${call}`, ...CHAT.ts),
        'console.log(completion.choices[0]?.message.content)',
      ],
      streamed: [
        ...ts(`const stream = await ${call}`, ...CHAT.ts, 'stream: true,'),
        'for await (const chunk of stream) {',
        "  {write}(chunk.choices[0]?.delta.content ?? '')",
        '}',
      ],
    },
    python: {
      ...made.python,
      whole: [
        ...py(`completion = ${call}`, ...CHAT.py),
        'print(completion.choices[0].message.content)',
      ],
      streamed: [
        ...py(`stream = ${call}`, ...CHAT.py, 'stream=True,'),
        'for chunk in stream:',
        `    ${printed("chunk.choices[0].delta.content or ''")}`,
      ],
    },
  }
}

const OPENAI = like('OpenAI', 'openai', 'openai')
const INPUT = { ts: [MODEL.ts, `input: ${ASKED},`], py: [MODEL.py, `input=${ASKED},`] }

const RESPONSES: Sdk = {
  typescript: {
    ...OPENAI.typescript,
    whole: [
      ...ts('const response = await client.responses.create', ...INPUT.ts),
      'console.log(response.output_text)',
    ],
    streamed: [
      ...ts('const stream = await client.responses.create', ...INPUT.ts, 'stream: true,'),
      'for await (const event of stream) {',
      "  if (event.type === 'response.output_text.delta') {write}(event.delta)",
      '}',
    ],
  },
  python: {
    ...OPENAI.python,
    whole: [
      ...py('response = client.responses.create', ...INPUT.py),
      'print(response.output_text)',
    ],
    streamed: [
      ...py('stream = client.responses.create', ...INPUT.py, 'stream=True,'),
      'for event in stream:',
      "    if event.type == 'response.output_text.delta':",
      `        ${printed('event.delta')}`,
    ],
  },
}

const ANTHROPIC = like('Anthropic', '@anthropic-ai/sdk', 'anthropic')
const MESSAGE = { ts: [...CHAT.ts, 'max_tokens: 256,'], py: [...CHAT.py, 'max_tokens=256,'] }

const MESSAGES_API: Sdk = {
  typescript: {
    ...ANTHROPIC.typescript,
    whole: [
      ...ts('const message = await client.messages.create', ...MESSAGE.ts),
      "for (const block of message.content) if (block.type === 'text') console.log(block.text)",
    ],
    streamed: [
      ...ts('const stream = client.messages.stream', ...MESSAGE.ts),
      "stream.on('text', (text) => {write}(text))",
      'await stream.finalMessage()',
    ],
  },
  python: {
    ...ANTHROPIC.python,
    whole: [
      ...py('message = client.messages.create', ...MESSAGE.py),
      'print(message.content[0].text)',
    ],
    streamed: [
      ...py('with client.messages.stream', ...MESSAGE.py).slice(0, -1),
      ') as stream:',
      '    for text in stream.text_stream:',
      `        ${printed('text')}`,
    ],
  },
}

/** Google's SDK. @param first the option for Vertex AI, in each language */
function gemini(first: { ts: readonly string[]; py: readonly string[] }): Sdk {
  const contents = { ts: [MODEL.ts, `contents: ${ASKED},`], py: [MODEL.py, `contents=${ASKED},`] }
  const options = {
    ts: 'httpOptions: { baseUrl: {base} },',
    py: "http_options={'base_url': {base}},",
  }
  return {
    typescript: {
      imports: "import { GoogleGenAI } from '@google/genai'",
      create: ts('const client = new GoogleGenAI', ...first.ts, options.ts, 'apiKey: {key},'),
      whole: [
        ...ts('const response = await client.models.generateContent', ...contents.ts),
        'console.log(response.text)',
      ],
      streamed: [
        ...ts('const stream = await client.models.generateContentStream', ...contents.ts),
        "for await (const chunk of stream) {write}(chunk.text ?? '')",
      ],
    },
    python: {
      imports: 'from google import genai',
      create: py('client = genai.Client', ...first.py, options.py, 'api_key={key},'),
      whole: [
        ...py('response = client.models.generate_content', ...contents.py),
        'print(response.text)',
      ],
      streamed: [
        ...py('stream = client.models.generate_content_stream', ...contents.py),
        'for chunk in stream:',
        `    ${printed("chunk.text or ''")}`,
      ],
    },
  }
}

const MISTRAL: Sdk = {
  typescript: {
    imports: "import { Mistral } from '@mistralai/mistralai'",
    create: ts('const client = new Mistral', 'serverURL: {base},', 'apiKey: {key},'),
    whole: [
      ...ts('const completion = await client.chat.complete', ...CHAT.ts),
      'console.log(completion.choices[0]?.message?.content)',
    ],
    streamed: [
      ...ts('const stream = await client.chat.stream', ...CHAT.ts),
      'for await (const { data } of stream) {',
      "  {write}(String(data.choices[0]?.delta.content ?? ''))",
      '}',
    ],
  },
  python: {
    imports: 'from mistralai import Mistral',
    create: py('client = Mistral', 'server_url={base},', 'api_key={key},'),
    whole: [
      ...py('completion = client.chat.complete', ...CHAT.py),
      'print(completion.choices[0].message.content)',
    ],
    streamed: [
      ...py('stream = client.chat.stream', ...CHAT.py),
      'for event in stream:',
      `    ${printed("event.data.choices[0].delta.content or ''")}`,
    ],
  },
}

const COHERE: Sdk = {
  typescript: {
    imports: "import { CohereClientV2 } from 'cohere-ai'",
    create: ts('const client = new CohereClientV2', 'environment: {base},', 'token: {key},'),
    whole: [
      ...ts('const response = await client.chat', ...CHAT.ts),
      'for (const part of response.message.content ?? []) {',
      "  if (part.type === 'text') console.log(part.text)",
      '}',
    ],
    streamed: [
      ...ts('const stream = await client.chatStream', ...CHAT.ts),
      'for await (const event of stream) {',
      "  if (event.type === 'content-delta') {write}(event.delta?.message?.content?.text ?? '')",
      '}',
    ],
  },
  python: {
    imports: 'import cohere',
    create: py('client = cohere.ClientV2', 'base_url={base},', 'api_key={key},'),
    whole: [...py('response = client.chat', ...CHAT.py), 'print(response.message.content[0].text)'],
    streamed: [
      ...py('stream = client.chat_stream', ...CHAT.py),
      'for event in stream:',
      "    if event.type == 'content-delta':",
      `        ${printed('event.delta.message.content.text')}`,
    ],
  },
}

const CONVERSE = {
  ts: ['modelId: {model},', `messages: [{ role: 'user', content: [{ text: ${ASKED} }] }],`],
  py: ['modelId={model},', `messages=[{'role': 'user', 'content': [{'text': ${ASKED}}]}],`],
}

const BEDROCK: Sdk = {
  typescript: {
    imports: [
      "import { BedrockRuntime } from '@aws-sdk/client-bedrock-runtime'",
      "import { NodeHttpHandler } from '@smithy/node-http-handler'",
    ].join('\n'),
    create: ts(
      'const client = new BedrockRuntime',
      'endpoint: {base},',
      'region: {region},',
      'token: { token: {key} },',
      "authSchemePreference: ['httpBearerAuth'],",
      // The default handler speaks HTTP/2, which the server offers only with TLS.
      'requestHandler: new NodeHttpHandler(),',
    ),
    whole: [
      ...ts('const response = await client.converse', ...CONVERSE.ts),
      'console.log(response.output?.message?.content?.[0]?.text)',
    ],
    streamed: [
      ...ts('const { stream } = await client.converseStream', ...CONVERSE.ts),
      'for await (const event of stream ?? []) {',
      "  {write}(event.contentBlockDelta?.delta?.text ?? '')",
      '}',
    ],
  },
  python: {
    imports: 'import os\n\nimport boto3',
    create: [
      "os.environ['AWS_BEARER_TOKEN_BEDROCK'] = {key}",
      ...py(
        'client = boto3.client',
        "'bedrock-runtime',",
        'endpoint_url={base},',
        'region_name={region},',
      ),
    ],
    whole: [
      ...py('response = client.converse', ...CONVERSE.py),
      "print(response['output']['message']['content'][0]['text'])",
    ],
    streamed: [
      ...py('response = client.converse_stream', ...CONVERSE.py),
      "for event in response['stream']:",
      "    if 'contentBlockDelta' in event:",
      `        ${printed("event['contentBlockDelta']['delta']['text']")}`,
    ],
  },
}

/** TABLE of SDKs by the name in a provider's row. */
export const SDKS = {
  responses: RESPONSES,
  chat: chat(OPENAI),
  anthropic: MESSAGES_API,
  google: gemini({ ts: [], py: [] }),
  vertex: gemini({ ts: ['vertexai: true,'], py: ['vertexai=True,'] }),
  groq: chat(like('Groq', 'groq-sdk', 'groq')),
  mistral: MISTRAL,
  cohere: COHERE,
  bedrock: BEDROCK,
} as const satisfies Record<string, Sdk>
