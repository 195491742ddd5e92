// Opens metrics, and traces if a collector is configured.
import type { Config } from '../config/settings.ts'
import { withObservers, type Log, type RequestObserver } from '../common/log.ts'
import { openMetrics, type Metrics } from './metrics.ts'

/** Opens metrics and traces. `log` passes every request to them, and logs it as before. */
export async function openTelemetry(
  { watch }: Config,
  log: Log,
  clock: () => number,
  starting: AsyncDisposableStack,
): Promise<{ log: Log; metrics: Metrics }> {
  const metrics = openMetrics()
  const observers: RequestObserver[] = [metrics.requests]
  if (watch.otlpEndpoint !== null) {
    // Loaded only if it is used: it takes a fifth of a second.
    const { openTraces } = await import('./traces.ts')
    const options = {
      endpoint: watch.otlpEndpoint.href,
      headers: watch.otlpHeaders,
      serviceName: watch.serviceName,
      ratio: watch.traceRatio,
    }
    observers.push(starting.use(openTraces(options, clock, log)))
  }
  return { log: withObservers(log, observers), metrics }
}
