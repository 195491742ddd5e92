import type { NewKey } from '../api/shapes.ts'
import { NewSecret } from './new-secret.tsx'
import { UseKey } from './use-key.tsx'

/** A key's secret, when the key was made or rotated. */
export function NewKeySecret({ made }: { made: NewKey }) {
  return (
    <NewSecret text={made.secret} what="the key" code={<UseKey scope={made} secret={made.secret} />}>
      Copy the key now and keep it where you keep secrets. It is stored as a hash only and cannot be shown again.
    </NewSecret>
  )
}
