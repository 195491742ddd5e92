import { Link, Redirect, useSearchParams } from 'wouter'
import { ApiError } from '../api/http.ts'
import { useAcceptInvitation, useOpenInvitation } from '../api/session.ts'
import { dateTime } from '../format.ts'
import { Skeletons } from '../ui/page.tsx'
import { Entrance, EntranceForm } from './entrance.tsx'

/** The page of an invitation link: creates an account. */
export default function InvitePage() {
  const [params] = useSearchParams()
  const token = params.get('token') ?? ''
  const invitation = useOpenInvitation(token)
  const accept = useAcceptInvitation()
  if (accept.isSuccess) return <Redirect to="/" replace />
  if (invitation.error !== null) {
    const gone =
      invitation.error instanceof ApiError &&
      ['invitation_not_found', 'invalid_field'].includes(invitation.error.code)
    return (
      <Entrance
        title="Invitation not valid"
        lead={
          gone
            ? 'It was already used, has expired or never existed. Ask the person who sent it for a new one.'
            : invitation.error.message
        }
      >
        <Link className="textlink" href="/">
          Go to sign-in
        </Link>
      </Entrance>
    )
  }
  if (invitation.data === undefined) return <Skeletons />
  return (
    <Entrance
      title="You're invited"
      lead={`Choose a password to create your account. This invitation expires ${dateTime(invitation.data.expires_at)}.`}
    >
      <EntranceForm
        email={invitation.data.email ?? ''}
        password="new"
        submit="Join"
        busy={accept.isPending}
        error={accept.error}
        onSubmit={(values) => accept.mutate({ token, ...values })}
      />
    </Entrance>
  )
}
