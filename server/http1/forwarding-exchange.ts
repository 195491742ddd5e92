// An exchange that wraps another one: the base of those that delay or inspect a response before the
// caller sees it.
import type { ResponseListener, HttpExchange } from './exchange.ts'
import type { RawHeaders } from './header-fields.ts'
import type { RawConnection } from './raw-connection.ts'

/** Delegates everything; subclasses override what they need. It lives as long as the request. */
export class ForwardingExchange implements HttpExchange {
  protected readonly exchange: HttpExchange

  constructor(caller: HttpExchange) {
    this.exchange = caller
  }

  get method(): string {
    return this.exchange.method
  }
  get target(): string {
    return this.exchange.target
  }
  get headers(): readonly string[] {
    return this.exchange.headers
  }
  get body(): HttpExchange['body'] {
    return this.exchange.body
  }
  get closed(): boolean {
    return this.exchange.closed
  }
  get headersSent(): boolean {
    return this.exchange.headersSent
  }
  watch(watcher: ResponseListener): void {
    this.exchange.watch(watcher)
  }
  writeContinue(): void {
    this.exchange.writeContinue()
  }
  writeInterim(status: number, reason: string, headers: RawHeaders): void {
    this.exchange.writeInterim(status, reason, headers)
  }
  writeHead(status: number, reason: string, headers: RawHeaders): void {
    this.exchange.writeHead(status, reason, headers)
  }
  write(bytes: Buffer): void {
    this.exchange.write(bytes)
  }
  end(trailers?: RawHeaders): void {
    this.exchange.end(trailers)
  }
  flush(): boolean {
    return this.exchange.flush()
  }
  reset(): void {
    this.exchange.reset()
  }
  get canSwitch(): boolean {
    return this.exchange.canSwitch
  }
  switchProtocols(headers: RawHeaders): RawConnection | null {
    return this.exchange.switchProtocols(headers)
  }
}
