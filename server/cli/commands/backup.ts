// tollmark backup, restore
import { environment, readConfig } from '../../config/settings.ts'
import { JSON_OPTION, type Command } from '../command.ts'
import { runInterruptible } from '../interrupt.ts'
import { writeJson, writeLines } from '../output.ts'
import type { OptionValues } from '../values.ts'
import { counted } from '../../common/counted.ts'

/** Copies a store while servers run on it. */
const BACKUP: Command = {
  name: 'backup',
  args: '<target>',
  summary: 'back up the database to a folder or a bucket, while servers run on it',
  options: [
    { flags: '--recipient <file>', summary: 'encrypt for this public key (X25519, PEM)' },
    JSON_OPTION,
  ],
  notes:
    'Creates a folder in the target: a snapshot of the database, the files in the data folder, and a manifest. A\n' +
    'bucket is s3://BUCKET/PREFIX, with the S3 settings. For PostgreSQL it needs pg_dump.\n\n' +
    'The master key is only in encrypted backups. A key pair for those:\n' +
    '  openssl genpkey -algorithm X25519 -out backup.key        # keep it elsewhere\n' +
    '  openssl pkey -in backup.key -pubout -out backup.pub',
  examples: [
    'tollmark backup /var/backups/tollmark',
    'tollmark backup s3://backups/tollmark --recipient backup.pub',
  ],
  run: (values, [target = '']) => runInterruptible((signal) => backUp(values, target, signal)),
}

async function backUp(values: OptionValues, target: string, signal: AbortSignal): Promise<void> {
  const { makeBackup, readPem } = await import('../../store/backup/backup.ts')
  const { readRecipient } = await import('../../store/backup/encryption.ts')
  const env = environment(process.cwd())
  const { storage } = readConfig(env)
  const key = values.text('recipient')
  const recipient = key === undefined ? null : readRecipient(await readPem('--recipient', key))
  const { location, manifest } = await makeBackup({
    storage,
    target,
    recipient,
    env,
    now: Date.now(),
    signal,
  })
  const { created_at, store, schema, encrypted, files } = manifest
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const master_key = files.some(({ name }) => name === 'master.key')
  if (values.flag('json'))
    return writeJson({
      object: 'backup',
      location,
      created_at,
      store,
      schema,
      encrypted,
      master_key,
      files: files.length,
      bytes,
    })
  await writeLines([
    location,
    `${counted(files.length, 'file')}, ${counted(bytes, 'byte')}${encrypted ? ', encrypted' : ''}. ${master_key ? 'It contains the master key.' : 'It does not contain the master key: keep that elsewhere.'}`,
  ])
}

/** Restores a backup. */
const RESTORE: Command = {
  name: 'restore',
  args: '<backup>',
  summary: 'restore a backup into an empty data folder or database',
  options: [
    { flags: '--identity <file>', summary: 'decrypt with this private key (X25519, PEM)' },
    JSON_OPTION,
  ],
  notes:
    'Checks every file before anything changes. Nothing is overwritten: TOLLMARK_DATA, or the database of DATABASE_URL,\n' +
    'must be empty. Then start the server, and run "tollmark verify".',
  examples: [
    'TOLLMARK_DATA=/var/lib/tollmark tollmark restore /var/backups/tollmark/tollmark-2027-01-31T12-00-00.000Z',
    'tollmark restore s3://backups/tollmark/tollmark-2027-01-31T12-00-00.000Z --identity backup.key',
  ],
  run: (values, [source = '']) => runInterruptible((signal) => restore(values, source, signal)),
}

async function restore(values: OptionValues, source: string, signal: AbortSignal): Promise<void> {
  const { restoreBackup } = await import('../../store/backup/restore.ts')
  const { readPem } = await import('../../store/backup/backup.ts')
  const { readIdentity } = await import('../../store/backup/encryption.ts')
  const env = environment(process.cwd())
  const { storage } = readConfig(env)
  const key = values.text('identity')
  const identity = key === undefined ? null : readIdentity(await readPem('--identity', key))
  const { created_at, store, schema, files, journal } = await restoreBackup({
    storage,
    source,
    identity,
    env,
    signal,
  })
  const master_key = files.some(({ name }) => name === 'master.key')
  if (values.flag('json'))
    return writeJson({
      object: 'restore',
      location: source,
      created_at,
      store,
      schema,
      master_key,
      files: files.length,
      journal,
    })
  await writeLines([
    `Restored the backup of ${created_at}${journal === 0 ? '' : ` and its journal (${counted(journal, 'file')})`}. Start the server, then run "tollmark verify".`,
  ])
}

/** The commands of backups. */
export const BACKUPS: readonly Command[] = [BACKUP, RESTORE]
