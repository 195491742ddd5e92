import { useSyncExternalStore } from 'react'
import { getZone, subscribeZone, type Zone } from './zone.ts'

/** The time zone; a change rerenders the component. */
export const useZone = (): Zone => useSyncExternalStore(subscribeZone, getZone)
