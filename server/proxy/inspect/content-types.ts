// Decides from its content type how a body can be read.

/**
 * Charsets in which every byte below 128 is the ASCII character, and every ASCII character is one
 * byte: ids and JSON's punctuation are as in UTF-8.
 */
const ASCII_COMPATIBLE =
  /^(?:utf-?8|us-?ascii|ascii|ansi_x3\.4-1968|iso-?8859-?\d{1,2}|iso_8859-\d{1,2}|latin-?\d{1,2}|windows-125\d|cp-?125\d|koi8-[ru])$/i
const CHARSET = /;[ \t]*charset\*?[ \t]*=[ \t]*("?)([^";\s]*)\1/gi

/** Whether a content type's charsets leave ASCII unchanged, which is also so without a charset. */
export function isAsciiCompatible(type: string): boolean {
  if (!type.includes(';')) return true
  return [...type.matchAll(CHARSET)].every(([, , charset = '']) => ASCII_COMPATIBLE.test(charset))
}

/** Sound, pictures and files, which no API reads as a request. Their bytes are arbitrary. */
const MEDIA =
  /^(?:(?:audio|image|video|font)\/|application\/(?:octet-stream|pdf|zip|gzip|x-gzip|x-tar|x-zip-compressed|ogg|msword|rtf|epub\+zip|vnd\.(?:ms-|openxmlformats-|oasis\.))|binary\/octet-stream)/i

/**
 * Whether a content type declares a body to be a file of sound, pictures or the like. SVG is XML,
 * but counts as a picture.
 */
export const isMedia = (type: string): boolean => MEDIA.test(type.trim())
