// How much a bundle grows by each client package: bundled, minified, gzipped. What another row
// measures, and the peer, is left outside. `npm run bench -- sizes` prints the table.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

export interface Size {
  name: string
  gzipped: number
  /** Bytes that it may have. */
  most: number
}

/** TABLE of the packages: what an app imports, and what of it is not the package's. */
const PACKAGES: { name: string; uses: string; most: number; outside: string[] }[] = [
  {
    name: '@proxy-sdk/core',
    uses: 'createProxyFetch, createManagedFetch, PROXY_MANAGED, DEFAULT_PROXY_URL',
    most: 2_304,
    outside: [],
  },
  {
    name: '@proxy-sdk/genai',
    uses: 'createProxyGenai',
    most: 1_024,
    outside: ['@proxy-sdk/core', '@ai-sdk/google'],
  },
  {
    name: '@proxy-sdk/genai-express',
    uses: 'createProxyExpress',
    most: 1_024,
    outside: ['@proxy-sdk/core', '@ai-sdk/google-vertex/edge'],
  },
]

/** Measures the packages that are installed in a project. */
export async function measure(project: string): Promise<Size[]> {
  return Promise.all(
    PACKAGES.map(async ({ name, uses, most, outside }) => {
      const entry = join(project, `entry-${name.replaceAll(/\W/g, '')}.js`)
      const bundle = await rolldown({
        input: entry,
        external: outside,
        plugins: [
          {
            name: 'entry',
            resolveId: (id) => (id === entry ? id : null),
            load: (id) => (id === entry ? `export { ${uses} } from '${name}'` : null),
          },
        ],
      })
      const { output } = await bundle.generate({ format: 'esm', minify: true })
      await bundle.close()
      return { name, gzipped: gzipSync(output[0].code, { level: 9 }).length, most }
    }),
  )
}
