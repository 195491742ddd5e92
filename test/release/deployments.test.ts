// What supervisors run: deploy/kubernetes.yaml is held to the types and the schema of Kubernetes
// and to our settings, deploy/tollmark.service to our settings and times. Nothing here runs them.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  Deployment,
  StatefulSet,
  type IDeploymentSpec,
  type IStatefulSetSpec,
} from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget, type IPodDisruptionBudgetSpec } from 'kubernetes-models/policy/v1'
import {
  ConfigMap,
  Service,
  type IConfigMap,
  type IContainer,
  type IContainerPort,
  type IEnvFromSource,
  type IEnvVar,
  type IPersistentVolumeClaimSpec,
  type IPodSecurityContext,
  type IPodSpec,
  type IPodTemplateSpec,
  type IProbe,
  type ISecurityContext,
  type IServicePort,
  type IServiceSpec,
  type ITopologySpreadConstraint,
  type IVolume,
  type IVolumeMount,
} from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { PROVIDER_CREDENTIALS } from '../../server/config/provider-credentials.ts'
import { readConfig, settings } from '../../server/config/settings.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const known = new Set(settings().flatMap(([, rows]) => rows.map(({ name }) => name)))

const Labels = z.record(z.string(), z.string())
const Pod = z.object({
  spec: z.object({
    terminationGracePeriodSeconds: z.number(),
    containers: z.array(
      z.object({
        env: z.array(z.object({ name: z.string(), value: z.string() })),
        envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
        ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
        readinessProbe: z.object({
          httpGet: z.object({ path: z.string() }),
          periodSeconds: z.number(),
          failureThreshold: z.number().default(3),
        }),
        volumeMounts: z.array(z.object({ mountPath: z.string() })),
      }),
    ),
  }),
})
const Resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  data: Labels.optional(),
  spec: z.looseObject({ template: Pod.optional() }).optional(),
})
const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one): unknown =>
  one.toJS(),
)
const resources = documents.map((one) => Resource.parse(one))
const config = resources.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
const pods = resources.flatMap(({ metadata, spec }) =>
  spec?.template === undefined ? [] : [{ name: metadata.name, ...spec.template.spec }],
)

/** TABLE of kinds, and the schema that says whether a document is one. */
const MODELS: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  'v1/ConfigMap': ConfigMap,
  'v1/Service': Service,
  'apps/v1/StatefulSet': StatefulSet,
  'apps/v1/Deployment': Deployment,
  'policy/v1/PodDisruptionBudget': PodDisruptionBudget,
}

/** Names of fields that the compiler has found in a type of Kubernetes. */
const fieldsOf = <T extends object>(...names: (keyof T & string)[]): readonly string[] => names
const ANY = null

/**
 * TABLE of places, and the fields that an object there may have: the schema lets misspelt ones
 * pass, the types do not.
 */
