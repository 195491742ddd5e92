// The conversion that was begun last. It stands above the pages: whoever looks at another one meanwhile finds it again, or its document, which is nowhere else.
import { createContext, use, type ReactNode } from 'react'
import { useConversion } from '../api/convert.ts'
import { useAskBeforeLeaving } from '../ui/ask-before-leaving.ts'

const Conversion = createContext<ReturnType<typeof useConversion> | null>(null)

export function Converting({ children }: { children: ReactNode }) {
  const conversion = useConversion()
  useAskBeforeLeaving(conversion.isPending)
  return <Conversion value={conversion}>{children}</Conversion>
}

/** Only pages behind the sign-in may ask. */
export function useLastConversion(): ReturnType<typeof useConversion> {
  const conversion = use(Conversion)
  if (conversion === null) throw new Error('nothing is converted here')
  return conversion
}
