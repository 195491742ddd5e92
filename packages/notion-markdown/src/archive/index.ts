// Node only: whole exports. Pages themselves are converted by the package's main entry.
export { openExport, type ExportOptions, type ExportPage, type NotionExport } from './export.ts'
export { InvalidArchive, type ArchiveFault } from './invalid-archive.ts'
export { LIMITS, OWN_LIMITS, type ArchiveLimits } from './limits.ts'
export { pathKey } from './names.ts'
export { bytesSource, fileSource, rangeSource, type ByteSource, type OpenSource } from './source.ts'
export {
  checkArchive,
  convertFile,
  convertShare,
  joinShares,
  unpackArchive,
  type ConvertOptions,
  type Converted,
  type OnPage,
  type Share,
  type Write,
} from './convert.ts'
export { convertPages, joinPages } from './pages/convert-pages.ts'
export { FLAVOR_NAMES, type Flavor } from './pages/flavors.ts'
export type { Certificate, Difference, NotInExport, Totals } from '../certificate/certificate.ts'
export { hashFile } from './certify.ts'
export { foldName } from './pages/file-names.ts'
export { MANIFEST, readManifest, writeManifest, type ManifestFile } from './pages/manifest.ts'
export { readPages, type PageFile } from './pages/read-pages.ts'
export { extractAssets } from './assets.ts'
export { ZipWriter } from './zip-writer.ts'
