// What goes in and out, without the engine: for programs that look at a file or offer the flavors,
// and convert elsewhere. It loads three modules instead of two hundred.
export { looksLikeHtml, looksLikeZip } from './decode.ts'
export { FLAVOR_NAMES, type Flavor } from './archive/pages/flavors.ts'
