// TABLES of the models that a provider runs for a tool, plugin or option, in addition to the
// request's own: step 5 of pipeline.ts.
//
// For a key that is limited to models, every model that a tool runs must be allowed. A tool that
// runs no other billed model stays open, because ordinary agents search the web and run code; each
// row gives the reason.

import type { Runs, ToolKeys, ToolTypes } from './tool-types.ts'

const nothing = (why: string): Runs => ({ runs: 'nothing', why })
const all = (runs: Runs, ...types: string[]): Record<string, Runs> =>
  Object.fromEntries(types.map((type) => [type, runs]))

const CALLER = nothing('The caller runs it: the model only asks for it.')
const SEARCH = nothing("Billed a search or page; what is found is read by the request's own model.")
const CODE = nothing('Code runs in a container, without a model.')
const SERVER = nothing('A server that the caller names answers.')
const INDEX = nothing('Searches an index that was built when its files were stored.')
const ITSELF = nothing("The request's own model runs it.")

/**
 * New types of tools appear monthly, and some use models of their own: until they have a row,
 * limited keys may not use them.
 */
const REFUSED: Runs = {
  runs: 'unknown',
  why: 'The proxy does not know this type of tool.',
  named: [],
}
/**
 * If no tool runs at the provider, an unknown type is an error there, or the caller's own tool.
 */
const PASSED = nothing('The provider runs no tools.')

/**
 * Servers that run no tools: DeepSeek, Together, Cerebras, Cohere and Fireworks only ask the caller
 * to run them.
 */
export const CALLER_TOOLS: ToolTypes = {
  types: { '': CALLER, function: CALLER, custom: CALLER },
  others: PASSED,
}

/**
 * The reference gives gpt-image-1 as the default (openai SDK 6.49, `Tool.ImageGeneration`); the
 * guide says that the tool makes "its own GPT Image model selection"
 * (developers.openai.com/api/docs/guides/image-generation). So it may be any of them.
 */
const GPT_IMAGE = ['gpt-image-1', 'gpt-image-1-mini', 'gpt-image-1.5', 'gpt-image-2'] as const
const GPT_IMAGES: Runs = {
  runs: GPT_IMAGE,
  allow: 'gpt-image-*',
  why: 'OpenAI chooses a GPT Image model.',
}

/**
 * platform.openai.com/docs/api-reference/responses/create and openai.com/api/pricing, "Built-in
 * tools".
 */
const OPENAI_TYPES: Readonly<Record<string, Runs>> = {
  ...all(
    CALLER,
    '',
    'function',
    'custom',
    'local_shell',
    'shell',
    'apply_patch',
    'computer',
    'computer_use',
    'computer_use_preview',
    'namespace',
  ),
  ...all(SEARCH, 'web_search', 'web_search_preview'),
  ...all(INDEX, 'file_search', 'retrieval'),
  ...all(CODE, 'code_interpreter', 'programmatic_tool_calling'),
  tool_search: ITSELF,
  mcp: SERVER,
  image_generation: GPT_IMAGES,
}
/** OpenAI's tools, by `type`. A type that no row names is refused. */
export const OPENAI_TOOLS: ToolTypes = { types: OPENAI_TYPES, others: REFUSED }

/**
 * learn.microsoft.com/azure/ai-foundry/agents/how-to/tools. Agents, memories and data agents run
 * models that are stored with them.
 */
export const AZURE_TOOLS: ToolTypes = {
  types: {
    ...OPENAI_TYPES,
    // The deployment is named by a header of the endpoint's row, or in the tool.
    image_generation: { ...GPT_IMAGES, header: true },
    ...all(
      SEARCH,
      'bing_grounding',
      'bing_custom_search',
      'bing_custom_search_preview',
      'azure_ai_search',
      'sharepoint_grounding_preview',
    ),
    ...all(SERVER, 'openapi', 'azure_function'),
  },
  others: REFUSED,
}

