// Decides which models a request can reach. Step 5 of pipeline.ts: if that cannot be known, the
// request is refused.
import { withoutSecrets } from '../../common/issued-secrets.ts'
import type { Scope } from '../../keys/scope.ts'
import { headerModels, queryModels } from './outside-body.ts'
import type { Match } from '../providers/match.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { ToolRun } from './tool-models.ts'
import { ambiguous, unknownModel, type InspectionError } from './inspection-error.ts'
import type { Inspection } from './inspection.ts'
import { bareModel, loggedModel } from './places.ts'

/**
 * Names in the providers' spelling (`models/gemini-x`, an ARN, a deployment), in the order of the
 * request.
 */
export type ModelResolution =
  | {
      readonly ok: true
      readonly models: readonly string[]
      readonly objects: readonly ObjectRef[]
      /** Whether it asks the provider to keep the response. */ readonly kept: boolean
    }
  | ({
      readonly ok: false
      /** The model that the key may not use, where that is why. */ readonly model?: string
    } & InspectionError)

/** The model for the log: the first one named, or the one that was refused. */
export const modelOf = (
  provider: Provider,
  resolution: ModelResolution,
  match: Match,
): string | null =>
  loggedModel(provider, (resolution.ok ? resolution.models[0] : resolution.model) ?? match.model)

/** Whether only the body can name the model. */
export function needsBody({ endpoint }: Match): boolean {
  const place = endpoint?.model
  return place !== undefined && 'body' in place && place.body.required.length > 0
}

/** The input for deciding a request's models. */
export interface ModelRequest {
  readonly provider: Provider
  readonly match: Match
  readonly pathAndQuery: string
  /** Name, value, name, value, … as Node's rawHeaders. */
  readonly headers: readonly string[]
  /** Whether messages of a socket name the model, if the request does not. */
  readonly isModelNamedLater?: boolean | undefined
}

/**
 * Checks a scoped key: every model that the request can reach is known, and allowed.
 * @param inspected the complete strict inspection of the body; null without a body
 */
export function resolveModels(
  scope: Scope,
  request: ModelRequest,
  inspected: Inspection | null,
): ModelResolution {
  const { match, provider } = request
  if (match.class === 'neutral')
    return { ok: true, models: [], objects: match.objects, kept: false }
  const found = reachable(request, inspected)
  if (!('models' in found)) return { ok: false, ...found }
  const names = [...new Set(found.models)]
  if (costOf(names, scope) > MAX_COST) return { ok: false, ...TOO_MANY }
  const refused = names.find((name) => !scope.allows(provider.modelNames(name)))
  if (refused !== undefined)
    return {
      ok: false,
      code: 'model_not_allowed',
      message: `This key may not use the model ${printable(bareModel(provider, refused))}.`,
      model: refused,
    }
  const hidden = inspected?.findings.hidden ?? null
  if (hidden !== null) return { ok: false, ...ambiguous(hidden) }
  if (!found.named && !scope.anyName) return { ok: false, ...unnamed(match) }
  const tool = refusedTool(scope, provider, inspected?.findings.unnamedTools(found.header) ?? [])
  if (tool !== null) return { ok: false, ...tool }
  return {
    ok: true,
    models: found.models,
    objects: match.objects.concat(inspected?.findings.mentioned ?? []),
    kept: inspected?.findings.kept ?? false,
  }
}

/**
 * How many characters of names may be compared with a pattern each: 500 patterns with about a
 * hundred short names, or 20 patterns with thousands. All other requests wait meanwhile, for a
 * millisecond at most.
 */
const MAX_COST = 2 ** 21
const TOO_MANY = ambiguous(
  'The body names more different models than can be compared with the patterns in the models of this key.',
)

/** Counts a comparison of an empty name, too. */
const costOf = (names: readonly string[], { patterns }: Scope): number =>
  patterns === 0 ? 0 : patterns * names.reduce((sum, { length }) => sum + length + 16, 0)

/** The refusal of the first tool that runs a model outside the scope; null if there is none. */
function refusedTool(
  scope: Scope,
  provider: Provider,
  tools: readonly ToolRun[],
): InspectionError | null {
  for (const { tool, runs } of tools) {
    const name = printable(tool)
    if (!('allow' in runs)) {
      const way = runs.named?.length === 0 ? '' : ' Name an allowed model in it.'
      return unknownModel(
        `The tool ${name} may run a model that this request does not name. ${runs.why}${way}`,
      )
    }
    const other = runs.runs.find((model) => !scope.allows(provider.modelNames(model)))
    if (other === undefined) continue
    const way = runs.named?.length === 0 ? 'Add' : 'Name an allowed model in it, or add'
    return {
      code: 'model_not_allowed',
      message: `The tool ${name} may run the model ${printable(other)}, which this key may not use. ${runs.why} ${way} ${runs.allow} to the key's models.`,
    }
  }
  return null
}

function unnamed({ endpoint }: Match): InspectionError {
  const place = endpoint?.model
  if (place?.at !== 'header')
    return unknownModel('The body does not name a model where this endpoint expects it.')
  const headers = (place.headers ?? []).map((header) => `\`${header}\``).join(' or ')
  return unknownModel(`This endpoint expects the model in a header: ${headers}.`)
}

/**
 * A name for use in a message: at most 120 characters, no secret, nothing that could break a line
 * or a terminal.
 */
const printable = (name: string): string =>
  JSON.stringify(
    withoutSecrets(name.slice(0, 300))
      .slice(0, 120)
      .replaceAll(/[^\u0020-\u007e…]/g, '?'),
  )

const NONE: readonly string[] = []

interface Reachable {
  readonly models: readonly string[]
  /** Whether a model is named where that is required. */
  readonly named: boolean
  /** Whether a header names one. */
  readonly header: boolean
}

function reachable(
  { match, pathAndQuery, headers, isModelNamedLater }: ModelRequest,
  inspected: Inspection | null,
): Reachable | InspectionError {
  const place = match.endpoint?.model
  if (!place) return unknownModel('The endpoint is not known to the proxy.')
  if (place.at === 'stored')
    return unknownModel(
      'The model that this endpoint runs is stored with the provider and not named in the request.',
    )
  const query = pathAndQuery.includes('?') ? queryModels(pathAndQuery, place) : NONE
  if (query === null) return unknownModel('The query names the model in an ambiguous way.')
  if (isModelNamedLater === true) return { models: query, named: true, header: false }
  if (place.at === 'query')
    return query.length === 1
      ? { models: query, named: true, header: false }
      : unknownModel(
          'The query must name the model in exactly one parameter: `model`, or its equivalent here.',
        )
  const problem = inspected?.refusal ?? inspected?.findings.problem ?? null
  if (problem !== null) return problem
  const named = place.headers === undefined ? NONE : headerModels(place.headers, headers)
  return {
    models: [
      ...(match.model === null ? [] : [match.model]),
      ...query,
      ...named,
      ...(inspected?.findings.models ?? []),
    ],
    named:
      match.model !== null ||
      inspected?.findings.named === true ||
      (place.at === 'header'
        ? named.length > 0 || (place.parameter !== undefined && query.length > 0)
        : place.body.required.length === 0),
    header: named.length > 0,
  }
}
