// Sends one request to an origin by way of a base URL, and prints the status or how it failed.
import { createHttpClient, destinationOf } from '../../../server/http1/client/client.ts'
import { LIMITS } from '../../proxy/support/relayed.ts'
import { createTurns } from '../../../server/common/fairness/turn-budget.ts'

const [origin = '', base = ''] = process.argv.slice(2)
const upstream = createHttpClient(LIMITS, () => performance.now(), createTurns)
upstream.send(
  {
    destination: destinationOf(new URL(origin), new URL(base)),
    method: 'GET',
    path: '/',
    headers: ['Authorization', 'Bearer secret'],
    body: null,
  },
  {
    onInterim() {},
    onHead: (status) => console.log(status),
    onBody() {},
    onPause() {},
    onEnd: () => upstream.close(),
    onError: ({ code }) => console.log(code),
  },
)
