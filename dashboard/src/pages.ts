// TABLE of pages: their paths, labels and code, which is loaded on demand.
import type { ComponentType } from 'react'
import { lazily } from './ui/lazily.tsx'
import type { IconName } from './ui/icons.tsx'

/** One page: its path, its loader and its entry in the navigation. */
export interface PageRow {
  path: string
  load: () => Promise<{ default: ComponentType }>
  /** Its entry in the navigation. */
  nav?: { label: string; icon: IconName; group: 'Proxy' | 'Conversion' | 'Server' }
  /** For administrators only. */
  admin?: true
}

const ROWS: readonly PageRow[] = [
  {
    path: '/',
    load: () => import('./pages/overview.tsx'),
    nav: { label: 'Overview', icon: 'overview', group: 'Proxy' },
  },
  {
    path: '/keys',
    load: () => import('./pages/keys.tsx'),
    nav: { label: 'Keys', icon: 'key', group: 'Proxy' },
  },
  { path: '/keys/:id', load: () => import('./pages/key.tsx') },
  {
    path: '/providers',
    load: () => import('./pages/providers.tsx'),
    nav: { label: 'Providers', icon: 'plug', group: 'Proxy' },
  },
  {
    path: '/requests',
    load: () => import('./pages/requests.tsx'),
    nav: { label: 'Requests', icon: 'list', group: 'Proxy' },
  },
  {
    path: '/sockets',
    load: () => import('./pages/sockets.tsx'),
    nav: { label: 'Sockets', icon: 'socket', group: 'Proxy' },
  },
  {
    path: '/convert',
    load: () => import('./pages/convert.tsx'),
    nav: { label: 'Convert', icon: 'convert', group: 'Conversion' },
  },
  {
    path: '/tokens',
    load: () => import('./pages/tokens.tsx'),
    nav: { label: 'Tokens', icon: 'token', group: 'Conversion' },
  },
  {
    path: '/accounts',
    load: () => import('./pages/accounts.tsx'),
    nav: { label: 'Accounts', icon: 'people', group: 'Server' },
    admin: true,
  },
  {
    path: '/docs',
    load: () => import('./pages/docs.tsx'),
    nav: { label: 'API reference', icon: 'book', group: 'Server' },
  },
  { path: '/account', load: () => import('./pages/account.tsx') },
]

/** The pages with their lazy components. */
export const PAGES = ROWS.map((row) => ({ ...row, Page: lazily(row.load) }))

/** Loads the code of the current page while the session is still loading. */
export function fetchAhead(path: string): void {
  const row = ROWS.find((row) => new RegExp(`^${row.path.replace(/:\w+/, '[^/]+')}$`).test(path))
  // A failure recurs when the page renders, and is shown then.
  row?.load().catch(() => {})
}
