// How far apart two colours are for somebody, whatever cones they have.

export type Sight = 'all cones' | 'protan' | 'deutan' | 'tritan'
type Triple = readonly [number, number, number]
type Matrix = readonly [Triple, Triple, Triple]

/**
 * TABLE of sights: what is seen of linear sRGB (Machado, Oliveira and Fernandes 2009, severity 1).
 */
export const SIGHTS: Readonly<Record<Sight, Matrix>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const times = (matrix: Matrix, v: Triple): Triple => [
  dot(matrix[0], v),
  dot(matrix[1], v),
  dot(matrix[2], v),
]
const clamp = (v: Triple): Triple => [
  Math.min(1, Math.max(0, v[0])),
  Math.min(1, Math.max(0, v[1])),
  Math.min(1, Math.max(0, v[2])),
]

/** `#rrggbb` in linear light. */
function linear(hex: string): Triple {
  const part = (at: number): number => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }
  return [part(1), part(3), part(5)]
}

/** CIE L*a*b*, D65. */
function labOf(rgb: Triple): Triple {
  const x = dot([0.4124564, 0.3575761, 0.1804375], rgb) / 0.95047
  const y = dot([0.2126729, 0.7151522, 0.072175], rgb)
  const z = dot([0.0193339, 0.119192, 0.9503041], rgb) / 1.08883
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))]
}

const RAD = Math.PI / 180

/** CIEDE2000 between two colours (`#rrggbb`), as this sight sees them. */
export function distance(first: string, second: string, sight: Sight): number {
  const [L1, a1, b1] = labOf(clamp(times(SIGHTS[sight], linear(first))))
  const [L2, a2, b2] = labOf(clamp(times(SIGHTS[sight], linear(second))))
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2
  const G = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
  const [x1, x2] = [a1 * (1 + G), a2 * (1 + G)]
  const [C1, C2] = [Math.hypot(x1, b1), Math.hypot(x2, b2)]
  const hue = (x: number, b: number): number =>
    x === 0 && b === 0 ? 0 : (Math.atan2(b, x) / RAD + 360) % 360
  const [h1, h2] = [hue(x1, b1), hue(x2, b2)]
  const turn = C1 * C2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180
  const dH = 2 * Math.sqrt(C1 * C2) * Math.sin((turn / 2) * RAD)
  const [L, C] = [(L1 + L2) / 2, (C1 + C2) / 2]
  const h = C1 * C2 === 0 ? h1 + h2 : (h1 + turn / 2 + 360) % 360
  const T =
    1 -
    0.17 * Math.cos((h - 30) * RAD) +
    0.24 * Math.cos(2 * h * RAD) +
    0.32 * Math.cos((3 * h + 6) * RAD) -
    0.2 * Math.cos((4 * h - 63) * RAD)
  const SL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2)
  const [SC, SH] = [1 + 0.045 * C, 1 + 0.015 * C * T]
  const RT =
    -Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * RAD) *
    2 *
    Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7))
  const [dL, dC] = [L2 - L1, C2 - C1]
  return Math.sqrt((dL / SL) ** 2 + (dC / SC) ** 2 + (dH / SH) ** 2 + RT * (dC / SC) * (dH / SH))
}

/** WCAG's contrast of two colours. */
export function contrast(first: string, second: string): number {
  const light = (hex: string): number => dot([0.2126, 0.7152, 0.0722], linear(hex)) + 0.05
  const [a, b] = [light(first), light(second)]
  return Math.max(a, b) / Math.min(a, b)
}
