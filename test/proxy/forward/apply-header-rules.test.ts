import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corsHeaders, preflightHeaders } from '../../../server/proxy/forward/cors.ts'
import {
  authOf,
  requestHeaders,
  responseHeaders,
  withCredential,
} from '../../../server/proxy/forward/apply-header-rules.ts'
import { classify } from '../../../server/proxy/providers/endpoint.ts'
import { createProviderTable } from '../../../server/proxy/providers/table.ts'
import { PROVIDERS } from '../../../server/proxy/providers/rows/index.ts'
import {
  compileRules,
  EXCEPTIONS,
  plainName,
  REQUEST_PATTERNS,
  REQUEST_RULES,
  RESPONSE_RULES,
} from '../../../server/proxy/forward/header-rules.ts'
import {
  GATEWAY_ERRORS,
  type GatewayErrorCode,
  errorResponse,
} from '../../../server/proxy/error-response.ts'
import { createSecret } from '../../../server/common/issued-secrets.ts'

const table = createProviderTable({
  overrides: { anthropic: 'http://127.0.0.1:9000/u/https/api.anthropic.com' },
  custom: [
    { id: 'acme', origin: 'https://api.acme.test:8443', auth: { header: 'X-Acme-Token' } },
    { id: 'on-aws', origin: 'https://aws-external-anthropic.us-east-1.api.aws' },
  ],
  instances: [{ provider: 'azure', values: { resource: 'acme' } }],
})
const provider = (id: string) => {
  const found = table.byId(id)
  assert.ok(found)
  return found
}

const DROPPED = [
  'Authorization',
  'authorization',
  'X-Api-Key',
  'api-key',
  'X-Goog-Api-Key',
  'Ocp-Apim-Subscription-Key',
  'X-Amz-Security-Token',
  'X-Amz-Date',
  'X-Amz-Content-SHA256',
  'X-Goog-IAM-Authorization-Token',
  'X-Serverless-Authorization',
  'Cookie',
  'Cookie2',
  'Host',
  'Connection',
  'Keep-Alive',
  'Proxy-Authorization',
  'Proxy-Connection',
  'Proxy-Anything',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'HTTP2-Settings',
  'Expect',
  'Origin',
  'Referer',
  'Sec-Fetch-Mode',
  'Sec-CH-UA',
  'Sec-WebSocket-Key',
  'Forwarded',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Real-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
  'X-Client-IP',
  'Client-IP',
  'X-Cluster-Client-IP',
  'X-Originating-IP',
  'X-Remote-IP',
  'X-Remote-Addr',
  'X-Envoy-External-Address',
  'Fly-Client-IP',
  'Fastly-Client-IP',
  'X-Vercel-IP-City',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Proxy-Context-Key',
  'X-Fal-Target-Url',
  'Access-Control-Request-Method',
  'X-Hop',
  'X-Other-Hop',
  'Alt-Used',
  // Credentials in other spellings, also those of servers that do not tell _ from -.
  'xi-api-key',
  'x-key',
  'x-gladia-key',
  'X-Hume-Api-Key',
  'X-Auth-Token',
  'x-access-token',
  'X-Authorization',
  'X-Amz-Credential',
  'X-Amz-Signature',
  'X-Amz-SignedHeaders',
  'x-apikey',
  'Token',
  'x-provider-api-keys',
  'Helicone-Auth',
  'cf-aig-authorization',
  'x-csrf-token',
  'X-Client-Secret',
  'x-functions-key',
  'x_api_key',
  'X_Goog_Api_Key',
  'x.auth.token',
  'DPoP',
  'Signature-Input',
  'Authentication',
  'x-goog-iap-jwt-assertion',
  'X-MS-Token-AAD-Access-Token',
  // Whoever asks, and from where.
  'x-azure-clientip',
  'X-Azure-SocketIP',
  'x-appengine-user-ip',
  'X-AppEngine-CityLatLong',
  'CloudFront-Viewer-Address',
  'X-NF-Client-Connection-IP',
  'X-Akamai-Edgescape',
  'x_forwarded_for',
  'X-ProxyUser-IP',
  'X-IP',
  'X-User-Id',
  'X-User',
  'Remote-User',
  'X-Goog-Authenticated-User-Email',
  'x-goog-authenticated-user-id',
  'X-MS-Client-Principal-Name',
  'x-amzn-oidc-identity',
  'X-Email',
  'Client-Cert',
  'X-SSL-Client-Verify',
  'Tailscale-User-Login',
  'From',
  'CF-Ray',
  'CF-Access-Authenticated-User-Email',
  'X-Consumer-Username',
  'X-Geo-City',
  'X-Original-Host',
  'baggage',
  'ot-baggage-account',
  'Ping-From',
  'Available-Dictionary',
]
const KEPT = [
  'Content-Type',
  'application/json',
  'content-length',
  '12',
  'Accept',
  'text/event-stream',
  'Accept-Encoding',
  'gzip, br',
  'Content-Encoding',
  'gzip',
  'anthropic-version',
  '2023-06-01',
  'anthropic-beta',
  'a',
  'Anthropic-Beta',
  'b',
  'X-Goog-Upload-Command',
  'start',
  'x-stainless-lang',
  'js',
  'User-Agent',
  'ai/1',
  'HTTP-Referer',
  'https://app.test',
  'X-Title',
  'app',
  'Idempotency-Key',
  'k',
  'OpenAI-Beta',
  'x',
  'x-goog-api-client',
  'y',
  'X-MiXeD-CaSe',
  'Ünï',
  // What the AI SDK's packages and the providers' own SDKs send, beside the above.
  ...[
    'x-idempotency-key',
    'x-vertex-ai-labels',
    'x-vertex-ai-llm-request-type',
    'x-vertex-ai-llm-shared-request-type',
    'x-goog-upload-protocol',
    'x-goog-upload-offset',
    'x-goog-upload-header-content-length',
    'x-goog-upload-header-content-type',
    'x-goog-request-params',
    'x-server-timeout',
    'x-stainless-retry-count',
    'x-stainless-package-version',
    'X-OpenRouter-Title',
    'HTTP-Referer',
    'x-session-id',
    'x-session-affinity',
    'x-grok-conv-id',
    'cf-aig-cache-ttl',
    'x-client-request-id',
    'OpenAI-Safety-Identifier',
    'anthropic-dangerous-direct-browser-access',
    'X-Amzn-Bedrock-Trace',
    'X-Amzn-Bedrock-GuardrailIdentifier',
    'amz-sdk-invocation-id',
    'amz-sdk-request',
    'x-amz-user-agent',
    'x-ms-client-request-id',
    'x-ms-useragent',
    'X-Client-Name',
    'Prefer',
    'Range',
    'If-None-Match',
    'traceparent',
    'tracestate',
    'x-request-id',
    'x-correlation-id',
    'x-amzn-trace-id',
    'X-Requested-With',
    'x-accel-buffering',
    'Accept-Language',
    'Content-Disposition',
    'X-Chip',
    'X-Zip',
    'X-Author',
    'X-Geometry',
    'X-Tokenizer',
  ].flatMap((name) => [name, 'x']),
]

