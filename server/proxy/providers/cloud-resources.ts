// Names of resources in the account's cloud: buckets, data stores, secrets, search services. No
// endpoint of the proxy creates one, so they are the operator's: they have no owner here, unless an
// administrator shares them with a key.
import { looseName, type ObjectRef } from './object-ref.ts'

/** The kind of such a resource. */
export const CLOUD_RESOURCE = 'cloud_resource'
/** The kind for a body's request to use one of the operator's accounts. */
export const IDENTITY = 'identity'

/**
 * The beginnings of such names, up to their first mark; any server may read the scheme in any case.
 */
const SCHEMES = [
  'gs:',
  's3:',
  's3a:',
  's3n:',
  'bq:',
  'azureml:',
  'azureai:',
  'arn:',
  'abfs:',
  'abfss:',
]
/** The first bytes of a cloud's resource, in the cases that occur; for the quick check. */
export const CLOUD_HEADS: readonly string[] = SCHEMES.flatMap((head) => {
  const [first = '', second = ''] = head
  return [first, first.toUpperCase()].flatMap((one) =>
    [...new Set([second, second.toUpperCase()])].map((two) => one + two + head.slice(2)),
  )
})
/** First characters of the other resource names. */
export const CLOUD_FIRSTS = ['p', 'P', 's', 'S', 'v', '/']

const STORED = /^(?:gs|s3[an]?|bq|azureml|azureai|abfss?):\/\/?[^\s]/i
const ARN = /^arn:[a-z-]+:[a-z0-9-]+:/i
/**
 * docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html: public models, and
 * the profiles that AWS defines. An invocation is an object of the key that created it.
 */
const PUBLIC_ARN =
  /^arn:aws[a-z-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile|async-invoke)\//
/** Google's own samples, which its documentation uses. */
const PUBLIC_BUCKET =
  /^gs:\/\/(?:cloud-samples-data|generativeai-downloads|gcp-public-data-[\w-]+)\//
/** cloud.google.com/apis/design/resource_names: `//service/projects/p/locations/l/…`. */
const PROJECT =
  /^(?:(?:https?:)?\/\/[a-z0-9.-]+\.googleapis\.com)?\/?(?:v\d\w*\/)?projects\/[^/]+\/(?:locations|regions|zones|global|secrets|datasets|topics|subscriptions|serviceaccounts|instances|databases|buckets|collections)\/[^/]+/i
/** A location, or a public model. */
const PUBLIC_NAME =
  /(?:^|\/)projects\/[^/]+\/locations\/[^/]+(?:\/publishers\/[^/]+\/models\/[^/]+)?\/?$/i
/** learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules */
const ARM =
  /^(?:https:\/\/management\.azure\.com)?\/?subscriptions\/[^/]+\/(?:resourcegroups|providers)\//i

/** The resource that a text without spaces names, decoded; null if it is not such a name. */
export function cloudResource(text: string): ObjectRef | null {
  const isOne =
    (STORED.test(text) && !PUBLIC_BUCKET.test(text)) ||
    (ARN.test(text) && !PUBLIC_ARN.test(text)) ||
    isProjectName(text) ||
    ARM.test(text)
  return isOne ? { kind: CLOUD_RESOURCE, id: text } : null
}

/** Whether a text is the full name of a resource in a Google project. */
export const isProjectName = (text: string): boolean =>
  PROJECT.test(text) && !PUBLIC_NAME.test(text.replace(/[?#:].*$/s, ''))

/** A provider's keys by which a body uses resources of the operator. */
export interface Operated {
  /** Keys whose value names such a resource, and its kind: `project_connection_id`. */
  readonly named: Readonly<Record<string, string>>
  /** Keys whose only purpose is to use the operator's identity. */
  readonly present?: readonly string[]
  /** Keys with which a value of `identities` does the same. */
  readonly chosen?: readonly string[]
  readonly identities?: RegExp
}

/** The same, compiled for looking up the keys of a body. */
export interface OperatedKeys {
  readonly kinds: readonly string[]
  /** The kind of the value under a key; null if the key is not one of these. */
  kindOf(key: string): string | null
  /** Whether the key alone uses the operator's identity. */
  isUse(key: string): boolean
  /** The resource that a value under such a key names. */
  refOf(kind: string, text: string): ObjectRef | null
}

/** Prefix of a kind that is the operator's. */
const OPERATED = 'operated '

/** Whether a kind, from `OperatedKeys.kindOf` or elsewhere, is one of the operator's. */
export const isOperated = (kind: string): boolean => kind.startsWith(OPERATED)

/** The kinds of an operator's resources by the keys under which a body names them. */
export function operatedKeys({
  named,
  present = [],
  chosen = [],
  identities,
}: Operated): OperatedKeys {
  const kinds = new Map([
    ...Object.entries(named).map(([key, kind]) => [looseName(key), OPERATED + kind] as const),
    ...chosen.map((key) => [looseName(key), OPERATED + IDENTITY] as const),
  ])
  const uses = new Set(present.map(looseName))
  return {
    kinds: [...new Set([IDENTITY, ...Object.values(named)])],
    kindOf: (key) => kinds.get(looseName(key)) ?? null,
    isUse: (key) => uses.has(looseName(key)),
    refOf: (kind, text) => {
      if (!isOperated(kind)) return null
      const plain = kind.slice(OPERATED.length)
      const id = text.trim()
      return id === '' || (plain === IDENTITY && identities?.test(id) !== true)
        ? null
        : { kind: plain, id }
    },
  }
}
