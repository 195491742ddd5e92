import { useSyncExternalStore } from 'react'
import { getZone, subscribeZone, type Zone } from './zone.ts'

/** The zone; what calls it is drawn anew when another one is chosen. */
export const useZone = (): Zone => useSyncExternalStore(subscribeZone, getZone)