test('request headers: what is dropped, what passes in order, case and number', () => {
  const raw = [
    ...DROPPED.flatMap((name) => [
      name,
      name === 'Connection' ? 'close, X-Hop, content-length, Content-Type, content-encoding' : 'x',
    ]),
    'connection',
    'x-other-hop',
    ...KEPT,
  ]
  for (const { id } of PROVIDERS) assert.deepEqual(requestHeaders(raw, provider(id)), KEPT, id)
})

test('a header that selects an account or a deployment is not forwarded to a provider that reads it', () => {
  /** TABLE of such headers, in some spelling, and who reads them. */
  const choices: [id: string, header: string][] = [
    ['azure', 'azureml-model-deployment'],
    ['azure', 'AzureML_Model_Deployment'],
    ['azure', 'x-ms-model-mesh-model-name'],
    ['azure', 'x-ms-deployment'],
    ['anthropic', 'Anthropic-Workspace-Id'],
    ['google', 'X-Goog-User-Project'],
    ['vertex', 'x-goog-user-project'],
  ]
  for (const [id, header] of choices)
    assert.deepEqual(
      requestHeaders(['Accept', '*/*', header, 'other'], provider(id)),
      ['Accept', '*/*'],
      header,
    )
  assert.deepEqual(requestHeaders(['azureml-model-deployment', 'x'], provider('openai')), [
    'azureml-model-deployment',
    'x',
  ])
})

