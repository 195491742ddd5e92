// tollmark tokens …
import {
  accountId,
  apiCommand,
  recordResult,
  listResult,
  accountFilter,
  ACCOUNT_OPTION,
} from '../api-command.ts'
import type { Command } from '../command.ts'
import { Misuse } from '../failure.ts'
import { printError, type Column } from '../output.ts'
import { encodeId, purgeResult } from './keys.ts'

const COLUMNS: readonly Column[] = [
  ['ID', (token) => token.text('id')],
  ['STATUS', (token) => token.text('status')],
  ['PREFIX', (token) => token.text('prefix')],
  ['SCOPES', (token) => token.texts('scopes')?.join(',') ?? ''],
  ['EXPIRES (UTC)', (token) => token.minute('expires_at', 'never')],
  ['LAST USED (UTC)', (token) => token.minute('last_used_at', 'never')],
  ['NAME', (token) => token.text('name')],
]

/** The commands about API tokens. */
export const TOKENS: readonly Command[] = [
  apiCommand({
    name: 'tokens create',
    summary: 'create an API token; it is shown once',
    creates: true,
    showsSecret: true,
    options: [
      { flags: '--name <name>', summary: 'its name (required)' },
      {
        flags: '--account <account>',
        summary: 'its account; created if it does not exist',
      },
      { flags: '--plan <plan>', summary: 'the plan of an account created here' },
      {
        flags: '--scopes <scopes>',
        summary: 'convert (default), manage or mint; separated by commas',
      },
      {
        flags: '--expires <when>',
        summary: 'a date (UTC), a time, or a duration from now such as 30d',
      },
    ],
    examples: [
      'tollmark tokens create --name ci',
      'tollmark tokens create --name admin --scopes convert,manage',
    ],
    act: async ({ client, values, now }) => {
      const name = values.text('name')?.trim() ?? ''
      if (name === '') throw new Misuse('Give the token a name: --name NAME.')
      const expires_at = values.moment('expires', now, 1)
      const plan = values.text('plan')
      const account_id = await accountId(client, values.text('account'), { plan: plan ?? 'free' })
      const token = await client.post('tokens', {
        name,
        scopes: values.list('scopes'),
        expires_at,
        account_id,
      })
      const id = token.text('id')
      const account = await client.get(`accounts/${encodeId([token.text('account_id')])}`)
      if (plan !== undefined && account.text('plan') !== plan) {
        printError(
          `the account "${account.text('name')}" exists and stays on its plan "${account.text('plan')}".`,
        )
      }
      const line = `${id}: account "${account.text('name')}", ${token.texts('scopes')?.join(', ')}.`
      return {
        record: token.json,
        lines: [token.text('secret')],
        notes: [`${line} The token is not shown again.`],
        undo: async () => {
          await client.acrossAccounts((query) => client.delete(`tokens/${encodeId([id])}`, query))
          return `The token ${id} was created and has been revoked again.`
        },
      }
    },
  }),
  apiCommand({
    name: 'tokens list',
    summary: 'list API tokens, newest first',
    options: [ACCOUNT_OPTION],
    examples: ['tollmark tokens list'],
    act: async ({ client, values }) =>
      listResult(
        'tokens',
        await client.list('tokens', { account: await accountFilter(client, values) }),
        COLUMNS,
      ),
  }),
  apiCommand({
    name: 'tokens show',
    args: '<id>',
    summary: 'show an API token',
    examples: ['tollmark tokens show tok_…'],
    act: async ({ client, args }) =>
      recordResult(
        await client.acrossAccounts((query) => client.get(`tokens/${encodeId(args)}`, query)),
      ),
  }),
  apiCommand({
    name: 'tokens revoke',
    args: '<id>',
    summary: 'revoke an API token permanently',
    examples: ['tollmark tokens revoke tok_…'],
    act: async ({ client, args }) => {
      const id = encodeId(args)
      const token = await client.acrossAccounts((query) => client.get(`tokens/${id}`, query))
      await client.acrossAccounts((query) => client.delete(`tokens/${id}`, query))
      return {
        record: { ...token.json, status: 'revoked' },
        lines: [`${token.text('id')} is revoked.`],
      }
    },
  }),
  apiCommand({
    name: 'tokens purge',
    args: '<id>',
    summary: 'revoke an API token and remove it from every list permanently',
    examples: ['tollmark tokens purge tok_…'],
    act: async ({ client, args }) => {
      await client.acrossAccounts((query) =>
        client.delete(`tokens/${encodeId(args)}`, { ...query, purge: 'true' }),
      )
      return purgeResult('token', args[0] ?? '')
    },
  }),
]
