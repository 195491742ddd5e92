// The settings of uploads, conversions and jobs.
import {
  bytes,
  bytesFrom,
  duration,
  integer,
  origins,
  setting,
  timeout,
  type SettingsArea,
} from '../setting-kinds.ts'

/** With fewer megabytes than this, a converter may not even start (an empty page takes 12). */
const MIN_HEAP = 32

/** TABLE of the settings of uploads, conversions and jobs. */
export const conversion = {
  maxHtml: setting('TOLLMARK_MAX_HTML', bytes, '10MB', 'The largest HTML file that is accepted.'),
  maxZip: setting('TOLLMARK_MAX_ZIP', bytes, '50MB', 'The largest ZIP archive that is accepted.'),
  maxEntries: setting(
    'TOLLMARK_MAX_ENTRIES',
    integer(1, 10_000_000),
    '50000',
    'Maximum number of files in a ZIP archive and its parts together. The command line accepts 2,000,000.',
  ),
  maxPage: setting('TOLLMARK_MAX_PAGE', bytes, '32MB', 'The largest page of an archive, inflated.'),
  maxPages: setting(
    'TOLLMARK_MAX_PAGES',
    bytes,
    '1GB',
    'All pages of an archive together, inflated; a result may have twice as many bytes. The command line has no such limit.',
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
    'Conversions that run in parallel, for requests and for parts of jobs. The same number again is kept for accounts that have waited 2 s and have none running. Unset: one per CPU, and for jobs one fewer if the same process answers requests.',
  ),
  queue: setting(
    'TOLLMARK_CONVERSION_QUEUE',
    integer(0, 100_000),
    '200',
    'Conversions that may wait. One account may use a quarter of the queue; beyond that it gets a 429, or a 503 if others fill the queue.',
  ),
  jobQueue: setting(
    'TOLLMARK_JOB_QUEUE',
    integer(0, 1_000_000),
    '1000',
    'Jobs that may wait for a worker, at most 20 per account; more get a 503, except the first of an account.',
  ),
  uploads: setting(
    'TOLLMARK_UPLOADS',
    integer(1, 100_000),
    '100',
    'Maximum number of uploads in progress. An account has a share of a quarter and may use more while there is room. When there is none, its newest uploads beyond its share are stopped to make room for others, and new ones get a 429.',
  ),
  uploadGrace: setting(
    'TOLLMARK_UPLOAD_GRACE',
    timeout,
    '30s',
    'Grace period for uploads: after it, an upload slower than 16 KB/s on average gets a 408.',
  ),
  transferIdle: setting(
    'TOLLMARK_TRANSFER_IDLE',
    timeout,
    '30s',
    'How long an upload, another body sent to the API, or a response may stall before it is abandoned.',
  ),
  deadline: setting('TOLLMARK_CONVERSION_DEADLINE', timeout, '2m', 'Time limit of one conversion.'),
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
    'How long an Idempotency-Key repeats its first response.',
  ),
} satisfies SettingsArea
