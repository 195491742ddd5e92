export { createManagedFetch, createManagedWebSocket, DEFAULT_PROXY_URL } from './managed-fetch.ts'
export type { ManagedFetchConfig, ManagedWebSocketConfig } from './managed-fetch.ts'
export { createProxyFetch } from './proxy-fetch.ts'
export type { ApiKey, Fetch, ProxyFetchConfig } from './proxy-fetch.ts'
export { createRenewedKey } from './renewed-key.ts'
export type { ExpiringKey } from './renewed-key.ts'
export { createProxyWebSocket } from './proxy-websocket.ts'
export type {
  ProxySocket,
  ProxyWebSocketConfig,
  ProxyWebSocketConstructor,
} from './proxy-websocket.ts'
export { createProxyHandler } from './handler.ts'
export type { Authorization, ProxyHandlerConfig } from './handler.ts'
export { createProxyRegistry } from './registry.ts'
export type { ProviderFactory, ProxyRegistry, ProxyRegistryConfig } from './registry.ts'
export { PROXY_MANAGED } from './credentials.ts'
