// Step 5 for each message of a client: finds the models and stored objects that it names, and
// whether it may start a response.
import type { Owner } from '../../common/fairness/account-key-queue.ts'
import type { CachedKey } from '../../keys/cache.ts'
import { GatewayError } from '../gateway-error.ts'
import { Inspection } from '../inspect/inspection.ts'
import { refuseUnreadable } from '../inspect/inspect-request.ts'
import { loggedModel } from '../inspect/places.ts'
import { resolveModels } from '../inspect/resolve-models.ts'
import { type InspectionQueue, type SlicedTask } from '../inspect/scheduler.ts'
import { checkOwnership } from '../objects/ownership.ts'
import type { ObjectOwners } from '../objects/objects.ts'
import type { Match } from '../providers/match.ts'
import { perhaps } from '../providers/ids.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'
import type { SocketRow } from '../providers/socket-row.ts'
import { oncePerRow, SignScan, SignTable } from './signs.ts'

type ClientSign = 'quiet' | 'starts' | 'mayStart' | 'credential'

/**
 * The result for a message that may be forwarded: whether it makes the provider start a response.
 * `perhaps`: together with others.
 */
export type StartsResponse = 'yes' | 'perhaps' | 'no'

interface InspectorDeps {
  readonly objects: ObjectOwners
  readonly inspectionQueue: InspectionQueue
}

/** Messages up to this size are inspected synchronously. */
const MAX_SYNC_BYTES = 128 * 1024
/** Longest text that is compared with a row's commands. */
const MAX_COMMAND_BYTES = 32
/** Maximum number of different models that a session may name. */
const MAX_MODELS = 32
const JSON_BODY: readonly string[] = ['Content-Type', 'application/json']

const tableOf = oncePerRow<SignTable<ClientSign>>(
  ({ quiet, starts, mayStart, credentials: credential = [], naming }) =>
    new SignTable({ quiet, starts, mayStart, credential }, naming),
)

/** The context in which a message is inspected: as a body that is sent to a model. */
const matchOf = oncePerRow<Match>(({ body }) => ({
  class: 'model',
  endpoint: { on: 'POST /', class: 'model', model: { at: 'path', body } },
  body,
  pattern: '/',
  model: null,
  objects: [],
  spelling: 'plain',
}))

type MediaText = readonly (readonly [before: Buffer, after: Buffer])[]

const mediaTextOf = oncePerRow<MediaText>(({ mediaText = [] }) =>
  mediaText.map(([before, after]) => [Buffer.from(before), Buffer.from(after)] as const),
)
const [QUOTE, BACKSLASH] = [0x22, 0x5c]

/**
 * Whether a message contains only media: the row's text before and after, and between them string
 * content without quotes and escapes.
 */
function isMediaText(known: MediaText, message: Buffer): boolean {
  for (const [before, after] of known) {
    const end = message.length - after.length
    if (
      end >= before.length &&
      liesAt(message, 0, before) &&
      liesAt(message, end, after) &&
      message.indexOf(QUOTE, before.length) === end &&
      message.indexOf(BACKSLASH, before.length) < 0
    )
      return true
  }
  return false
}

/**
 * Whether a message has these few bytes at `at`; comparing them here costs less than a call into
 * C++.
 */
function liesAt(message: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (message[at + i] !== bytes[i]) return false
  return true
}

/** Inspects the messages of one socket. It lives as long as the socket. */
export class MessageInspector {
  /** The session's model, as in the ledger. */
  model: string | null
  readonly #deps: InspectorDeps
  readonly #provider: Provider
  readonly #row: SocketRow
  readonly #key: () => CachedKey
  readonly #match: Match
  readonly #table: SignTable<ClientSign>
  readonly #mediaText: MediaText
  /** Names of all models so far; a list, because most sessions name one. */
  readonly #models: string[] = []
  /** The key that was found to allow all of them; null if one has been added since. */
  #allowedBy: CachedKey | null = null

