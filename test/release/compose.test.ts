// What is deployed without us watching: compose.yaml, the Dockerfile and the balancers' files are
// held against the sources, because nobody has a container engine where the tests run.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import * as z from 'zod'
import { PROVIDER_CREDENTIALS } from '../../server/config/provider-credentials.ts'
import { readConfig, settings } from '../../server/config/settings.ts'

const root = join(import.meta.dirname, '..', '..')
const settingNames = settings().flatMap(([, rows]) => rows.map(({ name }) => name))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      environment: z.record(z.string(), z.string()).default({}),
      volumes: z.array(z.string()).default([]),
      depends_on: z.record(z.string(), z.unknown()).default({}),
      build: z.string().optional(),
      read_only: z.boolean().default(false),
      mem_limit: z.string().optional(),
      pids_limit: z.number().optional(),
      logging: z.object({
        driver: z.literal('local'),
        options: z.object({ 'max-size': z.string(), 'max-file': z.string() }),
      }),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
})
const compose = Compose.parse(parse(read('compose.yaml'), { merge: true }))
const services = Object.entries(compose.services)

/**
 * TABLE of other people's images: the variables that are theirs, or that a file of ours for them
 * reads.
 */
const THEIRS: readonly [image: RegExp, variables: string[]][] = [
  [/^caddy:/, ['SITE_ADDRESS']],
  [/^postgres:/, ['POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD']],
  [/^chrislusf\/seaweedfs:/, ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']],
]
const ours = services.filter(([, { image }]) => image === 'tollmark')

/**
 * What a variable becomes where everything that compose.yaml asks for is given, and nothing else.
 */
function filled(value: string): string {
  return value.replaceAll(
    /\$\{(\w+)(?::(?:-([^}]*)|\?[^}]*))?\}/g,
    (_, name: string, standard: string | undefined) =>
      standard ??
      (name === 'TOLLMARK_MASTER_KEY' ? Buffer.alloc(32, 1).toString('base64') : 'secret'),
  )
}

test('two web processes and two workers run from one image built here', () => {
  const roles = ours.map(([, { environment }]) => environment['TOLLMARK_ROLE']).sort()
  assert.deepEqual(roles, ['web', 'web', 'worker', 'worker'])
  for (const [name, { build, read_only }] of ours)
    assert.deepEqual([build, read_only], ['.', true], name)
})

test("the S3 server accepts our processes' keys at their port", () => {
  const [name, files] = services.find(([one]) => one === 'files') ?? assert.fail()
  for (const [, { environment }] of ours) {
    assert.equal(environment['S3_ENDPOINT'], `http://${name}:8333`)
    assert.equal(environment['S3_ACCESS_KEY_ID'], files.environment['AWS_ACCESS_KEY_ID'])
    assert.equal(
      filled(environment['S3_SECRET_ACCESS_KEY'] ?? ''),
      filled(files.environment['AWS_SECRET_ACCESS_KEY'] ?? '-'),
    )
  }
})

test('logs and processes have limits', () => {
  for (const [name, { logging }] of services)
    assert.deepEqual(logging.options, { 'max-size': '10m', 'max-file': '5' }, name)
  for (const [name, { mem_limit, pids_limit }] of ours)
    assert.ok(mem_limit !== undefined && pids_limit !== undefined, name)
})

test('every variable is a valid setting of ours or of the image', () => {
  const known = new Set(settingNames)
  for (const [name, { image, environment }] of services) {
    const theirs = THEIRS.find(([form]) => form.test(image))?.[1]
    assert.ok(
      theirs !== undefined || image === 'tollmark',
      `${name}: the variables of ${image} are not known`,
    )
    for (const variable of Object.keys(environment))
      assert.ok(theirs?.includes(variable) ?? known.has(variable), `${name}: ${variable}`)
    if (theirs === undefined)
      readConfig(
        Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, filled(value)])),
      )
  }
})

/**
 * TABLE of the settings that a worker reads, besides those that compose.yaml gives a value of its
 * own.
 */
const OF_WORKERS = [
  'LOG_LEVEL',
  'TOLLMARK_SHUTDOWN_TIMEOUT',
  'S3_REGION',
  'TOLLMARK_CONVERSIONS',
  'TOLLMARK_CONVERSION_DEADLINE',
  'TOLLMARK_CONVERSION_HEAP',
  'TOLLMARK_RESULT_RETENTION',
  ...settings().flatMap(([area, rows]) => (area === 'watch' ? rows.map(({ name }) => name) : [])),
]

