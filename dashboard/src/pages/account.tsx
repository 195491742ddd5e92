import { Button } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../api/http.ts'
import { useAccount, useChangePassword } from '../api/session.ts'
import { date } from '../format.ts'
import { Badge, Facts, Parts } from '../ui/bits.tsx'
import { Form, PasswordField } from '../ui/form.tsx'
import { Buttons, Card, Page, ProblemNote } from '../ui/page.tsx'
import { passwordProblem } from './entrance.tsx'

/** The signed-in account: its plan and its password. */
export default function AccountPage() {
  const { email, name, role, plan, created_at } = useAccount()
  return (
    <Page title="Your account">
      <Card>
        <Facts
          items={[
            ['E-mail', <Parts key="email" name={email ?? name} />],
            ['Role', role === 'admin' ? 'Administrator' : 'Member'],
            ['Plan', plan],
            ['Created', date(created_at)],
          ]}
        />
      </Card>
      <Password />
    </Page>
  )
}

function Password() {
  const change = useChangePassword()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [checked, setChecked] = useState(false)
  const wrong =
    change.error instanceof ApiError && change.error.code === 'invalid_credentials'
      ? change.error.message
      : null
  const send = (): void => {
    setChecked(true)
    if (current === '' || passwordProblem(password) !== null) return
    change.mutate(
      { current, password },
      {
        onSuccess: () => {
          setCurrent('')
          setPassword('')
          setChecked(false)
        },
      },
    )
  }
  return (
    <Card title="Change password" note="This signs you out everywhere else.">
      <div style={{ maxWidth: 400 }}>
        <Form busy={change.isPending} onSubmit={send}>
          <PasswordField
            label="Current password"
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={checked && current === '' ? 'Enter your current password.' : wrong}
          />
          <PasswordField
            label="New password"
            description="10 characters or more."
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={checked ? passwordProblem(password) : null}
          />
          <ProblemNote error={wrong === null ? change.error : null} />
          <Buttons>
            {change.isSuccess && (
              <span role="status">
                <Badge label="Password changed" tone="good" />
              </span>
            )}
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Buttons>
        </Form>
      </div>
    </Card>
  )
}
