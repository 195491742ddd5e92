const AGAIN = 'Export it from Notion again and upload the file as it is.'

/** TABLE of the reasons to reject an archive, and the sentences for the person who uploaded it. */
export const REASONS = {
  // The whole file
  empty_file: 'The file is empty. Upload the ZIP archive that Notion made.',
  no_end:
    'The ZIP archive is cut off, or is not a ZIP archive: its end is missing. Download it again and upload the complete file.',
  cut_end:
    'The ZIP archive is cut off in its last bytes. Download it again and upload the complete file.',
  trailing_bytes:
    'The ZIP archive is followed by {n} bytes that do not belong to it. Upload the file as Notion made it.',
  leading_bytes:
    'The ZIP archive is preceded by {n} bytes that do not belong to it. Upload the file as Notion made it.',
  ambiguous_end:
    'The ZIP archive has more than one end, so what it contains is ambiguous. Upload the file as Notion made it.',
  end_in_comment:
    'The comment of the ZIP archive hides a second end record. Upload the file as Notion made it.',
  multi_disk:
    'The ZIP archive is split over several files. Join them, or export from Notion again, and upload one complete archive.',
  no_entries: 'The ZIP archive is empty: it contains no files.',
  zip64_locator: 'The ZIP archive announces a ZIP64 end record that is not where it says. ' + AGAIN,
  zip64_end: "The ZIP archive's ZIP64 end record is malformed. " + AGAIN,
  zip64_disagrees: "The ZIP archive's two end records contradict each other. " + AGAIN,

  // The central directory
  too_many_entries:
    'The ZIP archive has {n} entries; at most {max} are accepted. Export fewer pages at a time.',
  directory_too_large:
    "The ZIP archive's directory takes {n} bytes; at most {max} are accepted. Export fewer pages at a time.",
  directory_outside:
    'The ZIP archive is cut off or damaged: its directory would lie outside the file. Download it again.',
  directory_gap: 'The ZIP archive hides {n} bytes between its directory and its end. ' + AGAIN,
  entry_count: 'The ZIP archive announces {max} entries but lists {n}. ' + AGAIN,
  directory_record:
    "The ZIP archive's directory is damaged at its entry number {n}. Download it again.",
  directory_leftover: "The ZIP archive's directory has {n} bytes after its last entry. " + AGAIN,

  // One entry
  encrypted:
    'The ZIP archive is protected by a password ("{name}" is encrypted). Upload it without a password.',
  patched: 'The entry "{name}" is a patch to another file. ' + AGAIN,
  method:
    'The entry "{name}" is compressed by a method that is not supported (number {n}). Pack it again with "deflate", the usual method.',
  entry_on_disk:
    'The entry "{name}" lies in another file of a split ZIP archive. Upload one complete archive.',
  extra_field: 'The entry "{name}" has a malformed extra field. ' + AGAIN,
  zip64_field:
    'The ZIP64 sizes of the entry "{name}" are missing, repeated or contradictory. ' + AGAIN,
  symlink: 'The entry "{name}" is a symbolic link. Upload an archive of plain files.',
  special_file:
    'The entry "{name}" is neither a plain file nor a folder. Upload an archive of plain files.',
  folder_with_data: 'The entry "{name}" is a folder and yet has content. ' + AGAIN,
  stored_size:
    'The entry "{name}" is stored without compression, yet its two sizes differ. ' + AGAIN,
  impossible_size: 'The entry "{name}" announces {n} bytes, more than its data can hold. ' + AGAIN,
  empty_crc: 'The entry "{name}" is empty, yet announces a checksum. ' + AGAIN,

  // Names
  name_empty: 'An entry of the ZIP archive has no name. ' + AGAIN,
  name_encoding: 'The name of the entry "{name}" is marked as UTF-8 and is not. ' + AGAIN,
  name_nul: 'The name of the entry "{name}" contains a zero byte. ' + AGAIN,
  name_absolute: 'The entry "{name}" has an absolute path. ' + AGAIN,
  name_drive: 'The name of the entry "{name}" starts with a drive letter. ' + AGAIN,
  name_traversal: 'The entry "{name}" would lie outside the archive (".." in its path). ' + AGAIN,
  name_segment: 'The path of the entry "{name}" has an empty or "." part. ' + AGAIN,
  duplicate: 'The ZIP archive has two entries named "{name}". ' + AGAIN,
  duplicate_unicode:
    'The ZIP archive has two entries whose names differ only in how accents are encoded: "{name}". ' +
    AGAIN,
  file_and_folder: 'In the ZIP archive "{name}" is a file and a folder at once. ' + AGAIN,

  // The layout of the entries
  overlap: 'The data of the entries "{name}" and "{other}" overlap. ' + AGAIN,
  overlap_directory: 'The data of the entry "{name}" runs into the archive\'s directory. ' + AGAIN,
  hidden_bytes:
    'The ZIP archive hides {n} bytes after the entry "{name}" that belong to no entry. ' + AGAIN,
  hidden_directory: 'After the entry "{name}" the ZIP archive hides a second directory. ' + AGAIN,
  hidden_entry:
    'After the entry "{name}" the ZIP archive hides an entry that its directory does not list. ' +
    AGAIN,
  local_missing: 'The entry "{name}" is not where the ZIP archive\'s directory says. ' + AGAIN,
  local_name:
    'The entry "{name}" has another name in its own header ("{other}") than in the archive\'s directory. ' +
    AGAIN,
  local_flags:
    'The flags of the entry "{name}" differ between its own header and the archive\'s directory. ' +
    AGAIN,
  local_method:
    'The compression of the entry "{name}" differs between its own header and the archive\'s directory. ' +
    AGAIN,
  local_size:
    'The size of the entry "{name}" differs between its own header and the archive\'s directory. ' +
    AGAIN,
  local_crc:
    'The checksum of the entry "{name}" differs between its own header and the archive\'s directory. ' +
    AGAIN,
  descriptor_missing:
    'The entry "{name}" announces sizes after its data that are not there. ' + AGAIN,
  descriptor:
    'The sizes or checksum after the data of the entry "{name}" differ from the archive\'s directory. ' +
    AGAIN,

  // Content
  damaged_data:
    'The data of the entry "{name}" is damaged and cannot be inflated. Download the archive again.',
  truncated_data: 'The data of the entry "{name}" is cut off. Download the archive again.',
  longer_than_declared:
    'The entry "{name}" inflates to more than the {n} bytes that it announces. ' + AGAIN,
  shorter_than_declared:
    'The entry "{name}" inflates to less than the {n} bytes that it announces. ' + AGAIN,
  data_leftover: 'The entry "{name}" hides {n} bytes after its data. ' + AGAIN,
  crc: 'The content of the entry "{name}" does not match its checksum: it is damaged. Download the archive again.',

  // The export
  no_pages: 'The ZIP archive contains no HTML page. In Notion choose Export with the format HTML.',
  no_pages_markdown:
    'The ZIP archive is an export as Markdown & CSV: it contains no HTML page. In Notion choose Export with the format HTML.',
  no_pages_pdf:
    'The ZIP archive is an export as PDF: it contains no HTML page. In Notion choose Export with the format HTML.',
  other_document:
    'The file is {name}, not a Notion export. In Notion choose Export with the format HTML.',
  only_junk:
    'The ZIP archive contains nothing but files that an operating system added ("{name}"). Upload the ZIP archive that Notion made.',
  only_sitemap:
    'The ZIP archive contains only the table of contents of an export (index.html), and none of its pages. Upload the other parts of the export.',
  zip_of_zips:
    'The ZIP archive contains no page, but other archives (such as "{name}"). Unpack it, and upload the archive inside.',
  parts_in_folder:
    'The parts of the export lie in a folder of the ZIP archive ("{name}"). Upload the archive as Notion made it, or pack its parts without a folder.',
  part_alone:
    'This is part {n} of an export, and it contains no page. Upload the archive that Notion made, with all of its parts.',
  too_many_parts:
    'The ZIP archive contains {n} part archives; at most {max} are opened. Upload them one by one.',
  parts_too_large:
    'The part archives inside the ZIP archive inflate to {n} bytes; at most {max} are accepted. Upload them one by one.',
  page_too_large: 'The page "{name}" has {n} bytes; at most {max} are accepted.',
  page_too_dense:
    'The page "{name}" has more than {max} tags and lines. Split it in Notion and export the parts.',
  pages_too_large:
    'The pages of the ZIP archive are {n} bytes together; at most {max} are accepted. Export fewer pages at a time.',
  result_too_large:
    'The result would have more than {max} bytes, more than any real export becomes. Export fewer pages at a time.',
  bomb_page:
    'The page "{name}" inflates to {n} times its size, as no export does; at most {max} times is accepted.',
  bomb_pages:
    'The pages of the ZIP archive inflate to {n} times their size, as no export does; at most {max} times is accepted.',
  bomb_part:
    'The part archive "{name}" inflates to {n} times its size, as no export does; at most {max} times is accepted.',
  bomb_file:
    'The file "{name}" inflates to {n} times its size, as nothing in an export does; at most {max} times is accepted.',
  parts_disagree:
    'Two parts of the export contain different files of the name "{name}". Upload the parts one by one.',
}

