// What the pages of the dashboard ask the API for.
import { DAY } from '../../server/common/clock.ts'

/** TABLE of their requests, as paths below `/api/v1/`. @param now milliseconds since 1970 */
export function dashboardPaths(key: string, now: number): string[] {
  const middle = new Date(now - 15 * DAY).toISOString()
  const before = new Date(now - 14 * DAY).toISOString()
  const recently = new Date(now - 2 * DAY).toISOString()
  return [
    'overview?range=hour',
    'overview?range=day',
    'overview?range=month',
    `overview?range=month&key=${key}`,
    'overview?range=month&model=o3',
    'overview?range=month&account=all',
    'usage?by=day',
    'usage?by=day,model',
    'usage?by=day,key&top=5',
    'usage?by=day,model&top=5',
    'usage?by=key&top=5',
    `usage?by=hour&from=${recently}`,
    `usage?by=hour&key=${key}&from=${recently}`,
    'usage?by=model',
    'usage?by=key&top=5&account=all',
    'models',
    'keys?limit=25',
    'keys?limit=100',
    'keys?limit=25&sort=name',
    'keys?limit=25&sort=-last_used_at',
    'keys?limit=25&sort=-requests',
    'keys?limit=25&model=o3',
    'keys?limit=25&account=all',
    `keys/${key}`,
    'requests?limit=50',
    `requests?limit=50&key=${key}`,
    'requests?limit=50&status=5xx',
    'requests?limit=50&model=o3',
    'requests?limit=50&model=nothing',
    'requests?limit=50&status=404',
    `requests?limit=50&from=${middle}&to=${before}`,
    'requests?limit=50&account=all',
    `requests?limit=50&key=${key}&status=5xx&from=${middle}`,
    'requests?limit=50&state=aborted',
    'providers',
    'credentials',
    'tokens',
    'accounts',
    'invitations',
    'plans',
    'session',
  ]
}
