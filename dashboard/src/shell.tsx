// The frame around every page: navigation, account, time zone, colour scheme.
import { ActionIcon, Drawer, NativeSelect, useMantineColorScheme } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { useAccountOf } from './api/accounts.ts'
import type { Account } from './api/shapes.ts'
import { useAccountScope } from './api/account-scope.ts'
import { useSignOut } from './api/session.ts'
import { zoneName } from './format.ts'
import { PAGES } from './pages.ts'
import { Converting } from './pages/converting.tsx'
import css from './shell.module.css'
import { Icon, Mark, type IconName } from './ui/icons.tsx'
import { ProblemNote } from './ui/page.tsx'
import { useZone } from './use-zone.ts'
import { setZone } from './zone.ts'
import { ShownOnce } from './ui/shown-once.tsx'

/** The navigation and header around every page. */
export function Shell({ account, children }: { account: Account; children: ReactNode }) {
  const [location] = useLocation()
  // The path on which it was opened, so that navigating closes it.
  const [openAt, setOpenAt] = useState<string | null>(null)
  const open = openAt === location
  return (
    <div className={css.shell}>
      <a href="#main" className={css.skip}>
        Skip to content
      </a>
      <section className={css.top} aria-label="Tollmark">
        <Brand />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Open the navigation"
          aria-expanded={open}
          onClick={() => setOpenAt(location)}
        >
          <Icon name="menu" size={22} />
        </ActionIcon>
      </section>
      {/* Closing it returns the focus to its button; navigating moves the focus to the page's heading. */}
      <Drawer
        opened={open}
        onClose={() => setOpenAt(null)}
        returnFocus={openAt === null}
        title="Tollmark"
        size={288}
        position="right"
        closeButtonProps={{ 'aria-label': 'Close the navigation' }}
      >
        <div className={css.drawer}>
          <Navigation account={account} location={location} label="Pages, on a small screen" />
        </div>
      </Drawer>
      <div className={css.side}>
        <section className={css.sideInner} aria-label="Tollmark">
          <Brand />
          <Navigation account={account} location={location} label="Pages" />
        </section>
      </div>
      <main id="main" className={css.main} tabIndex={-1}>
        <Converting>
          <ShownOnce>{children}</ShownOnce>
        </Converting>
      </main>
    </div>
  )
}

function Brand() {
  return (
    <Link href="/" className={css.brand}>
      <Mark />
      Tollmark
    </Link>
  )
}

const GROUPS = ['Proxy', 'Conversion', 'Server'] as const

function Navigation({
  account,
  location,
  label,
}: {
  account: Account
  location: string
  label: string
}) {
  const signOut = useSignOut()
  const rows = PAGES.flatMap(({ path, nav, admin }) =>
    nav && (admin !== true || account.role === 'admin') ? [{ path, ...nav }] : [],
  )
  return (
    <>
      {account.role === 'admin' && <AccountScopeSelect />}
      <nav className={css.nav} aria-label={label}>
        {GROUPS.map((group) => (
          <div key={group}>
            <p className={css.group}>{group}</p>
            <ul className={css.list}>
              {rows
                .filter((row) => row.group === group)
                .map(({ path, label, icon }) => (
                  <li key={path}>
                    <Link
                      href={path}
                      className={css.link}
                      aria-current={isAt(location, path) ? 'page' : undefined}
                    >
                      <Icon name={icon} />
                      {label}
                    </Link>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className={css.foot}>
        <Link
          href="/account"
          className={css.link}
          aria-current={location === '/account' ? 'page' : undefined}
        >
          <Icon name="person" />
          <span className={css.who}>{account.email ?? account.name}</span>
        </Link>
        <ZoneButton />
        <SchemeButton />
        <button
          type="button"
          className={`${css.link} ${css.button}`}
          onClick={() => signOut.mutate()}
        >
          <Icon name="leave" />
          Sign out
        </button>
        <ProblemNote error={signOut.error} />
      </div>
    </>
  )
}

function isAt(location: string, path: string): boolean {
  return path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`)
}

/** TABLE of colour schemes, in the order of the button. */
const SCHEMES = {
  auto: { icon: 'system', label: 'System theme', next: 'light' },
  light: { icon: 'sun', label: 'Light theme', next: 'dark' },
  dark: { icon: 'moon', label: 'Dark theme', next: 'auto' },
} as const satisfies Record<string, { icon: IconName; label: string; next: string }>

/** Selects the own account or all. The Accounts page selects another one. */
function AccountScopeSelect() {
  const [whose, setWhose] = useAccountScope()
  const other = whose !== '' && whose !== 'all'
  const account = useAccountOf(whose, other)
  const name = account.data?.email ?? account.data?.name ?? whose
  return (
    <NativeSelect
      size="xs"
      my={10}
      aria-label="Whose keys and requests are shown"
      value={whose}
      onChange={(event) => setWhose(event.currentTarget.value)}
      data={[
        { value: '', label: 'Your account' },
        { value: 'all', label: 'Whole server' },
        ...(other ? [{ value: whose, label: name }] : []),
      ]}
    />
  )
}

function ZoneButton() {
  const zone = useZone()
  const label = zone === 'utc' ? 'Times in UTC' : `Local times (${zoneName()})`
  return (
    <button
      type="button"
      className={`${css.link} ${css.button}`}
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
      aria-label={`${label}. Change to ${zone === 'utc' ? 'local times' : 'UTC'}`}
    >
      <Icon name="clock" />
      {label}
    </button>
  )
}

function SchemeButton() {
  // Otherwise Mantine writes a <style> to pause transitions, which the Content-Security-Policy
  // forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const { icon, label, next } = SCHEMES[colorScheme]
  return (
    <button
      type="button"
      className={`${css.link} ${css.button}`}
      onClick={() => setColorScheme(next)}
      aria-label={`${label}. Change to ${SCHEMES[next].label.toLowerCase()}`}
    >
      <Icon name={icon} />
      {label}
    </button>
  )
}