test('every row of the tables has a reason and names of its own', () => {
  for (const rules of [[...REQUEST_RULES, ...REQUEST_PATTERNS], RESPONSE_RULES]) {
    const names = rules.flatMap((rule) => [...(rule.names ?? []), ...(rule.prefixes ?? [])])
    assert.deepEqual(names, [...new Set(names)])
    for (const rule of rules) {
      assert.match(rule.why, /^[A-Z].{15,}[.]$/, rule.why)
      assert.ok(
        (rule.names ?? rule.prefixes ?? [rule.pattern]).length > 0 &&
          (rule.names ?? rule.prefixes ?? rule.pattern) !== undefined,
        rule.why,
      )
      for (const name of [
        ...(rule.names ?? []),
        ...(rule.prefixes ?? []).map((prefix) => `${prefix}x`),
      ]) {
        assert.equal(plainName(name), name)
        assert.ok(compileRules([rule])(name), name)
      }
    }
  }
  // What passes all the same would be dropped if it were not named, and nothing else would change.
  const [reads, never] = [compileRules(REQUEST_PATTERNS), compileRules(REQUEST_RULES)]
  const patterned = (name: string) => reads(name) && !never(name)
  for (const [name, why] of EXCEPTIONS) assert.ok(patterned(name) && why.length > 20, name)
  for (const { id, passes = [] } of PROVIDERS) {
    for (const name of passes) {
      assert.ok(patterned(name), `${id}: ${name}`)
      assert.deepEqual(requestHeaders([name, 'x', name.replaceAll('-', '_'), 'x'], provider(id)), [
        name,
        'x',
      ])
    }
  }
  assert.deepEqual(requestHeaders(['anthropic-user-profile-id', 'x'], provider('openai')), [])
})

test('request headers: a value that contains a token or a session is dropped', () => {
  for (const prefix of ['tmt', 'tms', 'tmi', 'tmr'] as const) {
    const { secret } = createSecret(prefix)
    const encoded = Buffer.from(`user:${secret}`).toString('base64')
    const raw = ['X-State', `a ${secret}`, 'X-Twice', secret.replace('_', '%255f'), 'X-Id', encoded]
    assert.deepEqual(requestHeaders(raw, provider('openai')), [], prefix)
  }
})

test('request headers: a value that contains a proxy key is dropped, whatever the name', () => {
  const { secret } = createSecret('tmk')
  const encoded = Buffer.from(`user:${secret}`).toString('base64')
  const hidden = [
    'X-Percent',
    encodeURIComponent(secret).replace('_', '%5F'),
    'X-Twice',
    secret.replace('_', '%255f'),
    'X-Basic',
    `Basic ${encoded}`,
    secret,
    'x',
  ]
  const raw = [
    ...hidden,
    'X-Whatever',
    secret,
    'User-Agent',
    `app (${secret})`,
    'Accept',
    `a, ${secret}`,
    'X-Short',
    'tmk_',
    'X-Long',
    `tmt_${'x'.repeat(80)}`,
  ]
  assert.deepEqual(requestHeaders(raw, provider('openai')), raw.slice(-4))
  const state = ['X-State', Buffer.from(`${'y'.repeat(300)}tmk_x`).toString('base64')]
  assert.deepEqual(requestHeaders(state, provider('openai')), state)
})

test('request headers: an account selector is dropped for the provider that reads it', () => {
  assert.deepEqual(
    requestHeaders(['OpenAI-Organization', 'x', 'OpenAI-Project', 'y'], provider('openai')),
    [],
  )
  assert.deepEqual(requestHeaders(['X-Goog-User-Project', 'x'], provider('google')), [])
  assert.deepEqual(requestHeaders(['OpenAI-Project', 'proj_1'], provider('bedrock')), [])
  const workspace = ['Anthropic-Workspace-Id', 'wrkspc_1']
  assert.deepEqual(requestHeaders(workspace, provider('anthropic')), [])
  // Claude on AWS asks for it in every request.
  assert.deepEqual(requestHeaders(workspace, provider('on-aws')), workspace)
  const there = createProviderTable({
    custom: [{ id: 'anthropic', origin: 'https://aws-external-anthropic.us-east-1.api.aws' }],
  }).byId('anthropic')!
  assert.deepEqual(
    [requestHeaders(workspace, there), there.name, there.auth],
    [workspace, 'Anthropic', { header: 'x-api-key' }],
  )
  assert.deepEqual(requestHeaders(['x-acme-token', 'x', 'X-Other', 'y'], provider('acme')), [
    'X-Other',
    'y',
  ])
})

