// tollmark keys …
import {
  accountId,
  apiCommand,
  recordResult,
  listResult,
  accountFilter,
  ACCOUNT_OPTION,
  type CommandContext,
  type CommandResult,
} from '../api-command.ts'
import { SetupError } from '../../common/errors.ts'
import { counted } from '../../common/counted.ts'
import type { Command, Option } from '../command.ts'
import { Misuse } from '../failure.ts'
import type { Column } from '../output.ts'
import type { Row } from '../record.ts'
import type { OptionValues } from '../values.ts'

const MAX_RPM = 1_000_000
const MAX_GRACE_SECONDS = 30 * 86_400

/** Options that set a key's fields. */
const KEY_OPTIONS: readonly Option[] = [
  {
    flags: '--models <models>',
    summary: 'models that it may call, separated by commas; * matches anything',
  },
  { flags: '--rpm <number>', summary: 'requests in any 60 seconds' },
  {
    flags: '--origins <origins>',
    summary: 'origins of web pages that may use it, separated by commas',
  },
  { flags: '--providers <ids>', summary: 'providers that it may call, separated by commas' },
  {
    flags: '--objects <whose>',
    summary: 'stored objects that it may use: its own, or all upstream',
    choices: ['own', 'upstream'],
  },
  {
    flags: '--expires <when>',
    summary: 'a date (UTC), a time, or a duration from now such as 30d',
  },
]

/** The options that a child key can narrow. */
const CHILD_OPTIONS = /^--(?:models|rpm|origins) /

const COLUMNS: readonly Column[] = [
  ['ID', (key) => key.text('id')],
  ['STATUS', (key) => key.text('status')],
  ['PREFIX', (key) => key.text('prefix')],
  ['MODELS', (key) => key.texts('models')?.join(',') ?? 'all'],
  ['LIMIT', (key) => (key.optional('rpm') === null ? 'none' : `${key.text('rpm')}/min`)],
  ['EXPIRES (UTC)', (key) => key.minute('expires_at', 'never')],
  ['LAST USED (UTC)', (key) => key.minute('last_used_at', 'never')],
  ['NAME', (key) => key.text('name')],
]

