// TABLE of settings, by area, and the one place that reads the environment. A new setting is a new
// row; validation, the typed `Config` and `.env.example` follow from it.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { SetupError, codeOf } from '../common/errors.ts'
import { PROVIDER_CREDENTIALS } from './provider-credentials.ts'
import { readProvidersFile, type ProviderEntry } from './providers-file.ts'
import {
  bytes,
  bytesFrom,
  choice,
  credential,
  days,
  decoded,
  dialled,
  duration,
  flag,
  headers,
  host,
  hostPart,
  integer,
  json,
  key256,
  origins,
  setting,
  share,
  text,
  timeout,
  url,
  wait,
  type Kind,
  type Setting,
} from './setting-kinds.ts'

const MAX_COUNT = 1_000_000_000
/** Megabytes below which a converter may not even start (it takes 12 for an empty page). */
const MIN_HEAP = 32

/**
 * Plans by their names: how many conversions a UTC day their accounts have; `null` is without a
 * limit.
 */
type PlanLimits = Record<string, { conversions_per_day: number | null }>

const plans: Kind<Readonly<PlanLimits>> = json(
  'JSON such as {"team":{"conversions_per_day":1000},"unlimited":{"conversions_per_day":null}}',
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const read: PlanLimits = {}
    for (const [name, plan] of Object.entries(value)) {
      const count: unknown =
        typeof plan === 'object' && plan !== null && 'conversions_per_day' in plan
          ? plan.conversions_per_day
          : undefined
      const countable =
        count === null ||
        (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT)
      if (!countable || !/^[\w-]{1,64}$/.test(name)) return undefined
      read[name] = { conversions_per_day: count }
    }
    return read
  },
)

const database: Kind<URL> = {
  what: 'an address that begins with sqlite:///, postgres:// or postgresql://',
  parse: (value) => {
    const address = url('sqlite:', 'postgres:', 'postgresql:').parse(value)
    if (address === undefined || decoded(address.pathname) === undefined) return undefined
    // What stands behind two slashes only is a host, which a file does not have.
    return address.protocol === 'sqlite:' && (address.host !== '' || address.pathname === '')
      ? undefined
      : address
  },
}

/** The variable by which a provider is dialled elsewhere. */
export const upstreamVariable = (id: string): string =>
  `TOLLMARK_UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`

/**
 * TABLE of areas, each a table of settings: field of `Config` → variable, kind, default, sentence.
 */