test('the credential is attached once, in each provider’s own header', () => {
  const shapes: [id: string, path: string, expected: string[]][] = [
    ['google', '/v1beta/models', ['x-goog-api-key', 's3cret']],
    ['google', '/v1beta/openai/chat/completions', ['Authorization', 'Bearer s3cret']],
    ['vertex', '/v1/publishers/google/models', ['x-goog-api-key', 's3cret']],
    ['openai', '/v1/models', ['Authorization', 'Bearer s3cret']],
    ['azure', '/openai/v1/models', ['api-key', 's3cret']],
    ['azure', '/speechtotext/transcriptions:transcribe', ['Ocp-Apim-Subscription-Key', 's3cret']],
    ['azure', '/tts/cognitiveservices/v1', ['Ocp-Apim-Subscription-Key', 's3cret']],
    ['anthropic', '/v1/messages', ['x-api-key', 's3cret']],
    ['bedrock', '/model/x/converse', ['Authorization', 'Bearer s3cret']],
    ['acme', '/v1/models', ['X-Acme-Token', 's3cret']],
  ]
  for (const [id, path, expected] of shapes) {
    const { endpoint } = classify(
      provider(id),
      path.endsWith('s') && !path.includes('completions') && !path.includes('messages')
        ? 'GET'
        : 'POST',
      path,
    )
    const raw = [
      'Authorization',
      'Bearer tmk_x',
      'x-api-key',
      'tmk_x',
      'x-goog-api-key',
      'tmk_x',
      'api-key',
      'tmk_x',
      'Accept',
      '*/*',
    ]
    assert.deepEqual(
      withCredential(
        requestHeaders(raw, provider(id), endpoint),
        authOf(provider(id), endpoint),
        's3cret',
      ),
      ['Accept', '*/*', ...expected],
      `${id} ${path}`,
    )
  }
})

const upstream = (hostname: string, port = 443) => {
  const found = table.find(hostname, port)
  assert.ok(found)
  return found
}

const NAMED_BY_PARAMETER = { form: 'parameter', ownOrigin: () => 'https://proxy.test' } as const

/**
 * Headers of a response that speak for a whole origin, for our account, for the proxy, or to the
 * server in front of it.
 */
const FOR_AN_ORIGIN = [
  'Strict-Transport-Security',
  'Alt-Svc',
  'NEL',
  'Report-To',
  'Reporting-Endpoints',
  'Clear-Site-Data',
  'Public-Key-Pins',
  'Public-Key-Pins-Report-Only',
  'Service-Worker-Allowed',
  'Refresh',
  'Accept-CH',
  'Accept-CH-Lifetime',
  'Critical-CH',
  'Expect-CT',
  'Origin-Agent-Cluster',
  'Set-Login',
  'IdP-SignIn-Status',
  'Supports-Loading-Mode',
  'Speculation-Rules',
  'No-Vary-Search',
  'Use-As-Dictionary',
  'Observe-Browsing-Topics',
  'Activate-Storage-Access',
  'Shared-Storage-Write',
  'Attribution-Reporting-Register-Source',
  'Attribution-Reporting-Register-Trigger',
  'Ad-Auction-Signals',
  'Sec-Session-Registration',
  'Secure-Session-Registration',
  'X-Accel-Redirect',
  'X-Accel-Limit-Rate',
  'X-Sendfile',
  'X-Proxy-Error',
  'X-Proxy-Request-Id',
  'X-Organization-Id',
  'x-acme-workspace',
  'Tenant-Id',
]

/** Headers that speak for the response alone, or for a document, which a response never is. */
const FOR_THE_RESPONSE = [
  'Content-Security-Policy',
  'Content-Security-Policy-Report-Only',
  'Permissions-Policy',
  'Document-Policy',
  'Referrer-Policy',
  'X-Frame-Options',
  'X-Content-Type-Options',
  'Cross-Origin-Resource-Policy',
  'Timing-Allow-Origin',
  'Server-Timing',
  'Link',
  'X-Accel-Buffering',
  'Cache-Control',
  'Age',
  'Via',
  'X-Robots-Tag',
  'Deprecation',
  'Proxy-Status',
  'Accept-Ranges',
  'x-ratelimit-limit-organization-tokens',
  'x-ms-region',
  'CF-Ray',
  'request-id',
]

test('response headers: a challenge passes unless a browser would ask its user for a password', () => {
  const context = {
    upstream: upstream('api.openai.com'),
    table,
    pathAndQuery: '/v1/models',
    ...NAMED_BY_PARAMETER,
  }
  for (const [challenge, passes] of [
    ['Bearer', true],
    ['Bearer realm="x", error="invalid_token"', true],
    ['Key', true],
    ['Basic realm="x"', false],
    ['basic', false],
    ['Bearer, Basic realm="x"', false],
    ['NTLM', false],
    ['Negotiate', false],
    ['Digest qop="auth"', false],
    ['Bearer realm="basic"', true],
  ] as const) {
    assert.deepEqual(
      responseHeaders(['WWW-Authenticate', challenge], context),
      passes ? ['WWW-Authenticate', challenge] : [],
      challenge,
    )
  }
})

