// A certificate in one line.
import type { Certified } from '../api/convert.ts'
import { counted } from '../format.ts'
import css from './convert.module.css'

/** `12,480 words, 312 tables, 0 lost`; nothing without a certificate. */
export function CertifiedLine({ certified }: { certified: Certified | null | undefined }) {
  if (!certified) return null
  const { words, tables, differences } = certified
  return (
    <span className={css.certified} data-lost={differences > 0 ? '' : undefined}>
      {counted(words, 'word')}, {counted(tables, 'table')},{' '}
      {differences === 0 ? '0 lost' : counted(differences, 'difference')}
    </span>
  )
}
