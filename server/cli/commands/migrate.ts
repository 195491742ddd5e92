// tollmark migrate
import { environment, readConfig } from '../../config/settings.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import { writeJson, writeLines } from '../output.ts'
import { counted } from '../../common/counted.ts'

/** Migrates the store to the schema of this version, as a server does when it starts. */
export const MIGRATE: Command = {
  name: 'migrate',
  summary: "migrate the database to this version's schema, or show what would run",
  options: [
    { flags: '--dry-run', summary: 'only list the migrations that would run' },
    JSON_OPTION,
  ],
  notes:
    'A server does this when it starts. Run it yourself to check that the database user may change the schema, or to\n' +
    'migrate before the first new server starts. A migration is all or nothing.',
  examples: ['tollmark migrate --dry-run', 'tollmark migrate'],
  run: async (values) => {
    const { inspectStore } = await import('../../store/inspect.ts')
    const { storage } = readConfig(environment(process.cwd()))
    const { store, pending } = await inspectStore(storage)
    const dryRun = values.flag('dry-run')
    if (!dryRun) {
      const { openStore } = await import('../../store/open.ts')
      await using _ = await openStore({ ...storage, now: Date.now() })
    }
    if (values.flag('json'))
      return writeJson({ object: 'migration', store, dry_run: dryRun, migrations: pending })
    if (pending.length === 0) return writeLines(['The database has the schema of this version.'])
    await writeLines([
      ...pending,
      `${counted(pending.length, 'migration')} ${dryRun ? 'would run' : 'done'}.`,
    ])
  },
}