test('response headers: hop-by-hop and account headers are dropped, the rest is unchanged', () => {
  const kept = [
    'Content-Type',
    'text/event-stream',
    'content-encoding',
    'br',
    'Content-Length',
    '3',
    'X-Request-Id',
    'u1',
    'X-Ratelimit-Remaining-Requests',
    '9',
    'retry-after',
    '7',
    'Server',
    'x',
    'VARY',
    'a',
    'Vary',
    'b',
    ...FOR_THE_RESPONSE.flatMap((name) => [name, 'x']),
    'access-control-allow-origin',
    '*',
  ]
  const raw = [
    'Connection',
    'keep-alive, X-Inner',
    'Keep-Alive',
    'timeout=5',
    'Transfer-Encoding',
    'chunked',
    'Set-Cookie',
    'a=b',
    'set-cookie',
    'c=d',
    'openai-organization',
    'org',
    'OpenAI-Project',
    'p',
    'x-inner',
    '1',
    'Trailer',
    'x',
    'Upgrade',
    'h2c',
    'Proxy-Authenticate',
    'Basic',
    'Proxy-Authentication-Info',
    'x',
    'Proxy-Authorization',
    'x',
    'Proxy-Connection',
    'x',
    'TE',
    'x',
    'HTTP2-Settings',
    'x',
    'Set-Cookie2',
    'a=b',
    'anthropic-workspace-id',
    'w',
    'X-Goog-User-Project',
    'p',
    ...FOR_AN_ORIGIN.flatMap((name) => [name, 'x']),
    ...kept,
  ]
  const context = {
    upstream: upstream('api.openai.com'),
    table,
    pathAndQuery: '/v1/models',
    ...NAMED_BY_PARAMETER,
  }
  assert.deepEqual(responseHeaders(raw, context), kept)
  assert.deepEqual(responseHeaders(raw, { ...context, cors: true }), kept.slice(0, -2))
  assert.deepEqual(
    responseHeaders(['Groq-Organization', 'x', 'a', 'b'], {
      ...context,
      upstream: upstream('api.groq.com'),
    }),
    ['a', 'b'],
  )
  assert.deepEqual(
    responseHeaders(['Anthropic-Organization-Id', 'x', 'a', 'b'], {
      ...context,
      upstream: upstream('api.anthropic.com'),
    }),
    ['a', 'b'],
  )
})

test('a redirect leads through the proxy if the address may be called', () => {
  const cases: [host: string, location: string, expected: string][] = [
    [
      'api.openai.com',
      'https://api.openai.com/v1/x?a=b&c=d',
      '/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fx%3Fa%3Db%26c%3Dd',
    ],
    ['api.openai.com', '/v1/y', '/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fy'],
    ['api.openai.com', 'z', '/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fz'],
    ['api.openai.com', '?p=2', '/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fmodels%3Fp%3D2'],
    [
      'api.openai.com',
      'https://generativelanguage.googleapis.com/v1beta/files/x:download?alt=media',
      '/proxy?url=https%3A%2F%2Fgenerativelanguage.googleapis.com%2Fv1beta%2Ffiles%2Fx%3Adownload%3Falt%3Dmedia',
    ],
    [
      'generativelanguage.googleapis.com',
      '/download/x?key=AIza&alt=media',
      '/proxy?url=https%3A%2F%2Fgenerativelanguage.googleapis.com%2Fdownload%2Fx%3Falt%3Dmedia',
    ],
    [
      'api.openai.com',
      'https://api.openai.com/v1/x#part',
      '/proxy?url=https%3A%2F%2Fapi.openai.com%2Fv1%2Fx',
    ],
    [
      'api.openai.com',
      'https://api.anthropic.com/v1/x#part',
      '/proxy?url=https%3A%2F%2Fapi.anthropic.com%2Fv1%2Fx',
    ],
    // What cannot be called would else lead to a path of our own host.
    ['api.openai.com', '/v1/%252e', 'https://api.openai.com/v1/%252e'],
    ['api.openai.com', '/api/v1/keys?x=%zz', 'https://api.openai.com/api/v1/keys?x=%zz'],
    ['api.openai.com', 'x%2f..%2fy', 'https://api.openai.com/v1/x%2f..%2fy'],
    ['api.openai.com', 'https://api.anthropic.com/v1/%252e', 'https://api.anthropic.com/v1/%252e'],
    ['api.openai.com', 'https://evil.test/v1/x', 'https://evil.test/v1/x'],
    ['api.openai.com', 'http://api.openai.com/v1/x', 'http://api.openai.com/v1/x'],
    ['api.openai.com', '//evil.test/x', '//evil.test/x'],
    ['api.openai.com', 'https://api.openai.com:444/x', 'https://api.openai.com:444/x'],
    ['api.openai.com', 'https://u:p@api.anthropic.com/x', 'https://u:p@api.anthropic.com/x'],
    ['api.openai.com', 'http://[', 'http://['],
    [
      'api.anthropic.com',
      'http://127.0.0.1:9000/u/https/api.anthropic.com/v1/x',
      '/proxy?url=https%3A%2F%2Fapi.anthropic.com%2Fv1%2Fx',
    ],
    [
      'api.anthropic.com',
      'http://127.0.0.1:9000/u/https/other.test/v1/x',
      'http://127.0.0.1:9000/u/https/other.test/v1/x',
    ],
    ['api.anthropic.com', '/v1/x', '/proxy?url=https%3A%2F%2Fapi.anthropic.com%2Fv1%2Fx'],
    [
      'api.anthropic.com',
      '/u/https/api.anthropic.com/v1/x',
      '/proxy?url=https%3A%2F%2Fapi.anthropic.com%2Fv1%2Fx',
    ],
  ]
  for (const [host, location, expected] of cases) {
    const context = {
      upstream: upstream(host),
      table,
      pathAndQuery: '/v1/models',
      ...NAMED_BY_PARAMETER,
    }
    for (const form of ['parameter', 'base-url'] as const)
      assert.deepEqual(
        responseHeaders(['LOCATION', location], { ...context, form }),
        ['LOCATION', expected],
        location,
      )
  }
  const acme = {
    upstream: upstream('api.acme.test', 8443),
    table,
    pathAndQuery: '/v1/models',
    ...NAMED_BY_PARAMETER,
  }
  assert.deepEqual(responseHeaders(['location', '/x'], acme), [
    'location',
    '/proxy?url=https%3A%2F%2Fapi.acme.test%3A8443%2Fx',
  ])
})