test('settings in .env reach the workers; provider keys and the master key do not', () => {
  const workers = ours.filter(([, { environment }]) => environment['TOLLMARK_ROLE'] === 'worker')
  for (const [name, { environment }] of workers) {
    for (const setting of OF_WORKERS)
      assert.equal(environment[setting], `\${${setting}:-}`, `${name}: ${setting}`)
    assert.deepEqual(
      Object.keys(environment).filter((variable) =>
        [...Object.values(PROVIDER_CREDENTIALS), 'TOLLMARK_MASTER_KEY'].includes(variable),
      ),
      [],
    )
  }
})

test('secrets are required and have no default', () => {
  for (const [name, { environment }] of services) {
    for (const [variable, value] of Object.entries(environment)) {
      if (/PASSWORD|SECRET|MASTER_KEY|DATABASE_URL/.test(variable))
        assert.match(value, /\$\{\w+(:\?[^}]+)?\}/, `${name}: ${variable}`)
    }
  }
})

test('every file, volume and service that is named exists', () => {
  const named = services.flatMap(([, { volumes }]) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  )
  for (const source of named)
    assert.ok(
      source.startsWith('./') ? existsSync(join(root, source)) : source in compose.volumes,
      source,
    )
  assert.deepEqual(
    Object.keys(compose.volumes).filter((volume) => !named.includes(volume)),
    [],
  )
  for (const [, { depends_on }] of services)
    for (const name of Object.keys(depends_on)) assert.ok(name in compose.services, name)
})

test('the balancer lists exactly the web processes', () => {
  const targets = /reverse_proxy ([^{]+)\{/.exec(read('deploy/Caddyfile'))?.[1]?.trim().split(/\s+/)
  const web = ours
    .filter(([, { environment }]) => environment['TOLLMARK_ROLE'] === 'web')
    .map(([name, { environment }]) => `${name}:${environment['PORT']}`)
  assert.deepEqual(targets, web)
})

/** The instructions of the Dockerfile, one a line. */
const instructions = read('Dockerfile')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line))
const argsOf = (instruction: string): string[] =>
  instructions
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1).trim())

test('files that the image copies exist and are not ignored', () => {
  const allowed = new Set(
    read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1)),
  )
  const sources = argsOf('COPY')
    .filter((args) => !args.startsWith('--from='))
    .flatMap((args) => args.split(/\s+/).slice(0, -1))
  assert.ok(sources.length > 8)
  for (const source of sources) {
    assert.ok(existsSync(join(root, source)), source)
    assert.ok(allowed.has(source.split('/')[0] ?? ''), source)
  }
})

test('the image has every workspace that the lockfile names', () => {
  const workspaces = Object.keys(
    z
      .object({ packages: z.record(z.string(), z.unknown()) })
      .parse(JSON.parse(read('package-lock.json'))).packages,
  ).filter((path) => path !== '' && !path.includes('node_modules/'))
  for (const path of workspaces)
    assert.ok(argsOf('COPY').includes(`${path}/package.json ${path}/`), path)
})

test("the image has every package, including those in a workspace's own folder", () => {
  const lock = z
    .object({ packages: z.record(z.string(), z.object({ dev: z.boolean().default(false) })) })
    .parse(JSON.parse(read('package-lock.json')))
  const installed = Object.entries(lock.packages)
    .filter(([path, { dev }]) => !dev && path.includes('node_modules/'))
    .map(([path]) => path)
  const copied = argsOf('COPY')
    .filter((args) => args.startsWith('--from=packages '))
    .map((args) => args.split(/\s+/)[1] ?? '')
  for (const path of installed)
    assert.ok(
      copied.some((source) => `/app/${path}`.startsWith(`${source}/`)),
      path,
    )
})

test("the image runs with the launcher's flags", () => {
  const flags = [
    ...(/const flags = \[([^\]]*)\]/.exec(read('scripts/hand-over.mjs'))?.[1] ?? '').matchAll(
      /'([^']+)'/g,
    ),
  ].map(([, flag = '']) => flag)
  assert.ok(flags.some((flag) => flag.startsWith('--initial-old-space-size=')))
  const run = flags.map((flag) => `"${flag}"`).join(', ')
  assert.ok(argsOf('ENTRYPOINT').at(-1)?.includes(run), run)
})

test('the image runs unprivileged, with known settings', () => {
  assert.equal(argsOf('USER').at(-1), 'node')
  const variables = argsOf('ENV').flatMap((line) =>
    [...line.matchAll(/(\w+)=/g)].map(([, name = '']) => name),
  )
  const known = new Set([...settingNames, 'NODE_ENV', 'NODE_COMPILE_CACHE'])
  assert.deepEqual(
    variables.filter((name) => !known.has(name)),
    [],
  )
})
