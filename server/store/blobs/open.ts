// Opens the storage of blobs that the settings name.
import { join } from 'node:path'
import type { Config } from '../../config/settings.ts'
import { SetupError } from '../../common/errors.ts'
import type { Scratch } from '../scratch.ts'
import type { BlobStore } from './blobs.ts'
import { folderBlobs } from './folder.ts'

/**
 * Opens the storage for files; it is closed with `closing`.
 *
 * @throws SetupError if the S3 settings are incomplete
 */
export async function openBlobs(
  { data, s3Endpoint, s3Bucket, s3Region, s3KeyId, s3Secret }: Config['storage'],
  scratch: Scratch,
  closing: AsyncDisposableStack,
): Promise<BlobStore> {
  if (s3Bucket === null) {
    if (s3Endpoint !== null)
      throw new SetupError(
        'S3_ENDPOINT is set and S3_BUCKET is not. Set S3_BUCKET to the bucket for files.',
      )
    return folderBlobs(join(data, 'blobs'))
  }
  if ((s3KeyId === null) !== (s3Secret === null))
    throw new SetupError(
      'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together: set both, or neither.',
    )
  const credentials =
    s3KeyId === null || s3Secret === null
      ? null
      : { accessKeyId: s3KeyId, secretAccessKey: s3Secret }
  const { s3Blobs } = await import('./s3.ts')
  return closing.use(
    await s3Blobs(
      { endpoint: s3Endpoint, bucket: s3Bucket, region: s3Region, credentials },
      scratch,
    ),
  )
}
