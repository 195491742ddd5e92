// Converts the page at the first argument into the second one's folder on a converter of its own,
// says so, and stays until it is killed.
import { join } from 'node:path'
import { openConverterPool } from '../../server/conversion/pool/converter-pool.ts'

const [path = '', folder = ''] = process.argv.slice(2)
const converterPool = openConverterPool({ atOnce: 1, deadline: 30_000, heap: 64 * 1_048_576 })
const task = {
  path,
  kind: 'html',
  fileName: 'Page.html',
  uploadedAt: 0,
  format: 'markdown',
  includeMetadata: false,
  scratch: join(folder, 'scratch'),
  output: join(folder, 'out'),
} as const
await converterPool.run(task, { whole: true })
process.stdout.write('converted\n')
process.stdin.resume()
