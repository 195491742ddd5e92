// TABLE of commands.
import type { Command } from '../command.ts'
import { SHELLS } from '../completion.ts'
import { Misuse } from '../failure.ts'
import { write } from '../output.ts'
import { ACCOUNTS } from './accounts.ts'
import { BACKUPS } from './backup.ts'
import { CONVERT } from './convert.ts'
import { CREDENTIALS } from './credentials.ts'
import { DOCTOR } from './doctor.ts'
import { ENV } from './env.ts'
import { JOBS } from './jobs.ts'
import { KEYS } from './keys.ts'
import { MIGRATE } from './migrate.ts'
import { PROVIDERS } from './providers.ts'
import { REQUESTS } from './requests.ts'
import { SERVE } from './serve.ts'
import { TOKENS } from './tokens.ts'
import { USAGE } from './usage.ts'
import { VACUUM } from './vacuum.ts'
import { VERIFY } from './verify.ts'

/** TABLE of command groups. */
export const GROUPS: Readonly<Record<string, string>> = {
  keys: 'proxy keys, for calling providers',
  tokens: 'API tokens, which open the API',
  accounts: 'accounts, their plans and roles',
  requests: 'the ledger of proxied requests',
  providers: 'providers that can be called',
  credentials: 'provider credentials',
  jobs: 'conversions in the background',
}

const COMPLETION: Command = {
  name: 'completion',
  args: '<shell>',
  summary: 'print a script that completes commands: bash, zsh or fish',
  options: [],
  examples: [
    'source <(tollmark completion bash)      # in ~/.bashrc',
    'source <(tollmark completion zsh)       # in ~/.zshrc',
    'tollmark completion fish > ~/.config/fish/completions/tollmark.fish',
  ],
  run: async (_values, [shell = '']) => {
    const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
    if (!script)
      throw new Misuse(
        `There is no completion for "${shell}". Choose from ${Object.keys(SHELLS).join(', ')}.`,
      )
    await write(script(COMMANDS))
  },
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  SERVE,
  CONVERT,
  ...KEYS,
  ...TOKENS,
  ...ACCOUNTS,
  USAGE,
  ...REQUESTS,
  ...PROVIDERS,
  ...CREDENTIALS,
  ...JOBS,
  VERIFY,
  MIGRATE,
  ...BACKUPS,
  VACUUM,
  DOCTOR,
  ENV,
  COMPLETION,
]
