// Who may see what: the first run leads everybody to the setup, nobody signed in to the sign-in, and then the pages.
import { Suspense, lazy } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { useSession } from './api/session.ts'
import { PAGES } from './pages.ts'
import { Shell } from './shell.tsx'
import { Bars, Empty, Failed, Page as Frame } from './ui/page.tsx'

const SetupPage = lazy(() => import('./pages/setup.tsx'))
const SignInPage = lazy(() => import('./pages/sign-in.tsx'))
const InvitePage = lazy(() => import('./pages/invite.tsx'))

export function App() {
  const session = useSession()
  const [location] = useLocation()
  if (session.data === undefined) return session.error === null ? null : <Failed error={session.error} retry={() => void session.refetch()} />
  const { setup_required, account } = session.data
  if (setup_required) {
    if (location !== '/setup') return <Redirect to="/setup" replace />
    return (
      <Suspense>
        <SetupPage />
      </Suspense>
    )
  }
  if (location === '/invite') {
    return (
      <Suspense>
        <InvitePage />
      </Suspense>
    )
  }
  if (account === null) {
    return (
      <Suspense>
        <SignInPage />
      </Suspense>
    )
  }
  // Whoever has just signed in or set up stands on that address still.
  if (location === '/sign-in' || location === '/setup') return <Redirect to="/" replace />
  return (
    <Shell account={account}>
      <Suspense fallback={<Bars />}>
        <Switch>
          {PAGES.filter(({ admin }) => admin !== true || account.role === 'admin').map(({ path, Page }) => (
            <Route key={path} path={path}>
              <Page />
            </Route>
          ))}
          <Route>
            <Frame title="Nothing is here">
              <Empty icon="search" title="This address leads nowhere">
                It may have been mistyped, or what it led to is gone. The navigation lists every page.
              </Empty>
            </Frame>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  )
}