/** The reason that an archive is rejected, by its row in `REASONS`. */
export type ArchiveFault = keyof typeof REASONS

/** The placeholders of a sentence: names are made printable and shortened. */
export interface FaultFacts {
  name?: string
  other?: string
  n?: number
  max?: number
}

/**
 * The error for an archive that is rejected, or an entry that is not read. `detail` is for the
 * person who uploaded it.
 */
export class InvalidArchive extends Error {
  override readonly name = 'InvalidArchive'
  readonly code = 'invalid_file'
  /** The row of the table: stable, for tests and logs. */
  readonly fault: ArchiveFault
  readonly facts: FaultFacts
  /** One or two sentences with only printable characters. */
  readonly detail: string

  constructor(fault: ArchiveFault, facts: FaultFacts = {}, part?: string) {
    const sentence = REASONS[fault].replaceAll(/\{(\w+)\}/g, (_, key: string) =>
      show(facts[key as keyof FaultFacts]),
    )
    const detail =
      part === undefined ? sentence : `In "${show(part)}", inside the archive: ${sentence}`
    super(detail)
    this.fault = fault
    this.detail = detail
    this.facts = facts
  }

  /** The same fault, of an archive inside the archive. */
  inPart(part: string): InvalidArchive {
    return new InvalidArchive(this.fault, this.facts, part)
  }
}

/** Names are untrusted: they must not affect a terminal, a log or a page's text direction. */
function show(fact: string | number | undefined): string {
  if (typeof fact === 'number') return fact.toLocaleString('en-US')
  const shown = [...(fact ?? '').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\uFFFD')]
  return shown.length > 100
    ? `${shown.slice(0, 60).join('')}…${shown.slice(-30).join('')}`
    : shown.join('')
}
