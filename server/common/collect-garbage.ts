// V8's garbage collector as a function.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * The `gc` that `--expose-gc` would give. With that flag, V8 rejects the compiled code of Node's
 * own modules, so the process and each of its threads would take 60 ms longer to start. A new
 * context has the function if the flag was set when it was made.
 */
export const collectGarbage: NodeJS.GCFunction = exposeCollector()

function exposeCollector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc') as NodeJS.GCFunction
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
