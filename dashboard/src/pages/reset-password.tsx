import { Link, Redirect, useSearchParams } from 'wouter'
import { ApiError } from '../api/http.ts'
import { useAcceptReset, useOpenReset } from '../api/session.ts'
import { dateTime } from '../format.ts'
import { Skeletons } from '../ui/page.tsx'
import { Entrance, EntranceForm } from './entrance.tsx'

/** The page of a password reset link. */
export default function ResetPasswordPage() {
  const [params] = useSearchParams()
  const token = params.get('token') ?? ''
  const reset = useOpenReset(token)
  const accept = useAcceptReset()
  if (accept.isSuccess) return <Redirect to="/" replace />
  if (reset.error !== null) {
    const gone =
      reset.error instanceof ApiError && reset.error.status < 500 && reset.error.status > 0
    return (
      <Entrance
        title="Link not valid"
        lead={
          gone
            ? 'It was already used, has expired or was replaced by a newer one. Ask an administrator for a new link.'
            : reset.error.message
        }
      >
        <Link className="textlink" href="/">
          Go to sign-in
        </Link>
      </Entrance>
    )
  }
  if (reset.data === undefined) return <Skeletons />
  const { email, name, expires_at } = reset.data
  return (
    <Entrance
      title="Set a new password"
      lead={`For ${email ?? name}. This link expires ${dateTime(expires_at)}. You will be signed out everywhere else.`}
    >
      <EntranceForm
        email={email ?? ''}
        password="new"
        submit="Set password"
        busy={accept.isPending}
        error={accept.error}
        onSubmit={({ email: typed, password }) =>
          accept.mutate({ token, email: email === null ? typed : null, password })
        }
      />
    </Entrance>
  )
}
