// Renders an equation as MathML. KaTeX builds nodes, not HTML, so nothing is parsed.
import { render } from 'katex'
import { useEffect, useRef } from 'react'

/** Renders TeX with KaTeX; shows the source if it cannot be parsed. */
export default function Tex({ tex, display }: { tex: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (!place.current) return
    try {
      render(tex, place.current, {
        output: 'mathml',
        displayMode: display,
        throwOnError: true,
        strict: 'ignore',
        trust: false,
        maxSize: 20,
        maxExpand: 500,
      })
    } catch {
      // Show the source of invalid TeX.
      place.current.textContent = display ? `$$${tex}$$` : `$${tex}$`
    }
  }, [tex, display])
  return <span ref={place} />
}
