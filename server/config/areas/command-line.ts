// The settings of commands that talk to a running server.
import { credential, setting, url, type SettingsArea } from '../setting-kinds.ts'

/** TABLE of the settings of commands that talk to a running server. */
export const commandLine = {
  url: setting(
    'TOLLMARK_URL',
    url('http:', 'https:'),
    null,
    'The running server that commands talk to; unset, they use the database in the current folder.',
  ),
  token: setting(
    'TOLLMARK_TOKEN',
    credential,
    null,
    'The API token that commands send to that server.',
    { secret: true },
  ),
} satisfies SettingsArea
