import { FREE, readPlans } from '../../../server/accounts/plans.ts'
import { SCOPES, createToken, listTokens, revokeToken, type Scope, type Token } from '../../../server/accounts/tokens.ts'
import { SetupError } from '../../../server/errors.ts'
import { ALL, listed, readAccount, readDate, readName, storeCommand } from './store-command.ts'

const USAGE = `usage: tollmark tokens create --name NAME [--account ACCOUNT] [--plan PLAN] [--scopes convert,manage] [--expires DATE] [--json]
       tollmark tokens list [--json]
       tollmark tokens revoke ID [--json]

API tokens open the conversion and the management API. "create" makes one for the first account, or for the account of that
name, which is made with that plan if it does not exist. The token is shown once.`

/** `tollmark tokens …`. */
export const command = storeCommand('tokens', USAGE, { create: ['name', 'account', 'plan', 'scopes', 'expires'] }, {
  create: async ({ store, config, now }, { values }) => {
    const plans = readPlans(config.accounts)
    const plan = values.plan ?? FREE
    const name = readName(values.name, 'token')
    if (!plans.has(plan)) throw new SetupError(`There is no plan "${plan}". The plans are ${plans.all.map(({ name }) => name).join(', ')}; TOLLMARK_PLANS adds others.`)
    const wanted = { name, scopes: readScopes(values.scopes), expiresAt: readDate(values.expires, now) }
    const { token, account } = await createToken(store, { name: readAccount(values.account), plan }, wanted, now)
    if (values.plan !== undefined && account.plan !== plan) {
      process.stderr.write(`tollmark: the account "${account.name}" exists and stays on its plan "${account.plan}".\n`)
    }
    return { record: token, lines: [token.secret, '', `${token.id}, account "${account.name}", ${token.scopes.join(', ')}. It is not shown again.`] }
  },
  list: async ({ store, now }) => listed('tokens', await listTokens(store, null, ALL, undefined, now), lineOf),
  revoke: async ({ store, now }, { id }) => {
    const token = await revokeToken(store, id(), null, now)
    return { record: token, lines: [`${token.id} is revoked.`] }
  },
})

function lineOf({ id, name, prefix, scopes, status, last_used_at }: Token): string {
  return [id, status.padEnd(7), prefix, scopes.join(',').padEnd(14), last_used_at?.slice(0, 16) ?? 'never used', name].join('  ')
}

function readScopes(list = 'convert'): Scope[] {
  const words = [...new Set(list.split(',').map((word) => word.trim()))]
  const wrong = words.find((word) => !Object.hasOwn(SCOPES, word))
  if (wrong !== undefined) throw new SetupError(`There is no scope "${wrong}". The scopes are ${Object.keys(SCOPES).join(', ')}.`)
  return words as Scope[]
}
