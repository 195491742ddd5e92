// TABLE of programs and SDKs that take a base URL: what to set so that they call a provider through
// the proxy, and the source. The command line, the documentation and the dashboard read it.

/**
 * TABLE of the base URLs that the providers' own SDKs take, after `https://`: some SDKs add the
 * API's version themselves, others expect it.
 */
export const SDK_BASES = {
  openai: 'api.openai.com/v1',
  anthropic: 'api.anthropic.com',
  google: 'generativelanguage.googleapis.com',
  vertex: 'aiplatform.googleapis.com',
  groq: 'api.groq.com',
  mistral: 'api.mistral.ai',
  cohere: 'api.cohere.com',
  replicate: 'api.replicate.com/v1',
  elevenlabs: 'api.elevenlabs.io',
  deepgram: 'api.deepgram.com',
  huggingface: 'router.huggingface.co/v1',
  ollama: 'ollama.com/v1',
  // Its client sends everything to one address, and names the target in a header.
  fal: 'queue.fal.run',
} as const

/**
 * How to point one client at the proxy. `{base}` stands for the base URL of its provider's SDK
 * behind the proxy, `{proxy}` for the proxy itself, and `{key}` for a proxy key.
 */
export interface ClientSetup {
  /**
   * Its name on the command line; a client has a row for each provider and language in which it
   * differs.
   */
  readonly id: string
  readonly name: string
  /** Id of the provider that it calls. */
  readonly provider: keyof typeof SDK_BASES
  /** Where the lines go: the environment of the client, a file, a form, or code in a language. */
  readonly where: string
  readonly lines: readonly string[]
  /** The source of these settings. */
  readonly source: string
}

const exported = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `export ${name}=${value}`)

