// An S3 server in a process of its own, which can be killed: `s3-process.ts FOLDER PORT`. It ends
// with whoever started it.
import S3rver from 's3rver'

const [directory, port] = process.argv.slice(2)
if (directory === undefined || port === undefined)
  throw new Error('usage: s3-process.ts FOLDER PORT')
await new S3rver({ port: Number(port), address: '127.0.0.1', silent: true, directory }).run()
process.stdin.resume().on('end', () => process.exit())
process.stdout.write('listening\n')
