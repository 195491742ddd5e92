// The root of the app: setup on the first run, the sign-in page without a session, otherwise the
// pages.
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { ApiError } from './api/http.ts'
import { isUnavailable } from './api/recover.ts'
import { AccountContext, useSession } from './api/session.ts'
import { PAGES } from './pages.ts'
import { Shell } from './shell.tsx'
import { Code, lazily } from './ui/code.tsx'
import { useZone } from './use-zone.ts'
import { Bars, Empty, Failed, Page as Frame } from './ui/page.tsx'

const SetupPage = lazily(() => import('./pages/setup.tsx'))
const SignInPage = lazily(() => import('./pages/sign-in.tsx'))
/** TABLE of pages opened by a link, with or without a session. */
const BY_LINK = {
  '/invite': lazily(() => import('./pages/invite.tsx')),
  '/reset-password': lazily(() => import('./pages/reset-password.tsx')),
}
const isByLink = (path: string): path is keyof typeof BY_LINK => Object.hasOwn(BY_LINK, path)

/** The root component: the sign-in pages, or the shell around the current page. */
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
        <h1 className="hidden">Tollmark</h1>
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
      <Code at={location}>
        <Entrance />
      </Code>
    )
  }
  // Right after sign-in or setup, the URL is still that page's.
  if (location === '/sign-in' || location === '/setup') return <Redirect to="/" replace />
  return (
    <AccountContext value={account}>
      <Shell key={account.id} account={account}>
        <Code at={location} fallback={<Bars />}>
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
        </Code>
      </Shell>
    </AccountContext>
  )
}
