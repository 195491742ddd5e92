// Reads the boundary of a multipart content type.

/**
 * The boundary of a multipart/form-data content type, or null when there is not exactly one plain
 * one.
 * @param contentType the value of the header
 */
export function boundaryOf(contentType: string): string | null {
  const found =
    /^multipart\/form-data[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;[ \t]*boundary=(?:"([^"\\]+)"|([^\s;,"]+))[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?$/i.exec(
      contentType.trim(),
    )
  const boundary = found?.[1] ?? found?.[2]
  // RFC 2046 §5.1.1: 1 to 70 of these characters, not ending with a space.
  return boundary !== undefined &&
    /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary)
    ? boundary
    : null
}

/**
 * The boundary of a multipart/related content type (RFC 2387), or null when there is not exactly
 * one plain one.
 */
export function relatedBoundaryOf(contentType: string): string | null {
  const plain = contentType
    .trim()
    .replace(/;[ \t]*type=(?:"application\/json"|application\/json)[ \t]*(?=;|$)/i, '')
  return /^multipart\/related[ \t]*;/i.test(plain)
    ? boundaryOf(plain.replace(/^multipart\/related/i, 'multipart/form-data'))
    : null
}
