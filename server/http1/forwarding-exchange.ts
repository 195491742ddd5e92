// A caller behind which another one stands: the base of what holds an answer back, or looks at it,
// before the caller sees it.
import type { AnswerWatcher, Caller } from './exchange.ts'
import type { RawHeaders } from './header-fields.ts'

/**
 * Hands everything on as it is; whoever extends it takes over what it needs. It lives as long as
 * the request.
 */
export class ForwardingCaller implements Caller {
  protected readonly caller: Caller

  constructor(caller: Caller) {
    this.caller = caller
  }

  get method(): string {
    return this.caller.method
  }
  get target(): string {
    return this.caller.target
  }
  get headers(): readonly string[] {
    return this.caller.headers
  }
  get body(): Caller['body'] {
    return this.caller.body
  }
  get gone(): boolean {
    return this.caller.gone
  }
  get answered(): boolean {
    return this.caller.answered
  }
  watch(watcher: AnswerWatcher): void {
    this.caller.watch(watcher)
  }
  proceed(): void {
    this.caller.proceed()
  }
  interim(status: number, reason: string, headers: RawHeaders): void {
    this.caller.interim(status, reason, headers)
  }
  head(status: number, reason: string, headers: RawHeaders): void {
    this.caller.head(status, reason, headers)
  }
  write(bytes: Buffer): void {
    this.caller.write(bytes)
  }
  end(trailers?: RawHeaders): void {
    this.caller.end(trailers)
  }
  flush(): boolean {
    return this.caller.flush()
  }
  breakOff(): void {
    this.caller.breakOff()
  }
}
