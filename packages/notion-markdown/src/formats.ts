// Input and output formats, without the engine: for programs that inspect a file or list the
// flavors, and convert elsewhere. It loads three modules instead of two hundred.
export { looksLikeHtml, looksLikeZip } from './decode.ts'
export { FLAVOR_NAMES, type Flavor } from './archive/pages/flavors.ts'
