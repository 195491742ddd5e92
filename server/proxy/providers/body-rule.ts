// Where the body of a request names models and stored objects.
import type { KeyedTools, ToolPlace } from './tool-types.ts'

/**
 * The places of models in a request body, as paths of scanner.ts. In multipart bodies `required`
 * and `also` are field names.
 */
export interface BodyRule {
  /** At least one of these must name a model, unless the path does, or the list is empty. */
  readonly required: readonly string[]
  /** Further places that name a model, if they exist. */
  readonly also?: readonly string[]
  /**
   * Places that refer to a stored object that chooses the model: if one exists, scoped keys are
   * refused.
   */
  readonly stored?: readonly string[]
  /** Lists on these paths that may be text instead, which names nothing. */
  readonly texts?: readonly string[]
  /** Places of text for a model to read, draw, speak or search: an id alone there is prose. */
  readonly prose?: readonly string[]
  /** The places of tools that may run models of their own. */
  readonly tools?: readonly ToolPlace[]
  /** Tools that are identified by their keys. */
  readonly keyedTools?: KeyedTools
  /** Places that name a stored object, and its kind. */
  readonly objects?: Readonly<Record<string, string>>
  /** The place that says whether the provider keeps the response, and the values for "yes". */
  readonly keeps?: { readonly at: string; readonly by: readonly unknown[] }
  /** Whether multipart/form-data is accepted, too. */
  readonly multipart?: true
  /**
   * A form that is accepted, too: its part `part` is this body as JSON, and its other parts are
   * files with these names.
   */
  readonly formJson?: { readonly part: string; readonly files: readonly string[] }
}