const areas = {
  server: {
    port: setting(
      'PORT',
      integer(0, 65_535),
      '8484',
      'The port to listen on; 0 takes any free one.',
    ),
    host: setting(
      'HOST',
      host,
      'localhost',
      'The address to listen on. If other machines can reach it, put a reverse proxy with TLS in front.',
    ),
    publicUrl: setting(
      'TOLLMARK_PUBLIC_URL',
      url('http:', 'https:'),
      null,
      'The public address of the server, used in the setup link of the first start; unset, HOST and PORT.',
    ),
    role: setting(
      'TOLLMARK_ROLE',
      choice('all', 'web', 'worker'),
      'all',
      'What this process does: answer requests (web), run jobs (worker), or both.',
    ),
    logLevel: setting(
      'LOG_LEVEL',
      choice('debug', 'info', 'warn', 'error', 'silent'),
      'info',
      'The lowest level that is logged.',
    ),
    trustProxy: setting(
      'TOLLMARK_TRUST_PROXY',
      flag,
      'false',
      'Whether to trust X-Forwarded-Proto, -Host and -For. Set it only behind a reverse proxy that sets them itself.',
    ),
    maxConnections: setting(
      'TOLLMARK_MAX_CONNECTIONS_PER_ADDRESS',
      integer(0, 1_000_000),
      '2500',
      'Most connections from one address (for IPv6, one /64 network); more are answered 503. 0 means no limit. With TOLLMARK_TRUST_PROXY it limits the requests in progress of one address in X-Forwarded-For.',
    ),
    headersTimeout: setting(
      'TOLLMARK_HEADERS_TIMEOUT',
      timeout,
      '15s',
      'Time limit for receiving the head of a request.',
    ),
    drain: setting(
      'TOLLMARK_DRAIN',
      wait,
      null,
      'How long after SIGTERM to keep accepting requests while /readyz answers 503, so that balancers stop sending them here; unset, 5s for processes that answer requests on PostgreSQL, else 0s.',
    ),
    shutdownTimeout: setting(
      'TOLLMARK_SHUTDOWN_TIMEOUT',
      wait,
      '20s',
      'How long to wait after SIGTERM, and after TOLLMARK_DRAIN, for requests in progress.',
    ),
  },
  commandLine: {
    url: setting(
      'TOLLMARK_URL',
      url('http:', 'https:'),
      null,
      'The running server that commands talk to; unset, they use the store in the current folder.',
    ),
    token: setting(
      'TOLLMARK_TOKEN',
      credential,
      null,
      'The API token that commands send to that server.',
      { secret: true },
    ),
  },
  storage: {
    data: setting(
      'TOLLMARK_DATA',
      text,
      './data',
      'The folder for the database, stored files and the master key.',
    ),
    dataPersistent: setting(
      'TOLLMARK_DATA_PERSISTENT',
      choice('auto', 'yes', 'no'),
      'auto',
      'Whether TOLLMARK_DATA outlives the process, as a volume does and the file system of a container does not. With no, requests are answered 503 as soon as the database does not answer, because nothing could keep them. auto means yes unless the folder lies in memory (tmpfs).',
    ),
    databaseUrl: setting(
      'DATABASE_URL',
      database,
      null,
      'The database; unset, a SQLite file in the data folder.',
      { secret: true },
    ),
    masterKey: setting(
      'TOLLMARK_MASTER_KEY',
      key256,
      null,
      'The key that encrypts stored provider credentials; unset, one is generated and kept in the data folder.',
      {
        secret: true,
      },
    ),
    s3Endpoint: setting(
      'S3_ENDPOINT',
      url('http:', 'https:'),
      null,
      'The S3-compatible service for files; unset, Amazon S3 if S3_BUCKET is set.',
    ),
    s3Bucket: setting(
      'S3_BUCKET',
      text,
      null,
      'The bucket for files, created if it is missing; unset, files are kept in the data folder.',
    ),
    s3Region: setting('S3_REGION', hostPart, 'us-east-1', 'The region of the bucket.'),
    s3KeyId: setting(
      'S3_ACCESS_KEY_ID',
      text,
      null,
      'The access key for the bucket; unset, the credentials of the machine (such as a role).',
    ),
    s3Secret: setting('S3_SECRET_ACCESS_KEY', text, null, 'The secret of the access key.', {
      secret: true,
    }),
  },
  accounts: {
    plans: setting(
      'TOLLMARK_PLANS',
      plans,
      '{}',
      'More plans, or another quota for "free"; null means no limit.',
    ),
    freeConversions: setting(
      'TOLLMARK_FREE_CONVERSIONS',
      integer(0, MAX_COUNT),
      '10',
      'Conversions per UTC day for accounts on the free plan.',
    ),
    adminEmail: setting(
      'TOLLMARK_ADMIN_EMAIL',
      text,
      null,
      'E-mail address of the first account, created at the first start.',
    ),
    adminPassword: setting(
      'TOLLMARK_ADMIN_PASSWORD',
      text,
      null,
      'Password of the first account.',
      { secret: true },
    ),
  },
  conversion: {
    maxHtml: setting('TOLLMARK_MAX_HTML', bytes, '10MB', 'The largest HTML file that is accepted.'),
    maxZip: setting('TOLLMARK_MAX_ZIP', bytes, '50MB', 'The largest ZIP archive that is accepted.'),
    maxEntries: setting(
      'TOLLMARK_MAX_ENTRIES',
      integer(1, 10_000_000),
      '50000',
      'Most files in a ZIP archive and its parts together. The command line accepts 2,000,000.',
    ),
    maxPage: setting(
      'TOLLMARK_MAX_PAGE',
      bytes,
      '32MB',
      'The largest page of an archive, inflated.',
    ),
    maxPages: setting(
      'TOLLMARK_MAX_PAGES',
      bytes,
      '1GB',
      'All pages of an archive together, inflated. The command line has no such limit.',
    ),
    maxParts: setting(
      'TOLLMARK_MAX_PARTS',
      bytes,
      '256MB',
      'The deflated parts of an export (…-Part-1.zip) together, inflated. The command line has no such limit.',
    ),
    allowedOrigins: setting(
      'TOLLMARK_ALLOWED_ORIGINS',
      origins,
      null,
      'Origins of web pages that may call the conversion API with a token (CORS), or * for any; unset, only the dashboard. Proxy keys have their own allowed origins.',
    ),
    asyncAbove: setting(
      'TOLLMARK_ASYNC_ABOVE',
      bytes,
      '5MB',
      'ZIP archives larger than this are converted in the background, as a job.',
    ),
    atOnce: setting(
      'TOLLMARK_CONVERSIONS',
      integer(1, 256),
      null,
      'Conversions that run in parallel for requests, and parts of a job; unset, one per processor, and for jobs one fewer if the same process answers requests.',
    ),
    queue: setting(
      'TOLLMARK_CONVERSION_QUEUE',
      integer(0, 100_000),
      '200',
      'Conversions that may wait. One account may take a quarter; beyond that it is answered 429, or 503 if others fill the queue.',
    ),
    jobQueue: setting(
      'TOLLMARK_JOB_QUEUE',
      integer(0, 1_000_000),
      '1000',
      'Jobs that may wait for a worker, at most 20 per account; more are answered 503, except the first of an account.',
    ),
    uploads: setting(
      'TOLLMARK_UPLOADS',
      integer(1, 100_000),
      '100',
      'Uploads in progress at once. One account has a quarter as its share and may use more while there is room; when there is none, its newest uploads beyond its share are ended for those of others, and more are answered 429.',
    ),
    uploadGrace: setting(
      'TOLLMARK_UPLOAD_GRACE',
      timeout,
      '30s',
      'Grace period for uploads: after it, one slower than 16 KB/s on average is answered 408.',
    ),
    transferIdle: setting(
      'TOLLMARK_TRANSFER_IDLE',
      timeout,
      '30s',
      'How long an upload, another body sent to the API, or an answer may stall before it is abandoned.',
    ),
    deadline: setting(
      'TOLLMARK_CONVERSION_DEADLINE',
      timeout,
      '2m',
      'Time limit of one conversion.',
    ),
    heap: setting(
      'TOLLMARK_CONVERSION_HEAP',
      bytesFrom(MIN_HEAP),
      '256MB',
      'Heap limit of one conversion.',
    ),
    retention: setting(
      'TOLLMARK_RESULT_RETENTION',
      duration,
      '24h',
      'How long the result of a job is kept.',
    ),
    eventsIdle: setting(
      'TOLLMARK_EVENTS_IDLE',
      timeout,
      '15s',
      'How often an idle stream of job events sends a keep-alive comment.',
    ),
    idempotency: setting(
      'TOLLMARK_IDEMPOTENCY_RETENTION',
      duration,
      '24h',
      'How long an Idempotency-Key repeats its first answer.',
    ),
  },
  proxy: {
    connectTimeout: setting(
      'TOLLMARK_CONNECT_TIMEOUT',
      timeout,
      '10s',
      'Time limit for connecting to a provider.',
    ),
    firstByteTimeout: setting(
      'TOLLMARK_FIRST_BYTE_TIMEOUT',
      timeout,
      '15m',
      "Time limit from the end of a request to the head of the provider's answer; also how long a request body may stall on its way to the provider.",
    ),
    idleTimeout: setting(
      'TOLLMARK_IDLE_TIMEOUT',
      timeout,
      '15m',
      "How long a provider's answer may stall.",
    ),
    keepAlive: setting(
      'TOLLMARK_KEEP_ALIVE',
      wait,
      '15s',
      'How long an idle connection to a provider is kept, unless the provider says.',
    ),
    maxBody: setting(
      'TOLLMARK_MAX_BODY',
      bytes,
      '64MB',
      'The largest request body that is buffered, which happens only when the model or the stored objects it names must be checked.',
    ),
    maxHeld: setting(
      'TOLLMARK_MAX_HELD',
      bytes,
      '512MB',
      'Memory for all buffered request bodies. A key, and an account, has an eighth as its share, or one body of TOLLMARK_MAX_BODY if that is more; beyond its share it may use what is free, up to half of all.',
    ),
    bodyGrace: setting(
      'TOLLMARK_BODY_GRACE',
      timeout,
      '30s',
      'Grace period for buffered request bodies: after it, one slower than 16 KB/s on average is answered 408.',
    ),
    maxOpen: setting(
      'TOLLMARK_MAX_OPEN',
      integer(1, 1_000_000),
      '10000',
      'Most proxied requests in progress; more are answered 503. Keys and accounts below their share, a quarter, may use as many places again.',
    ),
    storeGrace: setting(
      'TOLLMARK_STORE_GRACE',
      duration,
      '30s',
      'How long known keys keep working while the database does not answer, each process within its share of the limits, and each request written to a file in TOLLMARK_DATA first; then, or at once with 0s, requests are answered 503.',
    ),
    ledgerRetention: setting(
      'TOLLMARK_LEDGER_RETENTION',
      days,
      null,
      'How long the ledger keeps each request; unset, forever. Usage by hour and by day is always kept.',
    ),
    providers: setting(
      'TOLLMARK_PROVIDERS',
      text,
      null,
      'A JSON file of providers to add or change.',
    ),
    azureResource: setting(
      'AZURE_RESOURCE_NAME',
      hostPart,
      null,
      'The Azure resource that AZURE_API_KEY belongs to.',
    ),
    bedrockRegion: setting(
      'AWS_REGION',
      hostPart,
      null,
      'The AWS region that AWS_BEARER_TOKEN_BEDROCK is for.',
    ),
  },
  watch: {
    metricsToken: setting(
      'TOLLMARK_METRICS_TOKEN',
      text,
      null,
      'The bearer token for reading /metrics; unset, everyone who can reach the server may read them.',
      {
        secret: true,
      },
    ),
    otlpEndpoint: setting(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      url('http:', 'https:'),
      null,
      'Where to send OpenTelemetry traces (OTLP over HTTP); unset, tracing is off.',
    ),
    otlpHeaders: setting(
      'OTEL_EXPORTER_OTLP_HEADERS',
      headers,
      null,
      'Headers to send with traces.',
      { secret: true },
    ),
    serviceName: setting(
      'OTEL_SERVICE_NAME',
      text,
      'tollmark',
      'The name of this service in traces.',
    ),
    traceRatio: setting(
      'OTEL_TRACES_SAMPLER_ARG',
      share,
      '1',
      'The share of traces to keep, 0 to 1, unless the caller has decided.',
    ),
  },
  credentials: mapValues(PROVIDER_CREDENTIALS, (name) =>
    setting(name, credential, null, 'The credential for this provider.', { secret: true }),
  ),
  upstreams: mapValues(PROVIDER_CREDENTIALS, (_, id) =>
    // What is wrong with one may be the password in it.
    setting(
      upstreamVariable(id),
      dialled,
      null,
      "Connect to this address instead of the provider's own, which callers keep using.",
      { secret: true },
    ),
  ),
} satisfies Record<string, Record<string, Setting<unknown>>>