  /**
   * @param key the current key
   * @param models the models of the handshake
   */
  constructor(
    deps: InspectorDeps,
    provider: Provider,
    row: SocketRow,
    key: () => CachedKey,
    models: readonly string[],
  ) {
    this.#deps = deps
    this.#provider = provider
    this.#row = row
    this.#key = key
    for (const name of models) this.#addModel(name)
    this.model = loggedModel(provider, models[0])
    this.#match = matchOf(row)
    this.#table = tableOf(row)
    this.#mediaText = mediaTextOf(row)
  }

  /** The owner in whose turns its messages are processed. */
  get owner(): Owner {
    const { accountId, id } = this.#key()
    return { account_id: accountId, key_id: id }
  }

  /** Whether the key may use every model that the session has named. */
  isWithin(key: CachedKey): boolean {
    // Called four times a second for each open socket: the result is cached, and without a closure
    // V8 allocates no scope.
    if (this.#allowedBy !== key) this.#allowedBy = this.#allowsModels(key) ? key : null
    return this.#allowedBy === key
  }

  #allowsModels({ scope }: CachedKey): boolean {
    return scope.all || this.#models.every((name) => scope.allows(this.#provider.modelNames(name)))
  }

  #addModel(name: string): void {
    if (this.#models.includes(name)) return
    this.#models.push(name)
    this.#allowedBy = null
  }

