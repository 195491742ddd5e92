// docs/clients.md, generated from the table of clients. A test compares the file with it;
// `UPDATE=1` with that test writes it.
import type { ClientSetup } from '../server/common/clients.ts'
import { fillTemplate } from '../server/common/clients.ts'
import { wrapProse } from './wrap-prose.ts'

const HEAD = `# Programs and SDKs

Programs that take a base URL need no package: \`/proxy/<host>/<path>\` is the provider's address behind the proxy's own. Put the proxy key where the provider's
key would go. \`npx tollmark env <client> --key tmk_…\` prints the settings below with your address and key; \`http://localhost:8484\` is the default address of \`npm start\`.

An OpenAI-compatible client can call any provider that speaks the dialect: replace \`api.openai.com/v1\` with that provider's base URL, such as \`api.mistral.ai/v1\` or \`api.groq.com/openai/v1\`.
`

/** The text of the page. */
export function clientsPage(clients: readonly ClientSetup[]): string {
  const sections = [...Map.groupBy(clients, ({ name }) => name)].map(([name, setups]) =>
    section(name, setups),
  )
  return wrapProse(HEAD + sections.join(''))
}

function section(name: string, setups: readonly ClientSetup[]): string {
  const blocks = setups.map((setup) => {
    const { where, lines } = fillTemplate(setup, 'http://localhost:8484', 'tmk_…')
    return `\nWith the provider \`${setup.provider}\`; ${where}:\n\n\`\`\`\n${lines.join('\n')}\n\`\`\`\n\nSource: ${setup.source}\n`
  })
  return `\n## ${name}\n\n\`npx tollmark env ${setups[0]?.id}\`\n${blocks.join('')}`
}
