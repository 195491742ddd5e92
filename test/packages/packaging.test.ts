// The packages as they are published: what is in the tarballs, that they install into an empty
// project, run and type-check there, and how small they are.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { CLIENT_PACKAGES } from '../../scripts/build-packages.ts'
import { startProxied } from './proxied.ts'
import { providers } from './responses.ts'
import { builtPackages, link, MAJORS, makeProject, ROOT } from './project.ts'
import { measure } from './sizes.ts'

const run = promisify(execFile)
const bin = (path: string): string => join(ROOT, 'node_modules', path)
/**
 * The npm that belongs to the Node that started everything, with nothing of this run's settings.
 */
const npm = async (args: string[], cwd: string): Promise<string> =>
  (await run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd })).stdout

let tarballs: string[] = []
const packed = mkdtempSync(join(tmpdir(), 'tollmark-packed-'))

before(async () => {
  const built = await builtPackages()
  tarballs = await Promise.all(
    CLIENT_PACKAGES.map(async ({ name }) => {
      const said = await npm(['pack', '--silent', '--pack-destination', packed], join(built, name))
      return join(packed, said.trim().split('\n').at(-1)!)
    }),
  )
})
after(() => rmSync(packed, { recursive: true, force: true }))

test('a tarball has the needed files and no others', async () => {
  for (const tarball of tarballs) {
    const { stdout } = await run('tar', ['-tzf', tarball])
    const files = stdout
      .trim()
      .split('\n')
      .map((file) => file.replace('package/', ''))
    for (const wanted of [
      'package.json',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/cjs/index.js',
      'dist/cjs/index.d.ts',
    ])
      assert.ok(files.includes(wanted), `${tarball}: ${wanted}`)
    assert.deepEqual(
      files.filter(
        (file) =>
          !/^(package\.json|README\.md|CHANGELOG\.md|LICENSE|dist\/cjs\/package\.json|dist\/(cjs\/)?[a-z-]+(\.d\.ts|\.js|\.js\.map))$/.test(
            file,
          ),
      ),
      [],
    )
  }
})

test('npm pack in the folder of a package makes the same tarball, and leaves the folder as it was', async (t) => {
  // A copy: whatever else runs here resolves the packages by the package.json that packing changes
  // for a moment.
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'tollmark-pack-')))
  t.after(() => rmSync(copy, { recursive: true, force: true }))
  for (const file of [
    'scripts',
    'LICENSE',
    'tsconfig.json',
    'package.json',
    'package-lock.json',
    'packages/tsconfig.json',
  ])
    cpSync(join(ROOT, file), join(copy, file), { recursive: true })
  for (const { folder } of CLIENT_PACKAGES)
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true })
  linkInstalled(copy)
  // One that depends on none of the others, and one that does: each costs 2 s of CPU.
  for (const [index, { folder }] of CLIENT_PACKAGES.slice(0, 2).entries()) {
    const before = contentOf(join(copy, folder))
    const file = (await npm(['pack', '--silent'], join(copy, folder))).trim().split('\n').at(-1)
    const unpacked = await Promise.all(
      [join(copy, folder, file!), tarballs[index]!].map(async (tarball, n) => {
        const into = join(copy, `unpacked-${index}-${n}`)
        mkdirSync(into)
        await run('tar', ['-xzf', tarball, '-C', into])
        return contentOf(into)
      }),
    )
    assert.deepEqual(unpacked[0], unpacked[1])
    rmSync(join(copy, folder, file!))
    assert.deepEqual(contentOf(join(copy, folder)), before)
  }
})

test('publint finds nothing in strict mode', async () => {
  for (const tarball of tarballs) {
    const { messages } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
      strict: true,
    })
    assert.deepEqual(messages, [], tarball)
  }
})

test('are-the-types-wrong finds no problem, imported or required', async () => {
  for (const tarball of tarballs) {
    const { stdout } = await run(process.execPath, [
      bin('@arethetypeswrong/cli/dist/index.js'),
      tarball,
      '--profile',
      'node16',
      '--format',
      'json',
    ])
    const { analysis } = JSON.parse(stdout) as {
      analysis: { problems: { kind: string; resolutionKind?: string }[] }
    }
    assert.deepEqual(
      analysis.problems.filter(({ resolutionKind }) => resolutionKind !== 'node10'),
      [],
    )
  }
})