const FIELDS: readonly [place: RegExp, fields: readonly string[] | null][] = [
  [/^ConfigMap$/, fieldsOf<IConfigMap>('apiVersion', 'kind', 'metadata', 'data')],
  [/^\w+$/, ['apiVersion', 'kind', 'metadata', 'spec']],
  [/\.(?:data|labels|matchLabels|requests|limits)$|^Service\.spec\.selector$/, ANY],
  [/\.metadata$/, ['name', 'labels']],
  [/\.(?:selector|labelSelector)$/, ['matchLabels']],
  [/^Service\.spec$/, fieldsOf<IServiceSpec>('selector', 'ports')],
  [/^Service\.spec\.ports\.\d+$/, fieldsOf<IServicePort>('name', 'port', 'targetPort')],
  [/^PodDisruptionBudget\.spec$/, fieldsOf<IPodDisruptionBudgetSpec>('maxUnavailable', 'selector')],
  [
    /^StatefulSet\.spec$/,
    fieldsOf<IStatefulSetSpec>(
      'serviceName',
      'replicas',
      'podManagementPolicy',
      'selector',
      'template',
      'volumeClaimTemplates',
    ),
  ],
  [/^Deployment\.spec$/, fieldsOf<IDeploymentSpec>('replicas', 'selector', 'template')],
  [/\.volumeClaimTemplates\.0$/, ['metadata', 'spec']],
  [
    /\.volumeClaimTemplates\.0\.spec$/,
    fieldsOf<IPersistentVolumeClaimSpec>('accessModes', 'resources'),
  ],
  [/\.template$/, fieldsOf<IPodTemplateSpec>('metadata', 'spec')],
  [
    /\.template\.spec$/,
    fieldsOf<IPodSpec>(
      'automountServiceAccountToken',
      'terminationGracePeriodSeconds',
      'securityContext',
      'topologySpreadConstraints',
      'containers',
      'volumes',
    ),
  ],
  [
    /\.template\.spec\.securityContext$/,
    fieldsOf<IPodSecurityContext>(
      'runAsNonRoot',
      'runAsUser',
      'runAsGroup',
      'fsGroup',
      'seccompProfile',
    ),
  ],
  [/\.seccompProfile$/, ['type']],
  [
    /\.topologySpreadConstraints\.\d+$/,
    fieldsOf<ITopologySpreadConstraint>(
      'maxSkew',
      'topologyKey',
      'whenUnsatisfiable',
      'labelSelector',
    ),
  ],
  [
    /\.containers\.\d+$/,
    fieldsOf<IContainer>(
      'name',
      'image',
      'env',
      'envFrom',
      'ports',
      'startupProbe',
      'livenessProbe',
      'readinessProbe',
      'resources',
      'securityContext',
      'volumeMounts',
    ),
  ],
  [/\.env\.\d+$/, fieldsOf<IEnvVar>('name', 'value')],
  [/\.envFrom\.\d+$/, fieldsOf<IEnvFromSource>('configMapRef', 'secretRef')],
  [/\.(?:configMapRef|secretRef)$/, ['name']],
  [/\.containers\.\d+\.ports\.\d+$/, fieldsOf<IContainerPort>('name', 'containerPort')],
  [/Probe$/, fieldsOf<IProbe>('httpGet', 'periodSeconds', 'timeoutSeconds', 'failureThreshold')],
  [/\.httpGet$/, fieldsOf<NonNullable<IProbe['httpGet']>>('path', 'port')],
  [/\.resources$/, fieldsOf<NonNullable<IContainer['resources']>>('requests', 'limits')],
  [
    /\.containers\.\d+\.securityContext$/,
    fieldsOf<ISecurityContext>(
      'allowPrivilegeEscalation',
      'readOnlyRootFilesystem',
      'capabilities',
    ),
  ],
  [/\.capabilities$/, ['drop']],
  [/\.volumeMounts\.\d+$/, fieldsOf<IVolumeMount>('name', 'mountPath')],
  [/\.volumes\.\d+$/, fieldsOf<IVolume>('name', 'emptyDir')],
  [/\.emptyDir$/, []],
]

/** Fields that no row of the table allows, by their places. */
function unknownFields(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one, i) => unknownFields(one, `${place}.${i}`))
  if (typeof value !== 'object' || value === null) return []
  const row = FIELDS.find(([form]) => form.test(place))
  if (row === undefined) return [`${place}: no row of the table`]
  const [, fields] = row
  if (fields === ANY) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    fields.includes(name) ? unknownFields(inner, `${place}.${name}`) : [`${place}.${name}`],
  )
}

test('every document is valid for Kubernetes', () => {
  assert.ok(documents.length > 4)
  for (const [at, { apiVersion, kind }] of resources.entries()) {
    const Model = MODELS[`${apiVersion}/${kind}`]
    assert.ok(Model, `${apiVersion}/${kind} is not in the table`)
    new Model(documents[at] as never).validate()
    assert.deepEqual(unknownFields(documents[at], kind), [])
  }
})

