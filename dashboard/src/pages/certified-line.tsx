// A certificate in one line.
import type { Certified } from '../api/convert.ts'
import { fullyCounted } from '../format.ts'
import css from './convert.module.css'

/** `12,480 words, 312 tables, 0 lost`; nothing without a certificate. */
export function CertifiedLine({ certified }: { certified: Certified | null | undefined }) {
  if (!certified) return null
  const { words, tables, differences } = certified
  return (
    <span className={css.certified} data-lost={differences > 0 ? '' : undefined}>
      {fullyCounted(words, 'word')}, {fullyCounted(tables, 'table')},{' '}
      {differences === 0 ? '0 lost' : fullyCounted(differences, 'difference')}
    </span>
  )
}
