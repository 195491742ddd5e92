// TABLE of icons: strokes on a 24 × 24 grid. They are decorative; the text beside them has the
// meaning.
const PATHS = {
  overview: 'M4 19V10M10 19V5M16 19v-7M21 19H3',
  key: 'M14.5 9.5 21 3M18 6l2.5 2.5M9.5 19a5 5 0 1 1 0-10 5 5 0 0 1 0 10Z',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0ZM12 17v4',
  list: 'M8 6h13M8 12h13M8 18h13M3.5 6h.01M3.5 12h.01M3.5 18h.01',
  socket: 'M4 9h13M14 6l3 3-3 3M20 15H7M10 12l-3 3 3 3',
  convert: 'M4 4h9l5 5v11H4ZM13 4v5h5M8 13h6M8 16.5h6',
  token: 'M12 3 4 6.5v5c0 4.6 3.3 8 8 9.5 4.7-1.5 8-4.900 8-9.500v-5ZM9 12l2 2 4-4',
  people:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM2.500 20a6.500 6.500 0 0 1 13 0M16 4.300a3.500 3.500 0 0 1 0 6.400M18 14.500a6.500 6.500 0 0 1 3.500 5.500',
  book: 'M5 4.500A1.500 1.500 0 0 1 6.500 3H19v15H6.500A1.500 1.500 0 0 0 5 19.500ZM5 19.500A1.500 1.500 0 0 0 6.500 21H19v-3',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500Z',
  system: 'M4 5h16v11H4ZM9 20h6M12 16v4',
  copy: 'M9 9h11v11H9ZM5 15H4V4h11v1',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  alert: 'M12 4 2.500 20h19ZM12 10v4M12 17h.01',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  upload: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  back: 'M15 6l-6 6 6 6',
  leave: 'M14 4h6v16h-6M10 8l-4 4 4 4M6 12h9',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.500 2',
  person: 'M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21a8 8 0 0 1 16 0',
} as const

/** The name of an icon. */
export type IconName = keyof typeof PATHS

/** An icon as inline SVG, hidden from screen readers. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The product's logo. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#17704e" />
      <path
        d="M8 10h16M16 10v13M11 23h10"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
        fill="none"
      />
    </svg>
  )
}