/** What is set in a pod, with what the Secrets of the file's head hold. */
function environmentOf({ containers: [container] }: (typeof pods)[number]): Record<string, string> {
  return {
    ...config,
    TOLLMARK_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    DATABASE_URL: 'postgres://tollmark@postgres/tollmark',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
    ...Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []),
  }
}

test('pods use our settings and have time to shut down', () => {
  assert.deepEqual(
    pods.map((pod) => environmentOf(pod)['TOLLMARK_ROLE']),
    ['web', 'worker'],
  )
  for (const pod of pods) {
    const environment = environmentOf(pod)
    assert.deepEqual(
      Object.keys(environment).filter((name) => !known.has(name)),
      [],
    )
    const { server } = readConfig(environment)
    const [container] = pod.containers
    assert.ok(container)
    assert.equal(container.ports[0]?.containerPort, server.port)
    const ending = (server.drain ?? 0) + server.shutdownTimeout + 3_000
    assert.ok(pod.terminationGracePeriodSeconds * 1000 > ending, `${pod.name}: ${ending} ms`)
    const { httpGet, periodSeconds, failureThreshold } = container.readinessProbe
    assert.equal(httpGet.path, '/readyz')
    if (server.role === 'web')
      assert.ok((server.drain ?? 0) > 2 * periodSeconds * failureThreshold * 1000)
    // The image's /data is the only folder that it keeps something in; its root is read-only.
    assert.deepEqual(
      container.volumeMounts.map(({ mountPath }) => mountPath),
      ['/data', '/tmp'],
    )
  }
})

test('the file has no secret, and a worker gets neither provider keys nor the master key', () => {
  const given = Object.keys(config)
  for (const name of [...Object.values(PROVIDER_CREDENTIALS), 'TOLLMARK_MASTER_KEY'])
    assert.ok(!given.includes(name), name)
  const secretsOf = (name: string): unknown[] =>
    pods
      .filter((pod) => pod.name === name)
      .flatMap(({ containers }) => containers.flatMap(({ envFrom }) => envFrom))
      .flatMap((source) => source['secretRef']?.name ?? [])
  assert.deepEqual(secretsOf('tollmark-web'), ['tollmark', 'tollmark-web'])
  assert.deepEqual(secretsOf('tollmark-worker'), ['tollmark'])
  const [, ofAll = '', ofWeb = ''] = read('deploy/kubernetes.yaml').split('create secret generic')
  assert.deepEqual(
    [ofAll, ofWeb].map((command) => command.includes('TOLLMARK_MASTER_KEY')),
    [false, true],
  )
})

test('the systemd service starts an existing program and gives it time to stop', () => {
  const unit = read('deploy/tollmark.service')
  const valuesOf = (name: string): string[] =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const [start = ''] = valuesOf('ExecStart')
  const files = start.split(' ').filter((word) => /\.m?[jt]s$/.test(word))
  assert.equal(files.length, 2)
  for (const file of files) assert.ok(existsSync(join(root, file)), file)
  const environment = Object.fromEntries(valuesOf('Environment').map((pair) => pair.split('=')))
  const own = Object.keys(environment).filter((name) => name !== 'NODE_COMPILE_CACHE')
  assert.deepEqual(
    own.filter((name) => !known.has(name)),
    [],
  )
  // On PostgreSQL it drains for longer than on SQLite.
  const drain = 5_000
  const { server } = readConfig({ TOLLMARK_DATA: environment['TOLLMARK_DATA'] ?? '' })
  const [stop = ''] = valuesOf('TimeoutStopSec')
  assert.ok(Number(stop.replace(/s$/, '')) * 1000 > drain + server.shutdownTimeout + 3_000)
  // V8 needs memory that it writes and runs.
  assert.deepEqual(valuesOf('MemoryDenyWriteExecute'), [])
  assert.deepEqual(valuesOf('NoNewPrivileges'), ['yes'])
})
