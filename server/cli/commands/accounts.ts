// tollmark accounts …
import {
  accountId,
  apiCommand,
  recordResult,
  listResult,
  type CommandContext,
} from '../api-command.ts'
import type { Command } from '../command.ts'
import { Misuse } from '../failure.ts'
import type { Column } from '../output.ts'
import { encodeId } from './keys.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (account) => account.text('id')],
  ['ROLE', (account) => account.text('role')],
  ['PLAN', (account) => account.text('plan')],
  ['STATUS', (account) => (account.flag('disabled') ? 'disabled' : 'active')],
  ['E-MAIL', (account) => account.text('email')],
  ['NAME', (account) => account.text('name')],
]

/** The commands about accounts. */
export const ACCOUNTS: readonly Command[] = [
  apiCommand({
    name: 'accounts list',
    summary: 'list accounts',
    examples: ['tollmark accounts list'],
    act: async ({ client }) => listResult('accounts', await client.list('accounts'), COLUMNS),
  }),
  apiCommand({
    name: 'accounts create',
    summary: 'create an account for tokens and keys that cannot sign in',
    creates: true,
    options: [
      { flags: '--name <name>', summary: 'its name (required)' },
      { flags: '--plan <plan>', summary: 'its plan; default "free"' },
    ],
    examples: ['tollmark accounts create --name acme --plan team'],
    act: async ({ client, values }) => {
      const name = values.text('name')?.trim() ?? ''
      if (name === '') throw new Misuse('Give the account a name: --name NAME.')
      const account = await client.post('accounts', { name, plan: values.text('plan') })
      return {
        record: account.json,
        lines: [
          `${account.text('id')}: account "${account.text('name')}", plan ${account.text('plan')}.`,
        ],
      }
    },
  }),
  apiCommand({
    name: 'accounts show',
    args: '<account>',
    summary: 'show an account and its quota',
    examples: ['tollmark accounts show acme'],
    act: async (context) =>
      recordResult(await context.client.get(`accounts/${await accountQuery(context)}`)),
  }),
  apiCommand({
    name: 'accounts change',
    args: '<account>',
    summary: "change an account's name or plan",
    options: [
      { flags: '--name <name>', summary: 'its new name' },
      { flags: '--plan <plan>', summary: 'its new plan' },
    ],
    examples: [
      'tollmark accounts change acme --plan team',
      'tollmark accounts change acme --name "Acme Ltd"',
    ],
    act: async (context) => {
      const [name, plan] = [context.values.text('name'), context.values.text('plan')]
      if (name === undefined && plan === undefined)
        throw new Misuse('Give what to change: --name NAME, --plan PLAN.')
      return recordResult(
        await context.client.patch(`accounts/${await accountQuery(context)}`, { name, plan }),
      )
    },
  }),
  apiCommand({
    name: 'accounts role',
    args: '<account> <role>',
    summary: 'make an account an administrator (admin) or not (member)',
    examples: ['tollmark accounts role jo@example.com admin'],
    act: async (context) => {
      const account = await context.client.patch(`accounts/${await accountQuery(context)}`, {
        role: context.args[1],
      })
      return { record: account.json, lines: [`${account.text('id')} is ${account.text('role')}.`] }
    },
  }),
  apiCommand({
    name: 'accounts reset-password',
    args: '<account>',
    summary: 'create a link that sets a new password; it works once, for a day',
    showsSecret: true,
    examples: ['tollmark accounts reset-password jo@example.com'],
    act: async (context) => {
      const reset = await context.client.post(
        `accounts/${await accountQuery(context)}/reset-password`,
      )
      const { server, commandLine } = context.config
      // A server on this machine does not tell its address; its settings do.
      const guessed = commandLine.url === null && server.publicUrl === null
      const address = guessed
        ? [
            `The link assumes that the server is at http://${server.host}:${server.port}. If it is not, set PORT or TOLLMARK_PUBLIC_URL as for the server.`,
          ]
        : []
      return { record: reset.json, lines: [reset.text('link')], notes: address }
    },
  }),
  ...(['disable', 'enable'] as const).map((word) =>
    apiCommand({
      name: `accounts ${word}`,
      args: '<account>',
      summary:
        word === 'disable'
          ? 'disable an account, its tokens and its keys'
          : 'enable a disabled account',
      examples: [`tollmark accounts ${word} acme`],
      act: async (context) => {
        const disabled = word === 'disable'
        const account = await context.client.patch(`accounts/${await accountQuery(context)}`, {
          disabled,
        })
        return {
          record: account.json,
          lines: [`${account.text('id')} is ${disabled ? 'disabled' : 'active'}.`],
        }
      },
    }),
  ),
  apiCommand({
    name: 'accounts delete',
    args: '<account>',
    summary: 'delete an account permanently; its keys, tokens and sessions stop working',
    notes: 'Its usage stays in reports. "accounts disable" can be undone; this cannot.',
    examples: ['tollmark accounts delete acme'],
    act: async (context) => {
      const id = await accountQuery(context)
      await context.client.delete(`accounts/${id}`)
      return {
        record: { object: 'account', id: decodeURIComponent(id), deleted: true },
        lines: [`${decodeURIComponent(id)} is deleted.`],
      }
    },
  }),
]

/** The query for the account named in the arguments. */
async function accountQuery({ client, args }: CommandContext): Promise<string> {
  return encodeId([(await accountId(client, args[0], null)) ?? ''])
}
