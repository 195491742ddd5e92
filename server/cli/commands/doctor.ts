// tollmark doctor
import { SetupError } from '../../common/errors.ts'
import { environment, readConfig } from '../../config/settings.ts'
import { transientProblem } from '../../store/transient-errors.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import type { Finding } from '../doctor/checks.ts'
import { AlreadyReported } from '../failure.ts'
import { writeJson, writeLines } from '../output.ts'

/** Checks what a server needs from its environment. */
export const DOCTOR: Command = {
  name: 'doctor',
  summary: 'check what a server needs: versions, clock, disk, limits, files, credentials',
  options: [JSON_OPTION],
  notes:
    "Run it as the server's user and with its settings, even while the server runs. It changes no data. Exits with 1\n" +
    'if something does not work; warnings can wait.',
  examples: ['tollmark doctor'],
  run: async (values) => {
    const { CHECKS, examine } = await import('../doctor/checks.ts')
    const examined = await examine(readConfig(environment(process.cwd())))
    await using _ = examined.store
    const checks: { name: string; status: Finding[0]; detail: string }[] = []
    for (const { name, look } of CHECKS) {
      const [status, detail] = await look(examined).catch(findingOf)
      checks.push({ name, status, detail })
    }
    const ok = checks.every(({ status }) => status !== 'failed')
    if (values.flag('json')) await writeJson({ object: 'examination', ok, checks })
    else
      await writeLines(
        checks.map(
          ({ name, status, detail }) => `${status.padEnd(8)} ${name.padEnd(12)} ${detail}`,
        ),
      )
    if (!ok) throw new AlreadyReported()
  },
}

/** The finding for a check that failed to run. @throws any unexpected error */
function findingOf(error: unknown): Finding {
  const sentence = error instanceof SetupError ? error.message : transientProblem(error)?.detail
  if (sentence === undefined) throw error
  return ['failed', sentence]
}
