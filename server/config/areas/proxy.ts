// The settings of proxied requests, and of what all providers share.
import {
  bytes,
  hostPart,
  integer,
  setting,
  text,
  timeout,
  wait,
  type SettingsArea,
} from '../setting-kinds.ts'

/** TABLE of the settings of proxied requests. */
export const proxy = {
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
    "Time limit from the end of a request to the head of the provider's response; also how long a request body may stall on its way to the provider.",
  ),
  idleTimeout: setting(
    'TOLLMARK_IDLE_TIMEOUT',
    timeout,
    '15m',
    "How long a provider's response may stall, and how long a WebSocket may be silent.",
  ),
  keepAlive: setting(
    'TOLLMARK_KEEP_ALIVE',
    wait,
    '15s',
    'How long an idle connection to a provider is kept, unless the provider says otherwise.',
  ),
  maxBody: setting(
    'TOLLMARK_MAX_BODY',
    bytes,
    '64MB',
    'The largest request body that is buffered, also once it is decompressed. Bodies are buffered only when the model or the stored objects they name must be checked. If it is less than 24 MB, it is also the largest WebSocket message.',
  ),
  maxHeld: setting(
    'TOLLMARK_MAX_HELD',
    bytes,
    '512MB',
    'Memory for all buffered request bodies. Each key and each account has a share of an eighth, or one body of TOLLMARK_MAX_BODY if that is more; beyond its share it may use free memory, up to half of the total.',
  ),
  bodyGrace: setting(
    'TOLLMARK_BODY_GRACE',
    timeout,
    '30s',
    'Grace period for buffered request bodies: after it, a body slower than 16 KB/s on average gets a 408.',
  ),
  maxOpen: setting(
    'TOLLMARK_MAX_OPEN',
    integer(1, 1_000_000),
    '10000',
    'Maximum number of proxied requests in progress; more get a 503. The same number again is kept for keys and accounts below their share, which is a quarter.',
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
} satisfies SettingsArea