test("every package's manifest is complete", async () => {
  for (const { name } of CLIENT_PACKAGES) {
    const {
      version,
      type,
      license,
      sideEffects,
      engines,
      dependencies = {},
      peerDependencies = {},
    } = readPackage(join(await builtPackages(), name))
    assert.deepEqual(
      [type, license, sideEffects, engines],
      ['module', 'MIT', false, { node: '>=20' }],
    )
    assert.match(
      readFileSync(join(await builtPackages(), name, 'CHANGELOG.md'), 'utf8'),
      new RegExp(`^## ${version}`, 'm'),
    )
    assert.deepEqual(
      dependencies,
      name === '@proxy-sdk/core' ? {} : { '@proxy-sdk/core': `^${version}` },
    )
    // Both majors that the other tests run are within the range.
    const peers = {
      '@proxy-sdk/core': {},
      '@proxy-sdk/genai': { '@ai-sdk/google': '^3.0.0 || ^4.0.0' },
      '@proxy-sdk/genai-express': { '@ai-sdk/google-vertex': '^4.0.0 || ^5.0.0' },
    }
    assert.deepEqual(peerDependencies, peers[name as keyof typeof peers])
  }
})

test('each package runs and type-checks when required from CommonJS with AI SDK 6', async (t) => {
  const folder = emptyProject(t, 'commonjs')
  cpSync(await builtPackages(), join(folder, 'node_modules'), { recursive: true })
  link(folder, 6)
  symlinkSync(bin('@types'), join(folder, 'node_modules', '@types'))
  cpSync(join(import.meta.dirname, 'types', 'usage.txt'), join(folder, 'usage.ts'))
  await check(folder, {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'es2023',
    module: 'node16',
    types: ['node'],
    lib: ['es2023'],
  })

  const proxied = await startProxied(t, providers())
  const required = PROGRAM.replaceAll(/import (\{.*\}) from ('.*')/g, 'const $1 = require($2)')
  writeFileSync(join(folder, 'run.js'), `(async () => {${required}})()`)
  const env = {
    NEXT_PUBLIC_AI_PROXY_KEY: await proxied.key(),
    NEXT_PUBLIC_AI_PROXY_URL: proxied.proxyUrl,
  }
  // Node 22 and newer can require ESM: it must not be what makes this work.
  const { stdout } = await run(process.execPath, ['--no-experimental-require-module', 'run.js'], {
    cwd: folder,
    env,
  })
  assert.equal(stdout, 'Hello from Gemini\nHello from Gemini\nHello\n')
})

for (const major of MAJORS) {
  test(`installed from its tarball into an empty project with AI SDK ${major}, each package runs and type-checks`, async (t) => {
    const folder = emptyProject(t)
    await npm(['install', '--offline', '--legacy-peer-deps', ...tarballs], folder)
    assert.deepEqual(readdirSync(join(folder, 'node_modules', '@proxy-sdk')).sort(), [
      'core',
      'genai',
      'genai-express',
    ])
    link(folder, major)
    symlinkSync(bin('@types'), join(folder, 'node_modules', '@types'))

    cpSync(join(import.meta.dirname, 'types', 'usage.txt'), join(folder, 'usage.ts'))
    const strict = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      exactOptionalPropertyTypes: true,
      noUnusedLocals: true,
      target: 'es2024',
    }
    await check(folder, { ...strict, module: 'nodenext', types: ['node'], lib: ['es2024'] })
    await check(folder, {
      ...strict,
      module: 'esnext',
      moduleResolution: 'bundler',
      types: [],
      lib: ['es2024', 'dom', 'dom.iterable'],
    })

    const proxied = await startProxied(t, providers())
    writeFileSync(join(folder, 'run.js'), PROGRAM)
    const { stdout } = await run(process.execPath, ['run.js'], {
      cwd: folder,
      env: {
        NEXT_PUBLIC_AI_PROXY_KEY: await proxied.key(),
        NEXT_PUBLIC_AI_PROXY_URL: proxied.proxyUrl,
      },
    })
    assert.equal(stdout, 'Hello from Gemini\nHello from Gemini\nHello\n')
  })

  test(`the sources type-check with AI SDK ${major}`, async (t) => {
    const folder = await makeProject(t, major)
    for (const { folder: from } of CLIENT_PACKAGES)
      cpSync(join(ROOT, from, 'src'), join(folder, from), { recursive: true })
    await check(folder, { extends: join(ROOT, 'packages', 'tsconfig.json') }, ['packages'])
  })
}

