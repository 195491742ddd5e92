// Finds the endpoint that a line of a batch calls, in the same table as for a request. The provider
// runs the lines with our credential, so a line may only call endpoints that run a model.
import { classify } from '../providers/endpoint.ts'
import type { ObjectRef } from '../providers/object-ref.ts'
import type { Provider } from '../providers/provider.ts'

/** A path without a query or anything that two servers could read differently. */
const PLAIN_PATH = /^(?:\/[\w.-]+)+$/
const VERSION = /^\/v\d\w*(?=\/)/
/** Maximum number of different addresses of one batch; each costs some microseconds. */
const MOST_URLS = 100

/** The paths at the provider's host that an address in a line may mean. */
function pathsOf({ base }: Pick<Provider, 'base'>, url: string): readonly string[] {
  const before = new URL(base.replaceAll(/\{\w+\}/g, 'x')).pathname.replace(/\/$/, '')
  const within = url.replace(VERSION, '')
  // Groq's `/v1/chat/completions` is `/openai/v1/chat/completions`, and Gemini's
  // `/v1beta/openai/chat/completions`.
  return [...new Set([url, before + url, before + within, `${before}/openai${within}`])]
}

/** Decides about the lines of one batch. */
export class BatchUrls {
  readonly #provider: Provider
  readonly #seen = new Set<string>()
  /** Objects that the addresses name. */
  readonly objects: ObjectRef[] = []
  /** Whether a line calls an endpoint that is not known to run a model. */
  isRefused = false

  constructor(provider: Provider) {
    this.#provider = provider
  }

  /** @param url the parsed value of the line; null: the line has none */
  take(url: unknown): void {
    if (this.isRefused || url === null) return
    if (typeof url !== 'string' || !PLAIN_PATH.test(url)) this.isRefused = true
    else if (!this.#seen.has(url)) {
      this.#seen.add(url)
      if (this.#seen.size > MOST_URLS) this.isRefused = true
      else this.#decide(url)
    }
  }

  /** @param method the parsed value of the line */
  takeMethod(method: unknown): void {
    if (method !== null && method !== 'POST') this.isRefused = true
  }

  #decide(url: string): void {
    const matches = pathsOf(this.#provider, url).map((path) =>
      classify(this.#provider, 'POST', path),
    )
    const isClosed = matches.some(({ class: kind }) => kind === 'minting' || kind === 'admin')
    const found = matches.find(({ class: kind }) => kind === 'model')
    if (isClosed || found === undefined) this.isRefused = true
    else this.objects.push(...found.objects)
  }
}
