import { PROXY_MANAGED } from './credentials.ts'
import { createManagedFetch } from './managed-fetch.ts'
import type { ManagedFetchConfig } from './managed-fetch.ts'
import type { Fetch } from './proxy-fetch.ts'

/** TABLE of the methods by which an AI SDK provider returns a model for an id. */
const KINDS = [
  'languageModel',
  'embeddingModel',
  'imageModel',
  'speechModel',
  'transcriptionModel',
  'rerankingModel',
  'videoModel',
] as const
type Kind = (typeof KINDS)[number]

/** Creates a provider, like `createOpenAI` of `@ai-sdk/openai`. */
export type ProviderFactory = (settings: { apiKey: string; fetch: Fetch }) => object
type Factories = Readonly<Record<string, ProviderFactory>>

/** Returns one kind of model of a provider, by its id. */
type Maker<Factory extends ProviderFactory, K extends Kind> =
  Required<ReturnType<Factory>> extends { [k in K]: infer Make } ? Make : never
type IdOf<Make> = Make extends (id: infer Id extends string, ...more: never[]) => unknown
  ? Id
  : never
type ModelOf<Make> = Make extends (...more: never[]) => infer Model ? Model : never

/** Ids of one kind of model: `openai/gpt-5`. */
type RegistryId<F extends Factories, K extends Kind> = {
  [Name in keyof F & string]: `${Name}/${IdOf<Maker<F[Name], K>>}`
}[keyof F & string]
type RegistryModel<F extends Factories, K extends Kind> = {
  [Name in keyof F]: ModelOf<Maker<F[Name], K>>
}[keyof F]
type Version<F extends Factories> =
  ReturnType<F[keyof F]> extends { specificationVersion: infer V } ? V : never

/** An AI SDK provider whose model ids begin with the name of a provider. */
export type ProxyRegistry<F extends Factories> = { readonly specificationVersion: Version<F> } & {
  readonly [K in Kind]: (id: RegistryId<F, K>) => RegistryModel<F, K>
}

/** Options of `createProxyRegistry`. */
export interface ProxyRegistryConfig<F extends Factories> extends ManagedFetchConfig {
  /**
   * The providers, by the name with which ids begin: `{ openai: createOpenAI, anthropic:
   * createAnthropic }`.
   */
  providers: F
}

/**
 * Models of several providers by one string, `openai/gpt-5`; all their requests go through the
 * proxy. It is itself an AI SDK provider: as `globalThis.AI_SDK_DEFAULT_PROVIDER`, it makes
 * `generateText({ model: 'openai/gpt-5' })` work. Key and address are those of
 * `createManagedFetch`.
 *
 * Requesting a model throws an Error if the registry has no such provider, or the provider has no
 * such kind of model.
 */
export function createProxyRegistry<const F extends Factories>({
  providers,
  ...config
}: ProxyRegistryConfig<F>): ProxyRegistry<F> {
  const fetch = createManagedFetch(config)
  const made = new Map(
    Object.entries(providers).map(([name, create]) => [
      name,
      create({ apiKey: PROXY_MANAGED, fetch }),
    ]),
  )
  const modelOf = (kind: Kind, id: string): unknown => {
    const [name = '', ...rest] = id.split('/')
    const provider = made.get(name)
    if (provider === undefined)
      throw new Error(
        `There is no provider "${name}" for the model "${id}". The registry has ${[...made.keys()].join(', ')}.`,
      )
    const make: unknown = Reflect.get(provider, kind)
    if (typeof make !== 'function') throw new Error(`The provider "${name}" has no ${kind}.`)
    return Reflect.apply(make, provider, [rest.join('/')])
  }
  const [first] = made.values()
  const specificationVersion: unknown =
    first === undefined ? undefined : Reflect.get(first, 'specificationVersion')
  const makers = KINDS.map((kind) => [kind, (id: string) => modelOf(kind, id)] as const)
  // Its methods are those of the type, which is derived from the same table.
  return { specificationVersion, ...Object.fromEntries(makers) } as unknown as ProxyRegistry<F>
}