type Areas = typeof areas
type Value<S> = S extends Setting<infer T> ? T : never

/** Every setting's value, by area and field. Frozen. */
export type Config = {
  readonly [A in keyof Areas]: { readonly [F in keyof Areas[A]]: Value<Areas[A][F]> }
} & {
  /** The rows of the file that TOLLMARK_PROVIDERS names, with their credentials. */
  readonly customProviders: readonly ProviderEntry[]
}

/**
 * Reads and checks every setting once. An empty variable counts as unset.
 *
 * @param env the environment, usually `environment()`
 * @throws SetupError with one sentence a line for every bad setting
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const errors: string[] = []
  const read = (row: Setting<unknown>): unknown => {
    const given = env[row.name]?.trim() || row.default
    if (given === null) return null
    const value = row.kind.parse(given)
    if (value === undefined)
      errors.push(
        `${row.name} must be ${row.kind.what}${row.secret ? '' : `, but is ${JSON.stringify(given)}`}.`,
      )
    return value
  }
  const config = mapValues(areas, (area) => Object.freeze(mapValues(area, read)))
  if (errors.length > 0) throw new SetupError(errors.join('\n'))
  // The table's types say what `read` gives for each row; TypeScript cannot follow that through the
  // two loops.
  const { storage, ...rest } = config as unknown as Omit<Config, 'customProviders'>
  const customProviders = Object.freeze(
    rest.proxy.providers === null ? [] : readProvidersFile(rest.proxy.providers, env),
  )
  return Object.freeze({
    ...rest,
    customProviders,
    storage: Object.freeze({ ...storage, data: resolve(storage.data) }),
  })
}

/**
 * The environment of this process, over what a `.env` file in `folder` sets.
 *
 * @throws SetupError where the file is there and cannot be read
 */