test('the first example of each README runs as it stands, and the one without a network', async (t) => {
  const folder = await makeProject(t, 7)
  const proxied = await startProxied(t, providers())
  const env = { AI_PROXY_KEY: await proxied.key() }
  for (const { name } of CLIENT_PACKAGES) {
    const [, program = ''] =
      /```js\n(.*?)```/s.exec(
        readFileSync(join(folder, 'node_modules', name, 'README.md'), 'utf8'),
      ) ?? []
    assert.ok(program.includes("'http://localhost:8484'"), name)
    writeFileSync(
      join(folder, 'readme.mjs'),
      program.replace('http://localhost:8484', proxied.proxyUrl),
    )
    const { stdout } = await run(process.execPath, ['readme.mjs'], { cwd: folder, env })
    assert.match(stdout, /^Hello from /)
  }
  const core = readFileSync(join(folder, 'node_modules', '@proxy-sdk/core', 'README.md'), 'utf8')
  const [, offline = ''] =
    /## Tests without a network\n.*?```js\n(.*?)```/s.exec(core) ?? assert.fail('no example')
  writeFileSync(
    join(folder, 'offline.mjs'),
    `import { createOpenAI } from '@ai-sdk/openai'
    import { createProxyFetch, PROXY_MANAGED } from '@proxy-sdk/core'
    import { generateText } from 'ai'\n${offline}\nconsole.log(text)`,
  )
  const { stdout } = await run(process.execPath, ['offline.mjs'], { cwd: folder })
  assert.equal(stdout, 'Hello\n')
})

test('sizes: core at most 2.25 KB, each wrapper at most 1 KB beside core and its peer', async (t) => {
  for (const { name, gzipped, most } of await measure(await makeProject(t, 7)))
    assert.ok(gzipped > 100 && gzipped <= most, `${name}: ${gzipped} bytes`)
})

/** An empty project outside the repository, so that nothing is found that was not installed. */
function emptyProject(t: TestContext, type = 'module'): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollmark-empty-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type }),
  )
  return folder
}

const PROGRAM = `
import { generateText } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'
import { createManagedFetch, PROXY_MANAGED } from '@proxy-sdk/core'
import { createProxyGenai } from '@proxy-sdk/genai'
import { createProxyExpress } from '@proxy-sdk/genai-express'
const models = [createProxyGenai()('gemini-2.5-flash'), createProxyExpress()('gemini-2.5-flash'), createOpenAI({ apiKey: PROXY_MANAGED, fetch: createManagedFetch() }).chat('gpt-5')]
for (const model of models) console.log((await generateText({ model, prompt: 'Hello' })).text)
`

/** Runs the compiler; an error it finds is the test's. */
async function check(
  folder: string,
  { extends: base, ...compilerOptions }: Record<string, unknown>,
  include = ['usage.ts'],
): Promise<void> {
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ ...(base === undefined ? {} : { extends: base }), compilerOptions, include }),
  )
  const said = await run(process.execPath, [bin('typescript/bin/tsc'), '-p', folder]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  assert.equal(said, '')
}

/** Every file below a folder, with what is in it. */
function contentOf(folder: string): Record<string, string> {
  const files = globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return Object.fromEntries(
    files.map((file) => [relative(folder, file), readFileSync(file, 'utf8')]),
  )
}

/** Puts what is installed here into a copy of the repository, and tells its launcher so. */
function linkInstalled(copy: string): void {
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name))
  const stamp = join(copy, 'node_modules', '.tollmark-lock')
  rmSync(stamp, { force: true })
  writeFileSync(
    stamp,
    `${createHash('sha256')
      .update(readFileSync(join(ROOT, 'package-lock.json')))
      .digest('hex')} dev`,
  )
}

interface PackageJson {
  version: string
  type: string
  license: string
  sideEffects: boolean
  engines: Record<string, string>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

function readPackage(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson
}
