// Loaded into a server before its own code: after each SIGUSR2, writes which functions have run on
// the main thread since the last one to the file that BENCH_COVERAGE names.
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

const target = process.env.BENCH_COVERAGE
if (isMainThread && target !== undefined) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  process.on('SIGUSR2', () => {
    session.post('Profiler.takePreciseCoverage', (_, { result }) => {
      const ran = result
        .filter(({ url }) => url.startsWith('file:') && url.endsWith('.ts'))
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0)
            .map(({ functionName }) => `${url} ${functionName}`),
        )
      writeFileSync(`${target}.part`, JSON.stringify(ran))
      renameSync(`${target}.part`, target)
    })
  })
}
