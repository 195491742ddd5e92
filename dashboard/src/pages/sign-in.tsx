import { Refused } from '../api/http.ts'
import { useSessionEnded, useSignIn } from '../api/session.ts'
import { Entrance, EntranceForm } from './entrance.tsx'

/** Stands in place of whatever page was asked for, which appears after the sign-in. */
export default function SignInPage() {
  const signIn = useSignIn()
  const ended = useSessionEnded()
  const wait = signIn.error instanceof Refused ? signIn.error.retryAfter : null
  return (
    <Entrance title="Sign in" lead={ended ? 'Your session has ended. Sign in again to continue.' : 'to the dashboard of this Tollmark server.'} foot="No account yet? Ask an administrator of this server for an invitation.">
      <EntranceForm password="existing" submit="Sign in" busy={signIn.isPending} error={signIn.error} onSubmit={(values) => signIn.mutate(values)} />
      {wait !== null && <p className="dimmed">Try again in {wait} s.</p>}
    </Entrance>
  )
}
