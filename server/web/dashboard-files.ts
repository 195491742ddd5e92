// Serves the dashboard's files. They are read once, at the first request, and served from memory:
// there are few, and they are small.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'

/** Responds to a request if it is for the dashboard; otherwise does nothing and returns false. */
export type Dashboard = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

/**
 * TABLE of the paths of pages. All have the same document, which renders the page for its path.
 */
const PAGES = [
  /^\/$/,
  /^\/(?:setup|sign-in|invite|reset-password|keys|providers|requests|sockets|convert|tokens|accounts|account|docs)$/,
  /^\/keys\/[^/]+$/,
]

const isPage = (path: string): boolean => PAGES.some((form) => form.test(path))

/**
 * The canonical path of a page: without a final slash, and with the page's name in lower case; ids
 * are unchanged.
 */
const ownAddress = (path: string): string =>
  path.replace(/\/$/, '').replace(/^\/[^/]*/, (first) => first.toLowerCase())

/** Paths for programs, which do not expect a page. */
const NOT_PAGES = /^\/(?:api|proxy|livez|readyz|metrics|openapi\.json|assets)(?:[/?]|$)/

/** TABLE of content types by file extension. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Scripts, styles and data come only from this server; nothing else is loaded, run or framed. No
 * text is ever interpreted as markup or code.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

interface File {
  type: string
  etag: string
  /** Its name contains a hash of its content. */
  forever: boolean
  plain: Buffer
  br: Buffer | undefined
  gzip: Buffer | undefined
}

/**
 * Serves what `dashboard/build.ts` has put into `dist`.
 *
 * @param built settles when the dashboard is built; pages wait for it
 */
export function openDashboard(dist: string, built: Promise<unknown> | null = null): Dashboard {
  let files: ReadonlyMap<string, File> | undefined
  let building = built
  const endBuilding = (): void => void (building = null)
  void built?.then(endBuilding, endBuilding)
  const show: Dashboard = (incoming, outgoing) => {
    const path = (incoming.url ?? '').split('?')[0] ?? ''
    const page = isPage(path)
    if (building !== null) {
      const showNow = (): void => void show(incoming, outgoing)
      if (page) void building.then(showNow, showNow)
      return page
    }
    const lost =
      !page && !NOT_PAGES.test(path) && (incoming.headers.accept ?? '').includes('text/html')
    if (!page && !lost && !/^\/(?:assets\/|[\w-]+\.\w+$)/.test(path)) return false
    // If it is built while the server runs, the next request sees it.
    files ??= readFiles(dist)
    const own = ownAddress(path)
    if (lost && isPage(own)) {
      outgoing
        .writeHead(308, {
          ...HEADERS,
          location: own + (incoming.url ?? '').slice(path.length),
          'content-length': 0,
        })
        .end()
      return true
    }
    const file = page || lost ? files?.get('/index.html') : files?.get(path)
    if (!file && !page) return false
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      respond(outgoing, 405, { allow: 'GET, HEAD' }, 'This page supports only GET and HEAD.\n')
    else if (!file)
      respond(outgoing, 503, {}, 'The dashboard has not been built. `npm start` builds it.\n')
    else serve(incoming, outgoing, file, lost ? 404 : 200)
    return true
  }
  return show
}

function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  file: File,
  status: number,
): void {
  const accepted = String(incoming.headers['accept-encoding'] ?? '')
  const [encoding, bytes] = chosen(file, accepted)
  const head: Record<string, string | number> = {
    ...HEADERS,
    'content-type': file.type,
    'cache-control': file.forever ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'Accept-Encoding',
  }
  if (status === 200 && (incoming.headers['if-none-match'] ?? '').split(/,\s*/).includes(file.etag))
    return void outgoing.writeHead(304, head).end()
  if (encoding !== null) head['content-encoding'] = encoding
  outgoing.writeHead(status, { ...head, 'content-length': bytes.length })
  outgoing.end(incoming.method === 'HEAD' ? undefined : bytes)
}

/**
 * The smallest encoding that the caller accepts. A weight of 0 means "not acceptable" (RFC 9110,
 * section 12.5.3).
 */
function chosen({ plain, br, gzip }: File, accepted: string): [string | null, Buffer] {
  const takes = (coding: string): boolean =>
    new RegExp(
      String.raw`(?:^|,)\s*${coding}\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+)?\s*(?:,|$)`,
      'i',
    ).test(accepted)
  if (br && takes('br')) return ['br', br]
  if (gzip && takes('gzip')) return ['gzip', gzip]
  return [null, plain]
}

function respond(
  outgoing: ServerResponse,
  status: number,
  headers: Record<string, string>,
  text: string,
): void {
  outgoing
    .writeHead(status, {
      ...HEADERS,
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text)
}

function readFiles(dist: string): ReadonlyMap<string, File> | undefined {
  const current = join(dist, 'current')
  if (!existsSync(current)) return undefined
  const folder = join(dist, readFileSync(current, 'utf8'))
  const names = globSync('**/*.*', { cwd: folder }).map((name) => name.replaceAll('\\', '/'))
  const read = (name: string): Buffer | undefined =>
    names.includes(name) ? readFileSync(join(folder, name)) : undefined
  const served = names.filter((name) => Object.hasOwn(TYPES, extname(name)))
  return new Map(
    served.map((name) => {
      const plain = readFileSync(join(folder, name))
      const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
      return [
        `/${name}`,
        {
          type: TYPES[extname(name)] ?? '',
          etag,
          forever: name.startsWith('assets/'),
          plain,
          br: read(`${name}.br`),
          gzip: read(`${name}.gz`),
        },
      ]
    }),
  )
}