test("the address of an upload's next request leads through the proxy", () => {
  const cases: [host: string, address: string, expected: string][] = [
    [
      'api.anthropic.com',
      'http://127.0.0.1:9000/u/https/api.anthropic.com/upload?id=1',
      'https://api.anthropic.com/upload?id=1',
    ],
    [
      'api.anthropic.com',
      'http://127.0.0.1:9000/u/https/other.test/upload',
      'http://127.0.0.1:9000/u/https/other.test/upload',
    ],
    ['api.openai.com', 'https://api.openai.com/upload', 'https://api.openai.com/upload'],
  ]
  for (const [host, address, expected] of cases) {
    const raw = (upload: string, other: string) => [
      'X-Goog-Upload-URL',
      upload,
      'x-goog-upload-control-url',
      upload,
      'X-Other',
      other,
    ]
    const context = { upstream: upstream(host), table, pathAndQuery: '/', ...NAMED_BY_PARAMETER }
    assert.deepEqual(
      responseHeaders(raw(address, address), context),
      raw(expected, address),
      address,
    )
    // Clients with a base URL follow it as it stands.
    const followed = expected.startsWith('https://')
      ? expected.replace('https://', 'https://proxy.test/proxy/')
      : expected
    assert.deepEqual(
      responseHeaders(raw(address, address), { ...context, form: 'base-url' }),
      raw(followed, address),
      address,
    )
  }
})

const pairs = (raw: string[]) =>
  new Map(raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? '']] : [])))

test('a preflight lists Authorization by name and reflects the requested headers', () => {
  const headers = pairs(preflightHeaders('authorization, x-goog-api-client,X-Custom, bad name, x'))
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(
    headers.get('access-control-allow-headers'),
    'Authorization, Content-Type, x-goog-api-client, X-Custom, x',
  )
  // RFC 9110, section 8.6: a 204 has no length.
  assert.equal(headers.get('content-length'), undefined)
  assert.match(
    headers.get('access-control-allow-methods') ?? '',
    /GET, HEAD, POST, PUT, PATCH, DELETE/,
  )
  assert.equal(
    pairs(preflightHeaders("AUTHORIZATION, X-a, x-A, !#$%&'*+.^_`|~-09")).get(
      'access-control-allow-headers',
    ),
    "Authorization, Content-Type, X-a, !#$%&'*+.^_`|~-09",
  )
  assert.equal(
    pairs(preflightHeaders(Array.from({ length: 99 }, (_, i) => `x-${i}`).join()))
      .get('access-control-allow-headers')!
      .split(', ').length,
    64,
  )
  assert.equal(
    pairs(preflightHeaders(undefined)).get('access-control-allow-headers'),
    'Authorization, Content-Type',
  )
  assert.doesNotMatch(preflightHeaders('a\r\nX-Evil: 1').join('|'), /\r|\n/)
})

