import { anthropic } from './anthropic.ts'
import type { ProviderRow } from '../provider.ts'

const { elsewhere: _, ...onItsOwn } = anthropic

/**
 * Claude on AWS: https://docs.claude.com/en/api. A key is for an AWS account in all regions, and
 * every request has to name the workspace.
 */
export const anthropicAws: ProviderRow = {
  ...onItsOwn,
  id: 'anthropic-aws',
  name: 'Claude on AWS',
  variable: 'ANTHROPIC_AWS_API_KEY',
  base: 'https://aws-external-anthropic.us-east-1.api.aws/v1',
  hosts: ['aws-external-anthropic.*.api.aws'],
  accountChoice: [],
}
