// The entry point: theme, queries, pages.
import '@mantine/core/styles/baseline.css'
import '@mantine/core/styles/default-css-variables.css'
import 'virtual:theme-variables.css'
import '@mantine/core/styles/global.css'
import '@mantine/core/styles/UnstyledButton.css'
import '@mantine/core/styles/Button.css'
import '@mantine/core/styles/ActionIcon.css'
import '@mantine/core/styles/Loader.css'
import '@mantine/core/styles/CloseButton.css'
import '@mantine/core/styles/Overlay.css'
import '@mantine/core/styles/Paper.css'
import '@mantine/core/styles/ModalBase.css'
import '@mantine/core/styles/Modal.css'
import '@mantine/core/styles/Drawer.css'
import '@mantine/core/styles/Skeleton.css'
import '@mantine/core/styles/Input.css'
import '@mantine/core/styles/InlineInput.css'
import '@mantine/core/styles/PasswordInput.css'
import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/Switch.css'
import '@mantine/core/styles/Progress.css'
import '@mantine/core/styles/Popover.css'
import '@mantine/core/styles/Combobox.css'
import './ui/base.css'
import { MantineProvider } from '@mantine/core'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/http.ts'
import { refetchOnRecovery } from './api/recover.ts'
import { checkSession, syncTabs } from './api/session.ts'
import { App } from './app.tsx'
import { fetchAhead } from './pages.ts'
import { theme } from './theme.ts'
import { keepFocus } from './ui/keep-focus.ts'

fetchAhead(location.pathname)
keepFocus()

const recover = refetchOnRecovery(() => client)
const failed = (error: Error): void => {
  checkSession(client, error)
  recover(error)
}
const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: failed }),
  mutationCache: new MutationCache({ onError: (error) => checkSession(client, error) }),
  defaultOptions: {
    // A local server is reachable without the Internet, too.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5000,
      // A retry does not help after a refusal, but does while the server restarts.
      retry: (failures, error) =>
        failures < 2 &&
        error instanceof ApiError &&
        (error.status === 0 || error.status >= 500) &&
        error.code !== 'unexpected_response',
    },
  },
})

syncTabs(client)

const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
createRoot(root, {
  // The page shows an ApiError; any other error is a bug.
  onCaughtError: (error) => {
    if (!(error instanceof ApiError)) console.error(error)
  },
}).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <App />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
)
