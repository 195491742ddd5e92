import { useEffect, useState } from 'react'
import { ApiError } from '../api/http.ts'
import { useSessionEnded, useSignIn } from '../api/session.ts'
import { duration } from '../format.ts'
import { Entrance, EntranceForm } from './entrance.tsx'

/** The sign-in page, shown in place of the requested page, which appears afterwards. */
export default function SignInPage() {
  const signIn = useSignIn()
  const ended = useSessionEnded()
  const { error } = signIn
  const left = useCountdown(error instanceof ApiError ? error.retryAfter : null, signIn.submittedAt)
  const waiting = left > 0
  return (
    <Entrance
      title="Sign in"
      lead={
        ended
          ? 'Your session has ended. Sign in again to continue.'
          : 'Use your account on this Tollmark server.'
      }
      foot={
        <>
          No account? Ask an administrator for an invitation. Forgot your password? They can send
          you a reset link; on the server, <code>npx tollmark accounts reset-password EMAIL</code>{' '}
          prints one.
        </>
      }
    >
      <EntranceForm
        password="existing"
        submit={
          waiting ? `Try again in ${left < 60 ? `${left} s` : duration(left * 1000)}` : 'Sign in'
        }
        busy={signIn.isPending}
        waiting={waiting}
        error={
          waiting
            ? new ApiError(429, 'too_many_attempts', 'Too many failed attempts.')
            : left === 0 && isLimit(error)
              ? null
              : error
        }
        onSubmit={(values) => signIn.mutate(values)}
      />
    </Entrance>
  )
}

const isLimit = (error: unknown): boolean => error instanceof ApiError && error.retryAfter !== null

/** Seconds left of a wait that began with a response; 0 without one. */
function useCountdown(seconds: number | null, since: number): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    setLeft(seconds ?? 0)
    if (seconds === null) return
    const timer = setInterval(() => setLeft((left) => Math.max(0, left - 1)), 1000)
    return () => clearInterval(timer)
  }, [seconds, since])
  return left
}
