// A key's secret, the only time that it is shown, with code that uses it.
import { Button } from '@mantine/core'
import type { NewKey } from '../api/shapes.ts'
import { keySnippets } from '../snippets.ts'
import { Secret, Snippets } from '../ui/bits.tsx'
import { Buttons, Fields } from '../ui/page.tsx'

export function NewSecret({ made, onDone }: { made: NewKey; onDone: () => void }) {
  return (
    <Fields>
      <p style={{ margin: 0 }}>Copy the key now and keep it where secrets are kept. It is stored as a hash only, and cannot be shown again.</p>
      <Secret text={made.secret} what="the key" />
      <Snippets label="Use it" items={keySnippets(made.secret, made.models)} />
      <Buttons>
        <Button onClick={onDone}>I have copied it</Button>
      </Buttons>
    </Fields>
  )
}
