import { provideAccount } from '../../../server/accounts/accounts.ts'
import { FREE } from '../../../server/accounts/plans.ts'
import { SetupError } from '../../../server/errors.ts'
import { newId } from '../../../server/id.ts'
import { normalOrigin } from '../../../server/keys/authenticate.ts'
import { changeKey, createKey, listKeys, MOST_RPM, revokeKey, rotateKey, type Key, type NewKey } from '../../../server/keys/keys.ts'
import { scopeEntryProblem } from '../../../server/keys/scope.ts'
import { PROVIDERS } from '../../../server/proxy/providers/table.ts'
import { storedProviders } from '../../../server/proxy/providers/stored.ts'
import { ALL, listed, readAccount, readDate, readName, storeCommand, type Context, type Outcome } from './store-command.ts'

const USAGE = `usage: tollmark keys create --name NAME [--account ACCOUNT] [--models a,b*] [--rpm N] [--origins ORIGIN,…] [--expires DATE]
                            [--providers a,b] [--objects own|upstream] [--read-only] [--json]
       tollmark keys list [--json]
       tollmark keys disable | enable | revoke ID [--json]
       tollmark keys rotate ID [--grace SECONDS] [--json]

Proxy keys open /proxy. "create" makes one for the first account, or for the account of that name, which is made if it does not
exist. With "--objects own" (the default) it names only stored objects (files, responses, batches, …) that it made; with "upstream"
all that the account with the provider holds. "--read-only" lets it generate and read, and change nothing. The secret is shown once. "rotate" gives a new one; the old one goes on working for a day unless --grace says otherwise.`

const DAY_S = 86_400

const OPTIONS = { create: ['name', 'account', 'models', 'rpm', 'origins', 'expires', 'providers', 'objects', 'read-only'], rotate: ['grace'] } as const
const FLAGS = new Set(['read-only'])

/** `tollmark keys …`. */
export const command = storeCommand('keys', USAGE, OPTIONS, {
  create: async (context, { values }) => {
    const { store, now } = context
    const wishes = {
      name: readName(values.name, 'key'),
      models: readList(values.models, readModel),
      rpm: readNumber(values.rpm, '--rpm', 1, MOST_RPM),
      allowed_origins: readList(values.origins, readOrigin),
      objects: readObjects(values.objects),
      providers: await readProviders(values.providers, context),
      read_only: values['read-only'] === 'true',
      expires_at: readDate(values.expires, now),
    }
    const account = await store.run(provideAccount, { name: readAccount(values.account), plan: FREE, newId: newId('acc', now), now })
    const key = await createKey(store, account.id, wishes, now)
    return { record: key, lines: shownOnce(key) }
  },
  list: async ({ store, now }) => listed('keys', (await listKeys(store, { account: null }, ALL, undefined, now)).keys, lineOf),
  disable: async ({ store, now }, { id }) => changed(await changeKey(store, id(), null, { disabled: true }, now)),
  enable: async ({ store, now }, { id }) => changed(await changeKey(store, id(), null, { disabled: false }, now)),
  revoke: async ({ store, now }, { id }) => changed(await revokeKey(store, id(), null, now)),
  rotate: async ({ store, now }, { values, id }) => {
    const grace = readNumber(values.grace, '--grace', 0, 30 * DAY_S) ?? DAY_S
    const key = await rotateKey(store, id(), null, grace * 1000, now)
    return { record: key, lines: shownOnce(key) }
  },
}, FLAGS)

function shownOnce({ secret, id, models, rpm }: NewKey): string[] {
  return [secret, '', `${id}, ${models === null ? 'every model' : models.join(', ')}, ${rpm === null ? 'no limit' : `${rpm} requests a minute`}. It is not shown again.`]
}

function changed(key: Key): Outcome {
  return { record: key, lines: [`${key.id} is ${key.status}.`] }
}

function lineOf({ id, name, prefix, models, rpm, status, last_used_at }: Key): string {
  return [id, status.padEnd(8), prefix, models?.join(',') ?? 'every model', rpm === null ? 'no limit' : `${rpm}/min`, last_used_at?.slice(0, 16) ?? 'never used', name].join('  ')
}

function readList(text: string | undefined, read: (entry: string) => string): string[] | null {
  return text?.split(',').map((entry) => read(entry.trim())) ?? null
}

function readModel(entry: string): string {
  const problem = scopeEntryProblem(entry)
  if (problem !== null) throw new SetupError(problem)
  return entry
}

function readObjects(text = 'own'): Key['objects'] {
  if (text !== 'own' && text !== 'upstream') throw new SetupError('--objects must be own or upstream.')
  return text
}

/** Ids of providers, each of which the server knows. */
async function readProviders(text: string | undefined, { store, config }: Context): Promise<string[] | null> {
  const ids = readList(text, (id) => id)
  const known = [...PROVIDERS, ...config.customProviders, ...(await storedProviders(store))].map(({ id }) => id)
  const unknown = ids?.find((id) => !known.includes(id))
  if (unknown !== undefined) throw new SetupError(`${JSON.stringify(unknown)} is no provider here. There are ${[...new Set(known)].join(', ')}.`)
  return ids
}

function readOrigin(text: string): string {
  const origin = normalOrigin(text)
  if (origin === null) throw new SetupError(`"${text}" is not an origin such as https://app.example.com.`)
  return origin
}

function readNumber(text: string | undefined, option: string, least: number, most: number): number | null {
  if (text === undefined) return null
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most)) throw new SetupError(`${option} must be a whole number from ${least} to ${most}.`)
  return number
}
