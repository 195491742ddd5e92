// Shared by the pages before sign-in: a narrow centred form, and the password rules.
import { Button, TextInput } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Form, PasswordField, fieldError } from '../ui/form.tsx'
import { Mark } from '../ui/icons.tsx'
import { ProblemNote, markNavigation } from '../ui/page.tsx'
import css from './entrance.module.css'

/** The layout of the pages before signing in. */
export function Entrance({
  title,
  lead,
  foot,
  children,
}: {
  title: string
  lead: ReactNode
  foot?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Tollmark`
  }, [title])
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    markNavigation()
    const fields = box.current?.querySelectorAll('input') ?? []
    ;[...fields].find(({ value }) => value === '')?.focus()
  }, [])
  return (
    <main className={css.screen}>
      <div className={css.box} ref={box}>
        <div className={css.mark}>
          <Mark size={32} />
          Tollmark
        </div>
        <h1 className={css.title}>{title}</h1>
        <p className={css.lead}>{lead}</p>
        <div className={css.card}>{children}</div>
        {foot !== undefined && <p className={css.foot}>{foot}</p>}
      </div>
    </main>
  )
}

/** The server's rules. */
const PASSWORD = { least: 10, most: 256 }

/** The error of a new password, or null. */
export const passwordProblem = (password: string): string | null => {
  if (password.length < PASSWORD.least) return `At least ${PASSWORD.least} characters.`
  return password.length > PASSWORD.most ? `At most ${PASSWORD.most} characters.` : null
}

interface FormProps {
  email?: string
  /**
   * A new password is validated, and the browser may suggest one; an existing one is not validated.
   */
  password: 'new' | 'existing'
  submit: string
  busy: boolean
  /** Whether it cannot be submitted yet. */
  waiting?: boolean
  error: unknown
  before?: ReactNode
  onSubmit: (values: { email: string; password: string }) => void
}

/** E-mail and password, with their errors. */
export function EntranceForm({
  email: known = '',
  password: kind,
  submit,
  busy,
  waiting = false,
  error,
  before,
  onSubmit,
}: FormProps) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const [checked, setChecked] = useState(false)
  const wrong = {
    email:
      checked && !email.includes('@')
        ? 'Enter an e-mail address, such as you@example.com.'
        : fieldError(error, 'email'),
    password: checked && kind === 'new' ? passwordProblem(password) : fieldError(error, 'password'),
  }
  const send = (): void => {
    setChecked(true)
    const complete =
      email.includes('@') &&
      (kind === 'existing' ? password !== '' : passwordProblem(password) === null)
    if (complete && !waiting) onSubmit({ email: email.trim(), password })
  }
  return (
    <Form busy={busy} onSubmit={send}>
      {before}
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={wrong.email}
        required
        withAsterisk={false}
      />
      <PasswordField
        label="Password"
        description={kind === 'new' ? `${PASSWORD.least} characters or more.` : undefined}
        autoComplete={kind === 'new' ? 'new-password' : 'current-password'}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={wrong.password}
        required
        withAsterisk={false}
      />
      {wrong.email === null && wrong.password === null && <ProblemNote error={error} />}
      <Button
        type="submit"
        fullWidth
        size="md"
        loading={busy}
        aria-disabled={waiting}
        style={waiting ? { opacity: 0.6 } : undefined}
      >
        {submit}
      </Button>
    </Form>
  )
}
