// TABLE of pages: where they are, what they are called, and the code that is loaded when somebody goes there.
import { lazy, type ComponentType } from 'react'
import type { IconName } from './ui/icons.tsx'

export interface PageRow {
  path: string
  load: ComponentType
  /** Its place in the navigation. */
  nav?: { label: string; icon: IconName; group: 'Proxy' | 'Conversion' | 'Server' }
  /** For administrators only. */
  admin?: true
}

export const PAGES: readonly PageRow[] = [
  { path: '/', load: lazy(() => import('./pages/overview.tsx')), nav: { label: 'Overview', icon: 'overview', group: 'Proxy' } },
  { path: '/keys', load: lazy(() => import('./pages/keys.tsx')), nav: { label: 'Keys', icon: 'key', group: 'Proxy' } },
  { path: '/keys/:id', load: lazy(() => import('./pages/key.tsx')) },
  { path: '/providers', load: lazy(() => import('./pages/providers.tsx')), nav: { label: 'Providers', icon: 'plug', group: 'Proxy' } },
  { path: '/requests', load: lazy(() => import('./pages/requests.tsx')), nav: { label: 'Requests', icon: 'list', group: 'Proxy' } },
  { path: '/convert', load: lazy(() => import('./pages/convert.tsx')), nav: { label: 'Convert', icon: 'convert', group: 'Conversion' } },
  { path: '/tokens', load: lazy(() => import('./pages/tokens.tsx')), nav: { label: 'Tokens', icon: 'token', group: 'Conversion' } },
  { path: '/accounts', load: lazy(() => import('./pages/accounts.tsx')), nav: { label: 'Accounts', icon: 'people', group: 'Server' }, admin: true },
  { path: '/docs', load: lazy(() => import('./pages/docs.tsx')), nav: { label: 'API reference', icon: 'book', group: 'Server' } },
  { path: '/account', load: lazy(() => import('./pages/account.tsx')) },
]
