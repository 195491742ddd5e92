// The root of the app: setup on the first run, the pages that a link opens, the sign-in page
// without a session, otherwise the pages in the shell.
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { ApiError } from './api/http.ts'
import { isUnavailable } from './api/recover.ts'
import { AccountContext, useSession } from './api/session.ts'
import { PAGES } from './pages.ts'
import { Shell } from './shell.tsx'
import { LoadBoundary, lazily } from './ui/lazily.tsx'
import { useZone } from './use-zone.ts'
import { Skeletons, Empty, Failed, Page as Frame } from './ui/page.tsx'

const SetupPage = lazily(() => import('./pages/setup.tsx'))
const SignInPage = lazily(() => import('./pages/sign-in.tsx'))
/** TABLE of pages opened by a link, with or without a session. */
const BY_LINK = {
  '/invite': lazily(() => import('./pages/invite.tsx')),
  '/reset-password': lazily(() => import('./pages/reset-password.tsx')),
}
const isByLink = (path: string): path is keyof typeof BY_LINK => Object.hasOwn(BY_LINK, path)

/** The root component: one page alone, or the shell around the current page. */
export function App() {
  // Rerenders everything when the time zone changes.
  useZone()
  const session = useSession()
  const [location] = useLocation()
  if (session.data === undefined) {
    // At the first failure, and not only after the last retry.
    const problem = session.error ?? session.failureReason
    if (problem === null) return null
    return (
      <main>
        <h1 className="visually-hidden">Tollmark</h1>
        {/* With status 0 nothing answered, not even a proxy that waits for the server. */}
        {problem instanceof ApiError && isUnavailable(problem) && problem.status !== 0 ? (
          <Empty icon="clock" title="Tollmark is starting">
            The server or its database is not ready. This page opens when it is.
          </Empty>
        ) : (
          <Failed error={problem} retry={() => void session.refetch()} />
        )}
      </main>
    )
  }
  const { setup_required, account } = session.data
  if (setup_required && location !== '/setup') return <Redirect to="/setup" replace />
  if (setup_required || isByLink(location) || account === null) {
    const Entrance = setup_required
      ? SetupPage
      : isByLink(location)
        ? BY_LINK[location]
        : SignInPage
    return (
      <LoadBoundary at={location}>
        <Entrance />
      </LoadBoundary>
    )
  }
  // After setup, or where someone has typed it, the URL is of a page for people without a session.
  if (location === '/sign-in' || location === '/setup') return <Redirect to="/" replace />
  return (
    <AccountContext value={account}>
      <Shell key={account.id} account={account}>
        <LoadBoundary at={location} fallback={<Skeletons />}>
          <Switch>
            {PAGES.filter(({ admin }) => admin !== true || account.role === 'admin').map(
              ({ path, Page }) => (
                <Route key={path} path={path}>
                  <Page />
                </Route>
              ),
            )}
            <Route>
              <Frame title="Page not found">
                <Empty icon="search" title="There is no page at this address">
                  The link may be mistyped or out of date. Use the navigation to find what you need.
                </Empty>
              </Frame>
            </Route>
          </Switch>
        </LoadBoundary>
      </Shell>
    </AccountContext>
  )
}
