import type { NewKey } from '../api/shapes.ts'
import { useSeenModels } from '../api/usage.ts'
import { keySnippets } from '../snippets.ts'
import { NewSecret } from './new-secret.tsx'

/** A key's secret, when the key was made or rotated. */
export function NewKeySecret({ made: { secret, models } }: { made: NewKey }) {
  const seen = useSeenModels()
  return (
    <NewSecret text={secret} what="the key" snippets={keySnippets(secret, models, seen)}>
      Copy the key now and keep it where secrets are kept. It is stored as a hash only, and cannot be shown again.
    </NewSecret>
  )
}
