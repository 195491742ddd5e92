/**
 * The item at an index that the caller knows to be inside the list.
 *
 * @throws RangeError if it is not, which is a bug in the caller
 */
export function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index]
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${list.length}`)
  return item
}