test('exposed response headers', () => {
  const exposed = (
    pairs(
      corsHeaders([
        'x-ratelimit-limit-images',
        '1',
        'X-Goog-Upload-URL',
        'u',
        'Content-Type',
        'x',
        'RateLimit-Reset',
        '1',
        'anthropic-ratelimit-tokens-limit',
        '1',
        'x-goog-upload-more',
        '1',
      ]),
    ).get('access-control-expose-headers') ?? ''
  )
    .toLowerCase()
    .split(', ')
  for (const name of [
    'retry-after',
    'retry-after-ms',
    'x-request-id',
    'x-proxy-request-id',
    'x-proxy-error',
    'ratelimit',
    'ratelimit-policy',
    'x-ratelimit-remaining-requests',
    'x-ratelimit-limit-images',
    'x-goog-upload-url',
    'x-goog-upload-status',
    'location',
    'x-ratelimit-limit-tokens',
    'x-goog-upload-control-url',
    'x-goog-upload-chunk-granularity',
    'x-goog-upload-size-received',
    'x-goog-upload-header-content-type',
    'ratelimit-reset',
    'anthropic-ratelimit-tokens-limit',
    'x-goog-upload-more',
  ]) {
    assert.ok(exposed.includes(name), name)
  }
  assert.ok(!exposed.includes('content-type'))
})

/** provider → what its AI SDK package needs to find in an error */
const SHAPES: [id: string, paths: Record<string, string>][] = [
  ['google', { 'error.code': 'number', 'error.message': 'string', 'error.status': 'string' }],
  ['vertex', { 'error.code': 'number', 'error.message': 'string', 'error.status': 'string' }],
  [
    'openai',
    {
      'error.message': 'string',
      'error.type': 'string',
      'error.param': 'null',
      'error.code': 'string',
    },
  ],
  ['azure', { 'error.message': 'string', 'error.code': 'string' }],
  ['anthropic', { type: 'string', 'error.type': 'string', 'error.message': 'string' }],
  [
    'mistral',
    { object: 'string', message: 'string', type: 'string', param: 'null', code: 'string' },
  ],
  ['groq', { 'error.message': 'string', 'error.type': 'string' }],
  ['xai', { 'error.message': 'string' }],
  ['deepseek', { 'error.message': 'string' }],
  ['cohere', { message: 'string' }],
  ['together', { 'error.message': 'string' }],
  ['fireworks', { 'error.message': 'string' }],
  ['perplexity', { 'error.code': 'number', 'error.message': 'string', 'error.type': 'string' }],
  ['openrouter', { 'error.message': 'string' }],
  ['cerebras', { message: 'string', type: 'string', param: 'string', code: 'string' }],
  ['bedrock', { message: 'string', type: 'string' }],
]

/** code → status with its reason, and the words of Google, Anthropic and Bedrock for it */
const WORDS: Record<
  GatewayErrorCode,
  [status: number, reason: string, google: string, anthropic: string, bedrock: string]