/** docs.claude.com/en/docs/agents-and-tools. A tool without a type is the caller's. */
export const ANTHROPIC_TOOLS: ToolTypes = {
  types: {
    ...all(
      CALLER,
      '',
      'custom',
      'function',
      'bash',
      'text_editor',
      'computer',
      'memory',
      'browser_toolset',
      'computer_toolset',
    ),
    ...all(SEARCH, 'web_search', 'web_fetch'),
    ...all(ITSELF, 'tool_search_tool_bm25', 'tool_search_tool_regex'),
    code_execution: CODE,
    mcp_toolset: SERVER,
    advisor: { runs: 'unknown', why: 'An advisor is a model of its own.' },
  },
  others: REFUSED,
}

/**
 * docs.x.ai/docs/guides/tools. Images and videos that a search finds are shown to the request's own
 * model.
 */
export const XAI_TOOLS: ToolTypes = {
  types: {
    ...all(CALLER, '', 'function', 'custom', 'shell', 'local_shell'),
    ...all(SEARCH, 'web_search', 'web_search_preview', 'x_search', 'live_search'),
    ...all(INDEX, 'collections_search', 'file_search', 'attachment_search'),
    ...all(CODE, 'code_execution', 'code_interpreter'),
    ...all(ITSELF, 'view_image', 'view_x_video'),
    mcp: SERVER,
    // The tool takes no model (@ai-sdk/xai 3.0, `imageGenerationArgsSchema`).
    image_generation: {
      runs: ['grok-imagine-image', 'grok-imagine-image-pro', 'grok-imagine-image-quality'],
      allow: 'grok-imagine-image*',
      why: 'xAI chooses a Grok Imagine model.',
    },
  },
  others: REFUSED,
}

/**
 * docs.mistral.ai/agents/tools/built-in. Documents of a library were read when they were stored.
 */
export const MISTRAL_TOOLS: ToolTypes = {
  types: {
    ...all(CALLER, '', 'function'),
    ...all(SEARCH, 'web_search', 'web_search_premium'),
    code_interpreter: CODE,
    document_library: INDEX,
    ...all(SERVER, 'connector', 'mcp'),
    image_generation: {
      runs: ['flux-1.1-pro-ultra'],
      allow: 'flux-*',
      why: "Mistral has Black Forest Labs' FLUX1.1 [pro] Ultra draw.",
    },
  },
  others: REFUSED,
}

/** An option of Mistral's: a guardrail moderates with a model of its own. */
export const MISTRAL_GUARD = (model: string): ToolTypes => ({
  types: {},
  others: {
    runs: [model],
    allow: 'mistral-moderation-*',
    why: 'A guardrail moderates with a model of its own.',
    named: ['model_name'],
  },
})

/**
 * Documents of a message: docs.mistral.ai/capabilities/document_ai/document_qna, "OCR extracts
 * text". A part without a type could be one.
 */
const DOCUMENT: Runs = {
  runs: ['mistral-ocr-latest'],
  allow: 'mistral-ocr-*',
  why: 'Mistral OCR reads the document.',
  named: [],
}
/**
 * Parts of a message that Mistral reads with a model of its own: documents.
 * https://docs.mistral.ai/capabilities/document_ai
 */
export const MISTRAL_CONTENT: ToolTypes = {
  types: all(DOCUMENT, '', 'document_url', 'file'),
  others: nothing('No document.'),
}

/** console.groq.com/docs/tool-use/built-in-tools; a compound system is named as a model itself. */
export const GROQ_TOOLS: ToolTypes = {
  types: {
    ...all(CALLER, '', 'function'),
    ...all(
      SEARCH,
      'browser_search',
      'web_search',
      'visit_website',
      'browser_automation',
      'wolfram_alpha',
    ),
    ...all(CODE, 'code_interpreter', 'code_execution'),
    mcp: SERVER,
  },
  others: REFUSED,
}

/** docs.perplexity.ai/docs/agent-api/tools */
export const PERPLEXITY_TOOLS: ToolTypes = {
  types: {
    ...all(CALLER, '', 'function', 'custom', 'namespace'),
    ...all(SEARCH, 'web_search', 'fetch_url', 'people_search', 'finance_search'),
    ...all(ITSELF, 'tool_search'),
    ...all(SERVER, 'mcp', 'connector'),
    sandbox: CODE,
  },
  others: REFUSED,
}