/** The commands about proxy keys. */
export const KEYS: readonly Command[] = [
  apiCommand({
    name: 'keys create',
    summary: 'create a proxy key; it is shown once',
    creates: true,
    showsSecret: true,
    options: [
      { flags: '--name <name>', summary: 'its name (required)' },
      {
        flags: '--account <account>',
        summary: 'its account; created if it does not exist',
      },
      ...KEY_OPTIONS,
      { flags: '--read-only', summary: 'it may generate and read, but not change anything' },
    ],
    examples: [
      'tollmark keys create --name app',
      "tollmark keys create --name app --models 'gpt-4o*' --rpm 60 --expires 30d",
    ],
    act: async ({ client, values, now }) => {
      const name = requireName(values)
      const wanted = { ...keyFields(values, now), name, read_only: values.flag('read-only') }
      const account_id = await accountId(client, values.text('account'), { plan: 'free' })
      const key = await client.post('keys', { ...wanted, account_id })
      return { ...secretResult(key), undo: () => revokeCreated({ client }, key) }
    },
  }),
  apiCommand({
    name: 'keys mint',
    args: '<id>',
    summary: 'create a short-lived child of a proxy key; it is shown once',
    showsSecret: true,
    notes:
      'A child key can do no more than its parent, counts towards its limit, and ends with it.',
    options: [
      {
        flags: '--ttl <time>',
        summary: 'how long it stays valid (required): 600, 10m; at most 24h',
      },
      ...KEY_OPTIONS.filter(({ flags }) => CHILD_OPTIONS.test(flags)),
      { flags: '--end-user <name>', summary: 'the person it is for; recorded with its requests' },
    ],
    examples: ['tollmark keys mint key_… --ttl 10m --models gpt-5 --end-user user_42'],
    act: async (context) => {
      const { client, values, now } = context
      const ttl = values.seconds('ttl')
      if (ttl === undefined) throw new Misuse('Give its lifetime: --ttl 10m.')
      const end_user = values.text('end-user')
      const wanted = { ...keyFields(values, now), ttl, ...(end_user && { end_user }) }
      const id = await resolveKeyId(context)
      const key = await client.acrossAccounts((query) =>
        client.post(`keys/${id}/children`, wanted, query),
      )
      return { ...secretResult(key), undo: () => revokeCreated({ client }, key) }
    },
  }),
  apiCommand({
    name: 'keys list',
    summary: 'list proxy keys, newest first',
    options: [
      ACCOUNT_OPTION,
      {
        flags: '--status <status>',
        summary: 'only keys with this status',
        choices: ['active', 'disabled', 'expired', 'revoked'],
      },
      { flags: '--search <text>', summary: 'only keys whose name contains this' },
      { flags: '--parent <id>', summary: 'only child keys of this key' },
    ],
    examples: ['tollmark keys list', 'tollmark keys list --status active --json'],
    act: async ({ client, values }) => {
      const account = await accountFilter(client, values)
      const query = {
        account,
        status: values.text('status'),
        search: values.text('search'),
        parent_id: values.text('parent'),
      }
      return listResult('keys', await client.list('keys', query), COLUMNS)
    },
  }),
  apiCommand({
    name: 'keys show',
    args: '<id>',
    summary: 'show a proxy key',
    examples: ['tollmark keys show key_…'],
    act: async (context) => {
      const id = await resolveKeyId(context)
      return recordResult(
        await context.client.acrossAccounts((query) => context.client.get(`keys/${id}`, query)),
      )
    },
  }),
  apiCommand({
    name: 'keys change',
    args: '<id>',
    summary: 'change what a proxy key may do; "any" or "never" removes a restriction',
    options: [
      { flags: '--name <name>', summary: 'its name' },
      ...KEY_OPTIONS,
      {
        flags: '--read-only <yes or no>',
        summary: 'whether it may only generate and read',
        choices: ['yes', 'no'],
      },
    ],
    examples: [
      'tollmark keys change key_… --rpm 120',
      'tollmark keys change key_… --models any --expires never',
    ],
    act: async (context) => {
      const { client, values, now } = context
      const readOnly = values.text('read-only')
      const name = values.text('name')
      const wanted = {
        ...keyFields(values, now),
        ...(name === undefined ? {} : { name }),
        ...(readOnly === undefined ? {} : { read_only: readOnly === 'yes' }),
      }
      if (Object.keys(wanted).length === 0)
        throw new Misuse('Give what to change: --name, --models, --rpm, …')
      const id = await resolveKeyId(context)
      return recordResult(
        await client.acrossAccounts((query) => client.patch(`keys/${id}`, wanted, query)),
      )
    },
  }),
  ...(['disable', 'enable'] as const).map((word) =>
    apiCommand({
      name: `keys ${word}`,
      args: '<id>',
      summary:
        word === 'disable'
          ? 'disable a proxy key until it is enabled again'
          : 'enable a disabled proxy key',
      examples: [`tollmark keys ${word} key_…`],
      act: async (context) => {
        const status = word === 'disable' ? 'disabled' : 'active'
        const id = await resolveKeyId(context)
        return statusResult(
          await context.client.acrossAccounts((query) =>
            context.client.patch(`keys/${id}`, { status }, query),
          ),
        )
      },
    }),
  ),
  apiCommand({
    name: 'keys rotate',
    args: '<id>',
    summary: 'give a proxy key a new secret; the old one stays valid for a day',
    showsSecret: true,
    options: [
      {
        flags: '--grace <time>',
        summary: 'how long the old secret stays valid: 0, 3600, 30m, 24h',
      },
    ],
    examples: ['tollmark keys rotate key_…', 'tollmark keys rotate key_… --grace 0'],
    act: async (context) => {
      const { client, values } = context
      const grace = values.seconds('grace')
      if (grace !== undefined && grace > MAX_GRACE_SECONDS)
        throw new Misuse('--grace must be at most 30d.')
      const id = await resolveKeyId(context)
      const key = await client.acrossAccounts((query) =>
        client.post(
          `keys/${id}/rotate`,
          grace === undefined ? {} : { grace_seconds: grace },
          query,
        ),
      )
      const undo = () =>
        Promise.resolve(`The new secret of ${key.text('id')} is lost. Rotate it again.`)
      return { ...secretResult(key), undo }
    },
  }),
  apiCommand({
    name: 'keys revoke',
    args: '<id>',
    summary: 'revoke a proxy key permanently',
    notes: 'Give the id of the key, or the beginning of its secret: tmk_….',
    examples: ['tollmark keys revoke key_…', 'tollmark keys revoke tmk_…'],
    act: async (context) => {
      const { client } = context
      const id = await resolveKeyId(context)
      await client.acrossAccounts((query) => client.delete(`keys/${id}`, query))
      return statusResult(await client.acrossAccounts((query) => client.get(`keys/${id}`, query)))
    },
  }),
  apiCommand({
    name: 'keys purge',
    args: '<id>',
    summary: 'revoke a proxy key and remove it from every list permanently',
    notes: 'Reports still show it. `keys list --status revoked` lists keys that can be purged.',
    examples: ['tollmark keys purge key_…'],
    act: async (context) => {
      const { client } = context
      const id = await resolveKeyId(context)
      await client.acrossAccounts((query) =>
        client.delete(`keys/${id}`, { ...query, purge: 'true' }),
      )
      return purgeResult('key', decodeURIComponent(id))
    },
  }),
]

