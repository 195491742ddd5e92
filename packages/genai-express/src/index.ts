export { createProxyExpress } from './express.ts'
export type { ProxyExpress, ProxyExpressConfig, ProxyExpressSettings } from './express.ts'
