// The schema of conversion certificates in /openapi.json.
import { z } from '@hono/zod-openapi'

const count = z.number().int()
const counts = <K extends string>(...names: K[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, count])) as Record<K, typeof count>)

const TotalsSchema = z
  .object({
    pages: count,
    words: count,
    blocks: counts(
      'headings',
      'bulleted',
      'numbered',
      'to_dos',
      'to_dos_done',
      'toggles',
      'quotes',
      'code',
      'equations',
      'dividers',
      'images',
      'tables',
    ),
    rows: count,
    cells: count,
    equations: count,
    code_bytes: count,
    links: counts('web', 'notion', 'pages', 'files').openapi({
      description: 'Distinct link addresses of each page, by target.',
    }),
    assets: counts('local', 'web').openapi({ description: 'Distinct images of each page.' }),
  })
  .openapi('CertificateTotals')

/** A certificate as the API shows it. */
export const CertificateSchema = z
  .object({
    in: TotalsSchema,
    out: TotalsSchema,
    differences: z.array(
      z.object({ page: z.string(), kind: z.string(), in: count, out: count, detail: z.string() }),
    ),
    input_sha256: z.string().nullable(),
    output_sha256: z
      .string()
      .openapi({ description: 'Of the document or, for JSON, of its `markdown` in UTF-8.' }),
    not_in_export: z.array(
      z.object({ what: z.string(), count: count.nullable(), detail: z.string() }),
    ),
  })
  .openapi('Certificate')