/** TABLE of programs that can call the proxy, and how each is configured. */
export const CLIENTS: readonly ClientSetup[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    provider: 'anthropic',
    where: 'environment',
    lines: exported({ ANTHROPIC_BASE_URL: '{base}', ANTHROPIC_AUTH_TOKEN: '{key}' }),
    source: 'https://docs.anthropic.com/en/docs/claude-code/llm-gateway',
  },
  {
    id: 'codex',
    name: 'Codex',
    provider: 'openai',
    where: '~/.codex/config.toml, with PROXY_KEY={key} in the environment',
    lines: [
      'model_provider = "tollmark"',
      '',
      '[model_providers.tollmark]',
      'name = "Tollmark"',
      'base_url = "{base}"',
      'env_key = "PROXY_KEY"',
      'wire_api = "responses"',
    ],
    source: 'https://developers.openai.com/codex/config-sample',
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    provider: 'google',
    where: 'environment (it takes plain http only for localhost)',
    lines: exported({ GOOGLE_GEMINI_BASE_URL: '{base}', GEMINI_API_KEY: '{key}' }),
    source: 'https://github.com/google-gemini/gemini-cli/pull/25357',
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    provider: 'openai',
    where: 'opencode.json',
    lines: [
      '{ "provider": { "openai": { "options": { "baseURL": "{base}", "apiKey": "{key}" } } } }',
    ],
    source: 'https://opencode.ai/v1/docs/providers',
  },
  {
    id: 'cline',
    name: 'Cline',
    provider: 'openai',
    where: 'its settings, as the API provider "OpenAI Compatible"',
    lines: ['Base URL: {base}', 'API Key:  {key}'],
    source: 'https://docs.cline.bot/provider-config/openai-compatible',
  },
  {
    id: 'cline',
    name: 'Cline',
    provider: 'anthropic',
    where: 'its settings, as the API provider "Anthropic" with "Use custom base URL"',
    lines: ['Base URL: {base}', 'Anthropic API Key: {key}'],
    source: 'https://coder.com/docs/@v2.33.6/ai-coder/ai-gateway/clients/cline.md',
  },
  {
    id: 'aider',
    name: 'aider',
    provider: 'openai',
    where: 'environment',
    lines: exported({ OPENAI_API_BASE: '{base}', OPENAI_API_KEY: '{key}' }),
    source: 'https://aider.chat/docs/llms/openai-compat.html',
  },
  {
    id: 'langchain',
    name: 'LangChain',
    provider: 'openai',
    where: 'Python',
    lines: ['ChatOpenAI(base_url="{base}", api_key="{key}")'],
    source:
      'https://reference.langchain.com/python/langchain-openai/chat_models/base/BaseChatOpenAI',
  },
  {
    id: 'langchain',
    name: 'LangChain',
    provider: 'anthropic',
    where: 'Python',
    lines: ['ChatAnthropic(base_url="{base}", api_key="{key}")'],
    source: 'https://reference.langchain.com/python/langchain-anthropic/ChatAnthropic',
  },
  {
    id: 'llamaindex',
    name: 'LlamaIndex',
    provider: 'openai',
    where: 'environment',
    lines: exported({ OPENAI_API_BASE: '{base}', OPENAI_API_KEY: '{key}' }),
    source: 'https://github.com/run-llama/llama_index, llama_index/llms/openai/utils.py',
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    provider: 'openai',
    where: 'librechat.yaml, under endpoints.custom',
    lines: [
      '- name: "Tollmark"',
      '  apiKey: "{key}"',
      '  baseURL: "{base}"',
      '  models: { default: ["gpt-5-mini"], fetch: true }',
    ],
    source: 'https://www.librechat.ai/docs/configuration/librechat_yaml/ai_endpoints/litellm',
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    provider: 'openai',
    where: 'environment',
    lines: exported({ OPENAI_API_BASE_URL: '{base}', OPENAI_API_KEY: '{key}' }),
    source: 'https://docs.openwebui.com/getting-started/advanced-topics/env-configuration',
  },
  {
    id: 'n8n',
    name: 'n8n',
    provider: 'openai',
    where: 'the credential "OpenAI"',
    lines: ['API Key:  {key}', 'Base URL: {base}'],
    source:
      'https://github.com/n8n-io/n8n, packages/nodes-base/credentials/OpenAiApi.credentials.ts',
  },
  {
    id: 'openai',
    name: 'openai (JavaScript, Python, Go)',
    provider: 'openai',
    where: 'environment',
    lines: exported({ OPENAI_BASE_URL: '{base}', OPENAI_API_KEY: '{key}' }),
    source: 'https://github.com/openai/openai-go, client.go',
  },
  {
    id: 'anthropic',
    name: 'anthropic (JavaScript, Python, Go)',
    provider: 'anthropic',
    where: 'environment',
    lines: exported({ ANTHROPIC_BASE_URL: '{base}', ANTHROPIC_API_KEY: '{key}' }),
    source: 'https://github.com/anthropics/anthropic-sdk-go, client.go',
  },
  {
    id: 'google-genai',
    name: 'google-genai (JavaScript, Python, Go)',
    provider: 'google',
    where: 'environment',
    lines: exported({ GOOGLE_GEMINI_BASE_URL: '{base}', GEMINI_API_KEY: '{key}' }),
    source: 'https://github.com/googleapis/go-genai, client.go',
  },
  {
    id: 'groq',
    name: 'groq (JavaScript, Python)',
    provider: 'groq',
    where: 'environment',
    lines: exported({ GROQ_BASE_URL: '{base}', GROQ_API_KEY: '{key}' }),
    source: 'https://github.com/groq/groq-python, src/groq/_client.py',
  },
  {
    id: 'mistral',
    name: 'mistral (JavaScript, Python)',
    provider: 'mistral',
    where: 'JavaScript',
    lines: ["new Mistral({ serverURL: '{base}', apiKey: '{key}' })"],
    source: 'https://github.com/mistralai/client-ts, README.md, "Server Selection"',
  },
  {
    id: 'mistral',
    name: 'mistral (JavaScript, Python)',
    provider: 'mistral',
    where: 'Python',
    lines: ['Mistral(server_url="{base}", api_key="{key}")'],
    source: 'https://github.com/mistralai/client-python, README.md, "Server Selection"',
  },
  {
    id: 'cohere',
    name: 'cohere (JavaScript, Python, Go)',
    provider: 'cohere',
    where: 'JavaScript',
    lines: ["new CohereClientV2({ baseUrl: '{base}', token: '{key}' })"],
    source: 'https://github.com/cohere-ai/cohere-typescript, src/BaseClient.ts',
  },
  {
    id: 'cohere',
    name: 'cohere (JavaScript, Python, Go)',
    provider: 'cohere',
    where: 'environment, for Python',
    lines: exported({ CO_API_URL: '{base}', CO_API_KEY: '{key}' }),
    source: 'https://github.com/cohere-ai/cohere-python, src/cohere/client.py',
  },
  {
    id: 'cohere',
    name: 'cohere (JavaScript, Python, Go)',
    provider: 'cohere',
    where: 'Go',
    lines: ['client.NewClient(option.WithBaseURL("{base}"), option.WithToken("{key}"))'],
    source: 'https://github.com/cohere-ai/cohere-go, option/request_option.go',
  },
  {
    id: 'replicate',
    name: 'replicate (JavaScript)',
    provider: 'replicate',
    where: 'JavaScript',
    lines: ["new Replicate({ baseUrl: '{base}', auth: '{key}' })"],
    source: 'https://github.com/replicate/replicate-javascript, index.js',
  },
  {
    id: 'elevenlabs',
    name: 'elevenlabs (JavaScript)',
    provider: 'elevenlabs',
    where: 'JavaScript',
    lines: ["new ElevenLabsClient({ baseUrl: '{base}', apiKey: '{key}' })"],
    source: 'https://github.com/elevenlabs/elevenlabs-js, src/BaseClient.ts',
  },
  {
    id: 'deepgram',
    name: 'deepgram (JavaScript)',
    provider: 'deepgram',
    where: 'JavaScript',
    lines: ["new DeepgramClient({ baseUrl: '{base}', apiKey: '{key}' })"],
    source: 'https://github.com/deepgram/deepgram-js-sdk, src/BaseClient.ts',
  },
  {
    id: 'huggingface',
    name: 'Hugging Face Inference (JavaScript)',
    provider: 'huggingface',
    where: 'JavaScript, for chats',
    lines: ["new InferenceClient('{key}').endpoint('{base}')"],
    source: 'https://github.com/huggingface/huggingface.js, packages/inference/README.md',
  },
  {
    id: 'huggingface',
    name: 'Hugging Face Inference (JavaScript)',
    provider: 'huggingface',
    where: 'JavaScript, for one model of another kind',
    lines: [
      "new InferenceClient('{key}').endpoint('{proxy}/router.huggingface.co/hf-inference/models/BAAI/bge-m3')",
    ],
    source: 'https://github.com/huggingface/huggingface.js, packages/inference/README.md',
  },
  {
    id: 'ollama',
    name: 'ollama (JavaScript), for Ollama’s cloud',
    provider: 'ollama',
    where: 'JavaScript',
    lines: [
      "new Ollama({ host: '{proxy}/ollama.com', headers: { Authorization: 'Bearer {key}' } })",
    ],
    source: 'https://github.com/ollama/ollama-js, README.md',
  },
  {
    id: 'fal',
    name: 'fal (JavaScript)',
    provider: 'fal',
    where: 'JavaScript',
    lines: [
      "createFalClient({ proxyUrl: { url: '{proxy}', when: 'always' }, credentials: '{key}' })",
    ],
    source: 'https://github.com/fal-ai/fal-js, libs/client/src/config.ts',
  },
]

/** The base URL of a provider's SDK behind the proxy. @param origin the proxy's own address */
export const sdkBase = (provider: keyof typeof SDK_BASES, origin: string): string =>
  `${origin}/proxy/${SDK_BASES[provider]}`

/** The lines of a setup, filled in for one proxy and one key. */
export function fillTemplate({ provider, lines, where }: ClientSetup, origin: string, key: string) {
  const base = sdkBase(provider, origin)
  const fill = (text: string): string =>
    text
      .replaceAll('{base}', base)
      .replaceAll('{proxy}', `${origin}/proxy`)
      .replaceAll('{key}', key)
  return { where: fill(where), lines: lines.map(fill) }
}