  /**
   * Inspects a message; synchronous if it is short.
   * @throws GatewayError synchronously or later, if it may not be forwarded
   */
  inspect(
    isBinary: boolean,
    pieces: readonly Buffer[],
    length: number,
  ): StartsResponse | Promise<StartsResponse> {
    if (isBinary && this.#row.media === true) {
      this.#requireModel(this.#key())
      return 'perhaps'
    }
    const only = pieces.length === 1 ? pieces[0] : undefined
    if (only !== undefined && isMediaText(this.#mediaText, only)) {
      this.#requireModel(this.#key())
      return 'perhaps'
    }
    if (!isBinary && this.#isCommand(pieces, length)) {
      this.#requireModel(this.#key())
      return 'no'
    }
    const key = this.#key()
    const task = this.#taskOf(key, pieces)
    const isShort = length <= MAX_SYNC_BYTES
    if (isShort && this.#deps.inspectionQueue.runNow(task)) return this.#decide(key, task)
    return this.runSliced(task).then(() => this.#again(key, task, pieces))
  }

  /** Processes a message in the turns of its key. */
  runSliced(task: SlicedTask): Promise<boolean> {
    return this.#deps.inspectionQueue.run(this.owner, task).done
  }

  #isCommand(pieces: readonly Buffer[], length: number): boolean {
    const { commands } = this.#row
    return (
      commands !== undefined &&
      length <= MAX_COMMAND_BYTES &&
      commands.includes(Buffer.concat(pieces).toString('utf8'))
    )
  }

  #taskOf(key: CachedKey, pieces: readonly Buffer[]): MessageTask {
    const inspection = new Inspection(
      {
        provider: this.#provider,
        match: this.#match,
        headers: JSON_BODY,
        strict: !key.scope.all,
        limit: Infinity,
      },
      pieces,
    )
    return new MessageTask(inspection, new SignScan(this.#table), pieces)
  }

  /** If the key's limits have changed meanwhile, the message is read again. */
  async #again(
    key: CachedKey,
    task: MessageTask,
    pieces: readonly Buffer[],
  ): Promise<StartsResponse> {
    const now = this.#key()
    if (now.scope.all === key.scope.all) return this.#decide(now, task)
    const next = this.#taskOf(now, pieces)
    await this.runSliced(next)
    return this.#decide(now, next)
  }

  #decide(
    key: CachedKey,
    { inspection, scan }: MessageTask,
  ): StartsResponse | Promise<StartsResponse> {
    if (scan.found.has('credential'))
      throw new GatewayError(
        'malformed_request',
        `Leave ${this.#row.credentials?.join(', ')} out: the proxy adds the credential.`,
      )
    const named = inspection.strict
      ? this.#resolve(key, inspection, scan)
      : this.#mentioned(key, inspection)
    this.#nameModel(scan)
    if (inspection.strict) this.#requireModel(key)
    const message = startsResponse(scan)
    const refs = named.map((ref) => this.#orLocal(ref))
    if (refs.length === 0) return message
    const request = {
      provider: this.#provider,
      key,
      match: this.#match,
      method: 'POST',
      headers: JSON_BODY,
    }
    const checked = checkOwnership(this.#deps.objects, request, refs, () =>
      inspection.mentionedOutsideProse().map((ref) => this.#orLocal(ref)),
    )
    return checked instanceof Promise ? checked.then(() => message) : message
  }

  /** Sessions assign their own ids to objects of some kinds, whose creation is not seen. */
  #orLocal(ref: ObjectRef): ObjectRef {
    return this.#row.local?.includes(ref.kind) === true ? perhaps(ref) : ref
  }

  /** For a scoped key: checks that everything that a message can reach is known and allowed. */
  #resolve(
    { scope }: CachedKey,
    inspection: Inspection,
    scan: SignScan<ClientSign>,
  ): readonly ObjectRef[] {
    const request = {
      provider: this.#provider,
      match: this.#match,
      pathAndQuery: '/',
      headers: JSON_BODY,
    }
    const resolution = resolveModels(scope, request, inspection)
    if (!resolution.ok)
      throw new GatewayError(resolution.code, resolution.message, [], resolution.model ?? null)
    if (scan.isOdd)
      throw new GatewayError(
        'ambiguous_body',
        'The message is ambiguous: it has a key twice, or in another spelling.',
      )
    if (scan.found.size === 0)
      throw new GatewayError(
        'model_not_allowed',
        'The proxy does not know this message, and the API key is limited to certain models.',
      )
    for (const name of resolution.models) this.#addModel(name)
    if (this.#models.length > MAX_MODELS)
      throw new GatewayError('model_not_allowed', 'The session names too many models.')
    return resolution.objects
  }

  #mentioned(key: CachedKey, inspection: Inspection): readonly ObjectRef[] {
    refuseUnreadable(key, inspection)
    return inspection.findings.mentioned
  }

  #nameModel(scan: SignScan<ClientSign>): void {
    for (const place of this.#row.naming) {
      const name = scan.text(place)
      if (name !== null) this.model = loggedModel(this.#provider, name) ?? this.model
    }
  }

  /** A scoped key's session must begin by naming its model. */
  #requireModel({ scope }: CachedKey): void {
    if (!scope.all && this.#models.length === 0)
      throw new GatewayError(
        'model_not_allowed',
        `Name the model first (${this.#row.naming.map((place) => `\`${place}\``).join(' or ')}). The proxy key is limited to certain models.`,
      )
  }
}

/** Reads a message for its names and its type. */
class MessageTask implements SlicedTask {
  readonly inspection: Inspection
  readonly scan: SignScan<ClientSign>
  readonly #pieces: readonly Buffer[]
  #piece = 0
  #at = 0

  constructor(inspection: Inspection, scan: SignScan<ClientSign>, pieces: readonly Buffer[]) {
    this.inspection = inspection
    this.scan = scan
    this.#pieces = pieces
  }

  step(resume: () => void, most: number): 'more' | 'waiting' | 'done' {
    const state = this.inspection.step(resume, most)
    if (state !== 'done') return state
    const piece = this.#pieces[this.#piece]
    if (piece === undefined) {
      this.scan.end()
      return 'done'
    }
    this.scan.write(piece.subarray(this.#at, this.#at + most))
    this.#at += most
    if (this.#at >= piece.length) {
      this.#piece++
      this.#at = 0
    }
    return 'more'
  }
}

function startsResponse({ found, isOdd }: SignScan<ClientSign>): StartsResponse {
  if (found.has('starts')) return 'yes'
  return isOdd || found.has('mayStart') || !found.has('quiet') ? 'perhaps' : 'no'
}