/** Characters of a secret that lists show; the rest is not sent. */
const SHOWN_CHARS = 'tmk_'.length + 12

/**
 * The id of the key in the arguments, given by its id or its secret: anyone who revokes a leaked
 * key has only the secret.
 */
async function resolveKeyId({ client, args }: CommandContext): Promise<string> {
  const [given = ''] = args
  if (!given.startsWith('tmk_')) return encodeId(args)
  const search = given.slice(0, SHOWN_CHARS)
  const [key, other] = await client.list(
    'keys',
    { search, account: client.isLocal ? 'all' : undefined },
    2,
  )
  if (key === undefined || other !== undefined)
    throw new SetupError(
      `${other === undefined ? 'No key begins' : 'Several keys begin'} with ${search}. "tollmark keys list" shows them.`,
    )
  return encodeId([key.text('id')])
}

/** The id in the arguments, encoded for a path. */
export function encodeId([id = '']: readonly string[]): string {
  return encodeURIComponent(id)
}

function requireName(values: OptionValues): string {
  const name = values.text('name')?.trim() ?? ''
  if (name === '') throw new Misuse('Give the key a name: --name NAME.')
  return name
}

/** The options as fields of the API; `any`, `none` and `never` become null. */
function keyFields(values: OptionValues, now: number): Record<string, unknown> {
  const isRemoved = (name: string): boolean =>
    ['any', 'none', 'never'].includes(values.text(name) ?? '')
  const fields: [option: string, field: string, read: () => unknown][] = [
    ['models', 'models', () => values.list('models')],
    ['rpm', 'rpm', () => values.number('rpm', 1, MAX_RPM)],
    ['origins', 'allowed_origins', () => values.list('origins')],
    ['providers', 'providers', () => values.list('providers')],
    ['objects', 'objects', () => values.text('objects')],
    ['expires', 'expires_at', () => values.moment('expires', now, 1)],
  ]
  const given = fields.filter(([option]) => values.text(option) !== undefined)
  return Object.fromEntries(
    given.map(([option, field, read]) => [field, isRemoved(option) ? null : read()]),
  )
}

function secretResult(key: Row): CommandResult {
  const models = key.texts('models')?.join(', ') ?? 'all models'
  const limit =
    key.optional('rpm') === null
      ? 'no limit'
      : `${counted(Number(key.text('rpm')), 'request')} a minute`
  return {
    record: key.json,
    lines: [key.text('secret')],
    notes: [`${key.text('id')}: ${models}, ${limit}. The key is not shown again.`],
  }
}

/** The result of purging a record. */
export function purgeResult(object: string, id: string): CommandResult {
  return { record: { object, id, purged: true }, lines: [`${id} is deleted.`] }
}

function statusResult(key: Row): CommandResult {
  return { record: key.json, lines: [`${key.text('id')} is ${key.text('status')}.`] }
}

async function revokeCreated(
  { client }: Pick<CommandContext, 'client'>,
  key: Row,
): Promise<string> {
  await client.acrossAccounts((query) => client.delete(`keys/${encodeId([key.text('id')])}`, query))
  return `The key ${key.text('id')} was created and has been revoked again.`
}
