// The settings of metrics and traces.
import {
  credential,
  headers,
  setting,
  share,
  text,
  url,
  type SettingsArea,
} from '../setting-kinds.ts'

/** TABLE of the settings of metrics and traces. */
export const watch = {
  metricsToken: setting(
    'TOLLMARK_METRICS_TOKEN',
    credential,
    null,
    'The bearer token for reading /metrics; unset, everyone who can reach the server may read them.',
    {
      secret: true,
    },
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    url('http:', 'https:'),
    null,
    'Where to send OpenTelemetry traces (OTLP over HTTP); unset, tracing is off.',
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    headers,
    null,
    'Headers to send with traces.',
    { secret: true },
  ),
  serviceName: setting(
    'OTEL_SERVICE_NAME',
    text,
    'tollmark',
    'The name of this service in traces.',
  ),
  traceRatio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    share,
    '1',
    'The share of traces to keep, 0 to 1, unless the caller has already decided.',
  ),
} satisfies SettingsArea
