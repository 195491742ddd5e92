// Names of resources that a cloud keeps for the account: buckets, data stores, secrets, search
// services. No endpoint of the proxy creates one, so they are the operator's: unowned here, unless
// an administrator shares them with a key.
import { looseName, type ObjectRef } from './object-ref.ts'

/** The kind of what such a name names. */
export const CLOUD_RESOURCE = 'cloud_resource'
/** The kind of a body's wish to be answered for with an account of the operator's. */
export const IDENTITY = 'identity'

/** With what such names begin, up to their first mark; any server may read the scheme in any case. */
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
/** The first bytes of a resource of a cloud, in the cases that occur: for the quick check. */
export const CLOUD_HEADS: readonly string[] = SCHEMES.flatMap((head) => {
  const [first = '', second = ''] = head
  return [first, first.toUpperCase()].flatMap((one) =>
    [...new Set([second, second.toUpperCase()])].map((two) => one + two + head.slice(2)),
  )
})
/** First letters of the others. */
export const CLOUD_FIRSTS = ['p', 'P', 's', 'S', 'v', '/']

const STORED = /^(?:gs|s3[an]?|bq|azureml|azureai|abfss?):\/\/?[^\s]/i
const ARN = /^arn:[a-z-]+:[a-z0-9-]+:/i
/**
 * docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html: models of
 * everybody's, and the profiles that AWS defines. What was invoked is an object of its maker's.
 */
const PUBLIC_ARN =
  /^arn:aws[a-z-]*:bedrock:[^:]*:[^:]*:(?:foundation-model|inference-profile|async-invoke)\//
/** Samples of Google's own, which its documentation has people send. */
const PUBLIC_BUCKET =
  /^gs:\/\/(?:cloud-samples-data|generativeai-downloads|gcp-public-data-[\w-]+)\//
/** cloud.google.com/apis/design/resource_names: `//service/projects/p/locations/l/…`. */
const PROJECT =
  /^(?:(?:https?:)?\/\/[a-z0-9.-]+\.googleapis\.com)?\/?(?:v\d\w*\/)?projects\/[^/]+\/(?:locations|regions|zones|global|secrets|datasets|topics|subscriptions|serviceaccounts|instances|databases|buckets|collections)\/[^/]+/i
/** A place, or a model that anybody may call. */
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
  /** Keys whose value names such a thing, and its kind: `project_connection_id`. */
  readonly named: Readonly<Record<string, string>>
  /** Keys that are there for nothing else than to use the operator's identity. */
  readonly present?: readonly string[]
  /** Keys under which one of `identities` does the same. */
  readonly chosen?: readonly string[]
  readonly identities?: RegExp
}

/** The same, for looking up the keys of a body. */
export interface OperatedKeys {
  readonly kinds: readonly string[]
  /** The kind that the value under a key has; null where the key says nothing. */
  kindOf(key: string): string | null
  /** Whether a key is enough. */
  isUse(key: string): boolean
  /** The resource that a value under such a key names. */
  refOf(kind: string, text: string): ObjectRef | null
}

/** Before a kind: it is the operator's. */
const OPERATED = 'operated '

/** Whether a kind that `OperatedKeys.kindOf` gave, or another, is one of the operator's. */
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
