// The settings of each provider: its credential, and the address to dial.
import { mapValues } from '../map-values.ts'
import { PROVIDER_CREDENTIALS } from '../provider-credentials.ts'
import { credential, dialled, setting } from '../setting-kinds.ts'

/** The variable that overrides a provider's address. */
export const upstreamVariable = (id: string): string =>
  `TOLLMARK_UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`

/** TABLE of the credentials of providers, by provider. */
export const credentials = mapValues(PROVIDER_CREDENTIALS, (name, id) =>
  setting(name, credential, null, `The credential for the provider ${id}.`, { secret: true }),
)

/** TABLE of the addresses that override the providers' own, by provider. */
export const upstreams = mapValues(PROVIDER_CREDENTIALS, (_, id) =>
  // A rejected value may contain a password.
  setting(
    upstreamVariable(id),
    dialled,
    null,
    `Connect to this address instead of that of the provider ${id}, which callers keep using.`,
    { secret: true },
  ),
)
