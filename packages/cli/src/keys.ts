import { provideAccount } from '../../../server/accounts/accounts.ts'
import { FREE } from '../../../server/accounts/plans.ts'
import { SetupError } from '../../../server/errors.ts'
import { newId } from '../../../server/id.ts'
import { normalOrigin } from '../../../server/keys/authenticate.ts'
import { changeKey, createKey, listKeys, MOST_RPM, revokeKey, rotateKey, type Key, type NewKey } from '../../../server/keys/keys.ts'
import { scopeEntryProblem } from '../../../server/keys/scope.ts'
import { ALL, listed, readAccount, readDate, readName, storeCommand, type Outcome } from './store-command.ts'

const USAGE = `usage: tollmark keys create --name NAME [--account ACCOUNT] [--models a,b*] [--rpm N] [--origins ORIGIN,…] [--expires DATE] [--json]
       tollmark keys list [--json]
       tollmark keys disable | enable | revoke ID [--json]
       tollmark keys rotate ID [--grace SECONDS] [--json]

Proxy keys open /proxy. "create" makes one for the first account, or for the account of that name, which is made if it does not
exist. The secret is shown once. "rotate" gives a new one; the old one goes on working for a day unless --grace says otherwise.`

const DAY_S = 86_400

const OPTIONS = { create: ['name', 'account', 'models', 'rpm', 'origins', 'expires'], rotate: ['grace'] } as const

/** `tollmark keys …`. */
export const command = storeCommand('keys', USAGE, OPTIONS, {
  create: async ({ store, now }, { values }) => {
    const wishes = {
      name: readName(values.name, 'key'),
      models: readList(values.models, readModel),
      rpm: readNumber(values.rpm, '--rpm', 1, MOST_RPM),
      allowed_origins: readList(values.origins, readOrigin),
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
})

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
