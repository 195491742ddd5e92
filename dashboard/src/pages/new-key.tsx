import type { NewKey } from '../api/shapes.ts'
import { NewSecret } from './new-secret.tsx'
import { UseKey } from './use-key.tsx'

/** The secret of a created or rotated key. */
export function NewKeySecret({ made }: { made: NewKey }) {
  return (
    <NewSecret
      text={made.secret}
      what="the key"
      code={<UseKey scope={made} secret={made.secret} />}
    >
      Copy your key now and store it somewhere safe. You won't be able to see it again.
    </NewSecret>
  )
}
