import { test } from 'node:test'
import { placeOn } from '../support/stores.ts'
import { killUnderLoad, KILLED } from './support/kills.ts'

test(`postgres: ${KILLED}`, async (t) => killUnderLoad(t, await placeOn.postgres(t)))