> = {
  invalid_upstream_url: [
    400,
    'Bad Request',
    'INVALID_ARGUMENT',
    'invalid_request_error',
    'ValidationException',
  ],
  upgrade_not_supported: [
    400,
    'Bad Request',
    'INVALID_ARGUMENT',
    'invalid_request_error',
    'ValidationException',
  ],
  malformed_request: [
    400,
    'Bad Request',
    'INVALID_ARGUMENT',
    'invalid_request_error',
    'ValidationException',
  ],
  ambiguous_body: [
    400,
    'Bad Request',
    'INVALID_ARGUMENT',
    'invalid_request_error',
    'ValidationException',
  ],
  invalid_api_key: [
    401,
    'Unauthorized',
    'UNAUTHENTICATED',
    'authentication_error',
    'UnrecognizedClientException',
  ],
  api_key_expired: [
    401,
    'Unauthorized',
    'UNAUTHENTICATED',
    'authentication_error',
    'UnrecognizedClientException',
  ],
  api_key_disabled: [
    401,
    'Unauthorized',
    'UNAUTHENTICATED',
    'authentication_error',
    'UnrecognizedClientException',
  ],
  model_not_allowed: [
    403,
    'Forbidden',
    'PERMISSION_DENIED',
    'permission_error',
    'AccessDeniedException',
  ],
  upstream_not_allowed: [
    403,
    'Forbidden',
    'PERMISSION_DENIED',
    'permission_error',
    'AccessDeniedException',
  ],
  endpoint_not_allowed: [
    403,
    'Forbidden',
    'PERMISSION_DENIED',
    'permission_error',
    'AccessDeniedException',
  ],
  origin_not_allowed: [
    403,
    'Forbidden',
    'PERMISSION_DENIED',
    'permission_error',
    'AccessDeniedException',
  ],
  method_not_allowed: [
    405,
    'Method Not Allowed',
    'INVALID_ARGUMENT',
    'invalid_request_error',
    'ValidationException',
  ],
  body_too_slow: [
    408,
    'Request Timeout',
    'DEADLINE_EXCEEDED',
    'timeout_error',
    'ModelTimeoutException',
  ],
  body_too_large: [
    413,
    'Content Too Large',
    'INVALID_ARGUMENT',
    'request_too_large',
    'ValidationException',
  ],
  rate_limit_exceeded: [
    429,
    'Too Many Requests',
    'RESOURCE_EXHAUSTED',
    'rate_limit_error',
    'ThrottlingException',
  ],
  internal_error: [
    500,
    'Internal Server Error',
    'INTERNAL',
    'api_error',
    'InternalServerException',
  ],
  upstream_unreachable: [502, 'Bad Gateway', 'UNAVAILABLE', 'api_error', 'InternalServerException'],
  upstream_credential_missing: [
    502,
    'Bad Gateway',
    'UNAVAILABLE',
    'api_error',
    'InternalServerException',
  ],
  server_shutdown: [
    503,
    'Service Unavailable',
    'UNAVAILABLE',
    'overloaded_error',
    'ServiceUnavailableException',
  ],
  service_unavailable: [
    503,
    'Service Unavailable',
    'UNAVAILABLE',
    'overloaded_error',
    'ServiceUnavailableException',
  ],
  upstream_timeout: [
    504,
    'Gateway Timeout',
    'DEADLINE_EXCEEDED',
    'timeout_error',
    'ModelTimeoutException',
  ],
}

test('each refusal has the status, reason and error types of its code', () => {
  for (const [code, [status, reason, google, type, exception]] of Object.entries(WORDS) as [
    GatewayErrorCode,
    (typeof WORDS)[GatewayErrorCode],
  ][]) {
    const by = (id: string) => {
      const response = errorResponse(code, 'A sentence.', provider(id))
      assert.deepEqual([response.status, response.reason], [status, reason], code)
      return {
        headers: pairs(response.headers),
        body: JSON.parse(response.body.toString()) as unknown,
      }
    }
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: code.toUpperCase(),
        domain: 'tollmark',
      },
    ]
    assert.deepEqual(by('google').body, {
      error: { code: status, message: 'A sentence.', status: google, details },
    })
    assert.deepEqual(by('anthropic').body, {
      type: 'error',
      error: { type, message: 'A sentence.' },
    })
    assert.equal(by('bedrock').headers.get('x-amzn-errortype'), exception)
    const { headers } = by('openai')
    assert.deepEqual(
      [headers.has('www-authenticate'), headers.has('allow'), headers.has('x-amzn-errortype')],
      [status === 401, status === 405, false],
      code,
    )
  }
})

test('a refusal has the shape of its provider, the status of its code and the code in a header', () => {
  const shapes = new Map(SHAPES.map(([id, paths]) => [provider(id).errors, paths]))
  const known = new Map(SHAPES)
  for (const { id, errors } of PROVIDERS) {
    // A row that shows its own shape has nothing else to be held to.
    const paths = known.get(id) ?? shapes.get(errors) ?? {}
    assert.ok(typeof errors === 'object' || Object.keys(paths).length > 0, id)
    for (const code of Object.keys(GATEWAY_ERRORS) as GatewayErrorCode[]) {
      const response = errorResponse(code, 'A sentence.', provider(id))
      assert.equal(response.status, GATEWAY_ERRORS[code].status)
      const headers = pairs(response.headers)
      assert.equal(headers.get('x-proxy-error'), code)
      assert.equal(headers.get('content-type'), 'application/json')
      assert.equal(headers.get('content-length'), String(response.body.length))
      const body: unknown = JSON.parse(response.body.toString())
      assert.ok(response.body.includes('A sentence.'))
      for (const [path, type] of Object.entries(paths)) {
        const value = path
          .split('.')
          .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], body)
        assert.equal(value === null ? 'null' : typeof value, type, `${id} ${code} ${path}`)
      }
    }
  }
  assert.equal(
    pairs(errorResponse('api_key_expired', 'x', null).headers).get('www-authenticate'),
    'Bearer',
  )
  assert.equal(
    pairs(errorResponse('method_not_allowed', 'x', null).headers).get('allow'),
    'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  )
  assert.equal(
    JSON.parse(errorResponse('invalid_upstream_url', 'x', null).body.toString()).error.code,
    'invalid_upstream_url',
  )
})