export function environment(folder: string): Record<string, string | undefined> {
  return { ...parseEnv(readIfExists(join(folder, '.env'))), ...process.env }
}

function readIfExists(file: string): string {
  try {
    // Some editors begin a file with a byte order mark, which would be part of the first name.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw new SetupError(
      `The settings in ${file} cannot be read (${codeOf(error) ?? 'unknown reason'}).`,
      { cause: error },
    )
  }
}

/**
 * Variables that begin with `TOLLMARK_` and that neither a row nor an added provider names: most
 * likely typing errors.
 */
export function unknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  added: readonly ProviderEntry[] = [],
): string[] {
  const known = new Set([
    ...rows().map((row) => row.name),
    ...added.map(({ credential }) => credential?.env),
  ])
  return Object.keys(env).filter((name) => name.startsWith('TOLLMARK_') && !known.has(name))
}

/** The text of `.env.example`: every setting with its sentence and default, commented out. */
export function envExample(): string {
  const head =
    '# Every setting, with its default. Copy to .env and change what you need; the environment wins over the file.\n'
  return head + rows().map(exampleLine).join('')
}

function exampleLine({ sentence, kind, name, default: standard }: Setting<unknown>): string {
  return `\n# ${sentence}\n# ${kind.what}\n#${name}=${standard ?? ''}\n`
}

/** The settings by area, in the order of the table. */
export function settings(): [area: string, rows: Setting<unknown>[]][] {
  return Object.entries(areas).map(([name, area]) => [name, Object.values<Setting<unknown>>(area)])
}

function rows(): Setting<unknown>[] {
  return settings().flatMap(([, area]) => area)
}

function mapValues<V, W>(
  table: Readonly<Record<string, V>>,
  change: (value: V, key: string) => W,
): Record<string, W> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value, key)]))
}
