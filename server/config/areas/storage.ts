// The settings of the store, of files and of the master key.
import {
  choice,
  decoded,
  hostPart,
  key256,
  setting,
  text,
  url,
  type Kind,
  type SettingsArea,
} from '../setting-kinds.ts'

const database: Kind<URL> = {
  what: 'an address that begins with sqlite:///, or with postgres:// or postgresql:// and one host',
  parse: (value) => {
    const address = url('sqlite:', 'postgres:', 'postgresql:').parse(value)
    if (address === undefined || decoded(address.pathname) === undefined) return undefined
    // After only two slashes comes a host, which a file does not have.
    const isWrong =
      address.protocol === 'sqlite:'
        ? address.host !== '' || address.pathname === ''
        : // A list of hosts, which libpq would try one after another.
          address.host.includes(',')
    return isWrong ? undefined : address
  },
}

/** TABLE of the settings of the store, of files and of the master key. */
export const storage = {
  data: setting(
    'TOLLMARK_DATA',
    text,
    './data',
    'The folder for the database, stored files and the master key.',
  ),
  dataPersistent: setting(
    'TOLLMARK_DATA_PERSISTENT',
    choice('auto', 'yes', 'no'),
    'auto',
    'Whether TOLLMARK_DATA outlives the process, as a volume does and the file system of a container does not. With "no", requests get a 503 as soon as the database does not respond, because they could not be stored safely. "auto" means yes unless the folder is in memory (tmpfs).',
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    database,
    null,
    'The database; unset, a SQLite file in the data folder.',
    { secret: true },
  ),
  masterKey: setting(
    'TOLLMARK_MASTER_KEY',
    key256,
    null,
    'The key that encrypts stored provider credentials; unset, one is generated and kept in the data folder.',
    {
      secret: true,
    },
  ),
  backup: setting(
    'TOLLMARK_BACKUP',
    text,
    null,
    'A folder, or s3://BUCKET/PREFIX, to which a SQLite database is backed up while the server runs: completely at start and once a day, and every two seconds what has changed. Unset, backups are made only by the command "tollmark backup".',
  ),
  backupRecipient: setting(
    'TOLLMARK_BACKUP_RECIPIENT',
    text,
    null,
    'The file of the public key (X25519, PEM) that TOLLMARK_BACKUP encrypts for; unset, nothing is encrypted.',
  ),
  s3Endpoint: setting(
    'S3_ENDPOINT',
    url('http:', 'https:'),
    null,
    'The S3-compatible service for files; unset, Amazon S3 if S3_BUCKET is set.',
  ),
  s3Bucket: setting(
    'S3_BUCKET',
    text,
    null,
    'The bucket for files, created if it is missing; unset, files are kept in the data folder.',
  ),
  s3Region: setting('S3_REGION', hostPart, 'us-east-1', 'The region of the bucket.'),
  s3KeyId: setting(
    'S3_ACCESS_KEY_ID',
    text,
    null,
    'The access key for the bucket; unset, the credentials of the machine (such as a role).',
  ),
  s3Secret: setting('S3_SECRET_ACCESS_KEY', text, null, 'The secret of the access key.', {
    secret: true,
  }),
} satisfies SettingsArea
