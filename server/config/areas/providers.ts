// The settings that each provider has: its credential, and where it is dialled.
import { mapValues } from '../map-values.ts'
import { PROVIDER_CREDENTIALS } from '../provider-credentials.ts'
import { credential, dialled, setting } from '../setting-kinds.ts'

/** The variable by which a provider is dialled elsewhere. */
export const upstreamVariable = (id: string): string =>
  `TOLLMARK_UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`

/** TABLE of the credentials of providers, by provider. */
export const credentials = mapValues(PROVIDER_CREDENTIALS, (name) =>
  setting(name, credential, null, 'The credential for this provider.', { secret: true }),
)

/** TABLE of the addresses where providers are dialled instead of their own, by provider. */
export const upstreams = mapValues(PROVIDER_CREDENTIALS, (_, id) =>
  // What is wrong with one may be the password in it.
  setting(
    upstreamVariable(id),
    dialled,
    null,
    "Connect to this address instead of the provider's own, which callers keep using.",
    { secret: true },
  ),
)
