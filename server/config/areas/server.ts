// The settings of the server itself.
import {
  choice,
  flag,
  host,
  integer,
  setting,
  timeout,
  url,
  wait,
  type SettingsArea,
} from '../setting-kinds.ts'

/** TABLE of the settings of the server itself. */
export const server = {
  port: setting('PORT', integer(0, 65_535), '8484', 'The port to listen on; 0 takes any free one.'),
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
    'The public address of the server, used in the setup link of the first start; unset, the one that HOST and PORT give.',
  ),
  role: setting(
    'TOLLMARK_ROLE',
    choice('all', 'web', 'worker'),
    'all',
    'What this process does: serve requests (web), run jobs (worker), or both (all).',
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
    'Maximum number of connections from one address (for IPv6, one /64 network); more get a 503. 0 means no limit. With TOLLMARK_TRUST_PROXY it limits the requests in progress of one address in X-Forwarded-For.',
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
    'How long after SIGTERM to keep accepting requests while /readyz answers 503, so that balancers stop sending them here; unset, 5s for processes that answer requests on PostgreSQL, otherwise 0s.',
  ),
  shutdownTimeout: setting(
    'TOLLMARK_SHUTDOWN_TIMEOUT',
    wait,
    '20s',
    'How long to wait after SIGTERM, and after TOLLMARK_DRAIN, for requests in progress.',
  ),
} satisfies SettingsArea
