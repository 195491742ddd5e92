// A minimal browser for sign-in tests: keeps its cookie and sends the Origin of its page.
import assert from 'node:assert/strict'
import { call } from './harness.ts'
import type { ReceivedResponse } from './harness.ts'

export interface Browser {
  /** The cookie's value; assign it to send another one. */
  cookie: string | undefined
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ReceivedResponse>
}

/** @param url the server; requests come from one of its pages */
export function openBrowser(url: string): Browser {
  const browser: Browser = {
    cookie: undefined,
    send: async (method, path, body, headers = {}) => {
      const response = await call(url, `/api/v1/${path}`, {
        method,
        headers: {
          origin: url,
          ...(browser.cookie === undefined
            ? {}
            : { cookie: `other=1; tollmark_session=${browser.cookie}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      for (const line of response.headers['set-cookie'] ?? [])
        browser.cookie = /^tollmark_session=([^;]*)/.exec(line)?.[1] || undefined
      return response
    },
  }
  return browser
}

export const ADMIN = { email: 'ada@example.com', password: 'correct horse battery' }

/** A browser that has followed the link of the first run. */
export async function setUp(
  server: { url: string; setupLink: string | null },
  who = ADMIN,
): Promise<Browser> {
  const browser = openBrowser(server.url)
  const response = await browser.send('POST', 'setup', {
    token: tokenOf(server.setupLink!),
    ...who,
  })
  assert.equal(response.status, 201, response.text)
  return browser
}

/** A browser of a new member, whom `admin` has invited. */
export async function invite(
  url: string,
  admin: Browser,
  who: { email: string; password: string },
): Promise<Browser> {
  const invitation = (await admin.send('POST', 'invitations', {})).json<{ link: string }>()
  const browser = openBrowser(url)
  const response = await browser.send('POST', 'invitations/accept', {
    token: tokenOf(invitation.link),
    ...who,
  })
  assert.equal(response.status, 201, response.text)
  return browser
}

/** The token in a link. */
export function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token')!
}