/**
 * ai.google.dev/gemini-api/docs/interactions. A RAG store embeds, and may rank, with models that
 * are stored with it.
 */
export const INTERACTION_TOOLS: ToolTypes = {
  types: {
    ...all(CALLER, 'function', 'computer_use'),
    ...all(SEARCH, 'google_search', 'google_maps', 'url_context'),
    code_execution: CODE,
    file_search: INDEX,
    mcp_server: SERVER,
  },
  others: REFUSED,
}

/** Google reads `camelCase` and `snake_case` alike. */
const inBothCases = (keys: readonly (readonly [string, ToolKeys | null])[]): ToolKeys =>
  new Map(
    keys.flatMap(([key, within]) => [
      [key, within],
      [key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), within],
    ]),
  )
/**
 * ai.google.dev/api/caching#Tool,
 * cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1/Tool: functions are the
 * caller's, searches are billed each, code runs without a model. A RAG store is refused by its own
 * place.
 */
export const GEMINI_TOOL_KEYS: ToolKeys = inBothCases([
  ...[
    'functionDeclarations',
    'googleSearch',
    'googleSearchRetrieval',
    'googleMaps',
    'enterpriseWebSearch',
    'parallelAiSearch',
    'exaAiSearch',
    'urlContext',
    'codeExecution',
    'computerUse',
    'fileSearch',
    'mcpServers',
  ].map((key) => [key, null] as const),
  [
    'retrieval',
    inBothCases(
      ['vertexAiSearch', 'vertexRagStore', 'externalApi', 'disableAttribution'].map(
        (key) => [key, null] as const,
      ),
    ),
  ],
])

/** Not a tool, but an option: a stored agent, under any name. */
export const STORED_AGENT: ToolTypes = {
  types: {},
  others: { runs: 'unknown', why: 'A stored agent answers with a model of its own.', named: [] },
}

const GPT_5_IMAGE: Runs = {
  runs: ['openai/gpt-5-image'],
  allow: 'openai/gpt-5-image',
  why: "OpenRouter's default.",
  named: ['model', 'parameters.model'],
}
/**
 * OpenRouter reads PDFs for models that cannot read them:
 * openrouter.ai/docs/guides/overview/multimodal/pdfs
 */
const OCR = {
  runs: ['mistral-ocr'],
  allow: 'mistral-ocr',
  why: 'OpenRouter has Mistral OCR read a PDF where the model cannot; `plugins: [{"id": "file-parser", "pdf": {"engine": "native"}}]` says not to.',
  named: [],
} satisfies Runs

/**
 * Its members and its judge have models of their own:
 * openrouter.ai/docs/agent-sdk/typescript/api-reference/models/fusionplugin
 */
const PANEL = {
  runs: 'unknown',
  why: 'A panel of several models answers, and a judge. Name them all: `analysis_models` and `model`.',
} satisfies Runs

/**
 * Tools that OpenRouter runs (openrouter.ai/docs/guides/features/server-tools, @openrouter/sdk
 * 1.3), beside OpenAI's and Anthropic's.
 */
const OPENROUTER_TYPES: Readonly<Record<string, Runs>> = {
  ...ANTHROPIC_TOOLS.types,
  ...OPENAI_TYPES,
  image_generation: GPT_5_IMAGE,
  'openrouter:image_generation': GPT_5_IMAGE,
  ...all(
    CALLER,
    'openrouter:bash',
    'openrouter:shell',
    'openrouter:apply_patch',
    'openrouter:text_editor',
    'openrouter:memory',
    'openrouter:browser_use',
  ),
  ...all(
    SEARCH,
    'openrouter:web_search',
    'openrouter:web_fetch',
    'openrouter:datetime',
    'openrouter:experimental__search_models',
  ),
  ...all(INDEX, 'openrouter:file_search', 'openrouter:files'),
  ...all(ITSELF, 'openrouter:tool_search'),
  'openrouter:code_interpreter': CODE,
  'openrouter:mcp': SERVER,
  // Without its own model, it runs the request's; its tools are checked like the request's.
  'openrouter:subagent': ITSELF,
  'openrouter:advisor': {
    runs: 'unknown',
    why: "Without a model in its parameters the request's model chooses any.",
    named: ['parameters.model'],
  },
  'openrouter:fusion': {
    ...PANEL,
    named: ['parameters.analysis_models[]', 'parameters.model'],
    each: true,
  },
}
/** OpenRouter's server tools, by `type`. A type that no row names is refused. */
export const OPENROUTER_TOOLS: ToolTypes = { types: OPENROUTER_TYPES, others: REFUSED }

