// The session, and the calls that change it.
import { createContext, use } from 'react'
import {
  skipToken,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query'
import { ApiError, call, send } from './http.ts'
import { deleteSavedDocuments } from './saved-documents.ts'
import { useOnce } from './queries.ts'
import { resetAccountScope } from './account-scope.ts'
import { OpenInvitation, OpenReset, Session, SignedIn, type Account } from './shapes.ts'

const SESSION = ['session'] as const
/** True after the server rejected a session that this page had. */
const SESSION_ENDED = ['session ended'] as const

/** The other tabs of this browser, which have the same cookie. */
const tabs = new BroadcastChannel('session')

/** Applies a sign-in or sign-out of another tab in this one. */
export function syncTabs(client: QueryClient): void {
  tabs.addEventListener('message', () => void client.invalidateQueries({ queryKey: SESSION }))
}

/** The session; not an error if nobody is signed in. */
export function useSession() {
  return useQuery({
    queryKey: SESSION,
    queryFn: async ({ signal, client }) => {
      const session = await call(Session, '/api/v1/session', { signal })
      if (session.account?.id !== client.getQueryData<Session>(SESSION)?.account?.id)
        clearAccountData(client)
      return session
    },
  })
}

/** Removes the previous account's data from memory. */
function clearAccountData(client: QueryClient): void {
  client.removeQueries({
    predicate: ({ queryKey: [name] }) => name !== SESSION[0] && name !== SESSION_ENDED[0],
  })
}

/**
 * After a refused call, refetches the session: if it ended elsewhere, the sign-in page appears.
 */
export function checkSession(client: QueryClient, error: Error): void {
  if (!(error instanceof ApiError) || error.code !== 'invalid_token') return
  if (client.getQueryData<Session>(SESSION)?.account) client.setQueryData(SESSION_ENDED, true)
  void client.invalidateQueries({ queryKey: SESSION })
}

/** Whether the last session ended without a sign-out. */
export function useSessionEnded(): boolean {
  return useQuery<boolean>({ queryKey: SESSION_ENDED, queryFn: skipToken }).data ?? false
}

/**
 * The account of the current pages. A page keeps it until it is unmounted, even if it renders after
 * the session has ended.
 */
export const AccountContext = createContext<Account | null>(null)

/**
 * The signed-in account, refetched by a page that opens later. Only for pages behind the sign-in.
 */
export function useAccount(): Account {
  const account = use(AccountContext)
  useSession()
  if (!account) throw new Error('nobody is signed in')
  return account
}

function switchTo(client: QueryClient, account: Account | null): void {
  client.setQueryData<Session>(SESSION, { setup_required: false, account })
  client.setQueryData(SESSION_ENDED, false)
  clearAccountData(client)
  if (account === null) {
    void deleteSavedDocuments()
    resetAccountScope()
  }
  tabs.postMessage(null)
}

/** A call that starts a session: setup, sign-in, an accepted invitation. */
function useSignedInMutation<Body>(path: string) {
  const client = useQueryClient()
  const entrance = useMutation({
    mutationFn: (body: Body) => call(SignedIn, path, { method: 'POST', body }),
    onSuccess: ({ account }) => {
      switchTo(client, account)
    },
  })
  return useOnce(entrance)
}

/** Creates the first account with the setup token, and signs in. */
export const useSetup = () =>
  useSignedInMutation<{ token: string; email: string; password: string }>('/api/v1/setup')
/** Signs in with e-mail and password. */
export const useSignIn = () =>
  useSignedInMutation<{ email: string; password: string }>('/api/v1/session')
/** Creates an account from an invitation, and signs in. */
export const useAcceptInvitation = () =>
  useSignedInMutation<{ token: string; email: string; password: string }>(
    '/api/v1/invitations/accept',
  )

/** Ends the session, and deletes the account's data in this browser. */
export function useSignOut() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => send('/api/v1/session', { method: 'DELETE' }),
    onSuccess: () => {
      switchTo(client, null)
    },
  })
}

/** Changes the password of the signed-in account. */
export function useChangePassword() {
  return useOnce(
    useMutation({
      mutationFn: (body: { current: string; password: string }) =>
        send('/api/v1/session/password', { method: 'POST', body }),
    }),
  )
}

/** A password reset link, as its holder sees it. */
export function useOpenReset(token: string) {
  return useQuery({
    queryKey: ['password-reset', token],
    queryFn: ({ signal }) =>
      call(OpenReset, '/api/v1/password-resets/open', { query: { token }, signal }),
    retry: false,
  })
}

/** Sets a new password by a reset link, and signs in. */
export const useAcceptReset = () =>
  useSignedInMutation<{ token: string; email: string | null; password: string }>(
    '/api/v1/password-resets/accept',
  )

/** An invitation, as the holder of its link sees it. */
export function useOpenInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) =>
      call(OpenInvitation, '/api/v1/invitations/open', { query: { token }, signal }),
    retry: false,
  })
}
