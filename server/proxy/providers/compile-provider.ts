// Compiles a provider's row at the start: its endpoints, the forms of its ids, its closed paths.
import { CLOUD_RESOURCE, operatedKeys } from './cloud-resources.ts'
import { compileEndpoints } from './endpoint-table.ts'
import { idNamesOf } from './id-names.ts'
import { compileIds } from './ids.ts'
import { withUnknownForms } from './unknown-ids.ts'
import type { Provider, ProviderRow, Site } from './provider.ts'
import type { IdForms } from './id-spelling.ts'

/** Rows are compiled once per process, however often the table is built. */
const providers = new WeakMap<ProviderRow | Site, Provider>()

/** A provider at the hosts of its row, or at those of one of its sites. */
export function compileProvider(row: ProviderRow, site?: Site): Provider {
  const known = providers.get(site ?? row)
  if (known) return known
  const provider = compile(row, site)
  providers.set(site ?? row, provider)
  return provider
}

function compile(whole: ProviderRow, site?: Site): Provider {
  const { sites = [], ...main } = whole
  const row = { ...main, ...site }
  const ids = compileIds(row.spelling, [
    ...main.hosts,
    ...sites.flatMap(({ hosts, anonymous }) => (anonymous === true ? [] : hosts)),
  ])
  return compileRow(row, row.anyIds === true ? withUnknownForms(ids) : ids)
}

const compileRow = (whole: Omit<ProviderRow, 'sites'>, ids: IdForms): Provider => {
  const { operated, ...row } = whole
  const endpoints = compiled(whole)
  return {
    ...row,
    ...(operated === undefined ? {} : { operated: operatedKeys(operated) }),
    endpoints,
    minting: row.minting ?? [],
    admin: row.admin ?? [],
    modelNames: row.modelNames ?? ((name) => [name]),
    publicObjects: { ...PUBLIC, ...row.publicObjects },
    ids,
    unknownIds: withUnknownForms(ids),
    idNames: idNamesOf(row.endpoints, endpoints.kinds),
  }
}

/**
 * Public objects in OpenAI's dialect: https://platform.openai.com/docs/guides/text-to-speech,
 * …/guides/tools-skills.
 */
const PUBLIC: Readonly<Record<string, RegExp>> = { voice: /^(?!voice_)/, skill: /^(?!skill_)/ }

/** A row that an operator has changed has the endpoints of the built-in one. */
const tables = new WeakMap<readonly unknown[], Provider['endpoints']>()
function compiled(row: Omit<ProviderRow, 'sites'>): Provider['endpoints'] {
  let table = tables.get(row.endpoints)
  if (!table)
    tables.set(
      row.endpoints,
      (table = compileEndpoints(row.endpoints, [
        ...(row.spelling?.models?.kinds ?? []),
        ...(row.spelling?.clouds === true ? [CLOUD_RESOURCE] : []),
        ...(row.operated === undefined ? [] : operatedKeys(row.operated).kinds),
      ])),
    )
  return table
}