/**
 * openrouter.ai/docs/guides/features/plugins. Routers choose a model only if the request names the
 * router as its model.
 */
export const OPENROUTER_PLUGINS: ToolTypes = {
  types: {
    ...all(SEARCH, 'web', 'web-fetch'),
    ...all(ITSELF, 'response-healing', 'context-compression', 'file-parser'),
    ...all(
      nothing('Counts only where the request names the router as its model.'),
      'auto-router',
      'auto-beta-router',
      'pareto-router',
      'switchyard-router',
    ),
    // openrouter.ai/docs/guides/features/plugins/fusion: any named model may call the panel, and a
    // judge reads its responses.
    fusion: { ...PANEL, named: ['analysis_models[]', 'model'], each: true },
    moderation: nothing('Free of charge.'),
  },
  others: REFUSED,
}
/** The model that reads PDF files, by the engine of OpenRouter's plugin. */
export const OPENROUTER_PDF: ToolTypes = {
  types: {
    ...all(
      nothing("Free of charge, or read by the request's own model."),
      '',
      'native',
      'cloudflare-ai',
      'pdf-text',
    ),
    'mistral-ocr': OCR,
  },
  others: REFUSED,
}
/** Files in a message, which OpenRouter reads with an engine unless the plugin names another. */
export const OPENROUTER_CONTENT: ToolTypes = {
  types: { file: { ...OCR, unless: 'plugins[].pdf.engine' } },
  others: nothing('No file.'),
}

/** An added provider may be a gateway to any of them. */
export const GATEWAY_TOOLS: ToolTypes = {
  types: {
    ...XAI_TOOLS.types,
    ...GROQ_TOOLS.types,
    ...MISTRAL_TOOLS.types,
    ...ANTHROPIC_TOOLS.types,
    ...OPENAI_TYPES,
  },
  others: REFUSED,
}

/** Tools of a provider as the AI SDK names them: `openai.web_search`. */
const behind = (provider: string, types: Readonly<Record<string, Runs>>): Record<string, Runs> =>
  Object.fromEntries(
    Object.entries(types).flatMap(([type, runs]) =>
      type === '' ? [] : [[`${provider}.${type}`, runs]],
    ),
  )

/**
 * Tools in the AI SDK's own form, which Vercel's gateway takes: the caller's functions have no
 * `id`, and a provider's tools are identified by theirs (@ai-sdk/gateway, gateway-tools.ts).
 */
export const AI_SDK_TOOLS: ToolTypes = {
  types: {
    '': CALLER,
    ...behind('anthropic', ANTHROPIC_TOOLS.types),
    ...behind('groq', GROQ_TOOLS.types),
    ...behind('mistral', MISTRAL_TOOLS.types),
    ...behind('openai', OPENAI_TYPES),
    ...behind('perplexity', PERPLEXITY_TOOLS.types),
    ...behind('xai', XAI_TOOLS.types),
    'openai.image_generation': {
      runs: GPT_IMAGE.map((name) => `openai/${name}`),
      allow: 'openai/gpt-image-*',
      why: 'OpenAI chooses a GPT Image model.',
      named: ['args.model'],
    },
    ...behind('google', {
      ...all(SEARCH, 'google_search', 'enterprise_web_search', 'google_maps', 'url_context'),
      code_execution: CODE,
      file_search: INDEX,
    }),
    ...behind(
      'gateway',
      all(
        SEARCH,
        'browserbase_fetch',
        'browserbase_search',
        'deepseek_fetch',
        'deepseek_search',
        'exa_search',
        'parallel_search',
        'perplexity_search',
        'tako_search',
      ),
    ),
  },
  others: REFUSED,
}
