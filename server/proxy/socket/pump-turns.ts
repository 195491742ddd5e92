// The work that reading frames is, shared by all sockets of this process.
import { TurnBudget } from '../../common/fairness/turn-budget.ts'

/** What a frame costs besides its bytes, in bytes: a small one takes about 3 µs. */
const FRAME_COST = 512
/** What all sockets together may read until the event loop goes round: about half a millisecond. */
const TURN_COST = 128 * 1024
/** What one may read before others have their turn. */
export const PUMP_COST = TURN_COST / 2

/** @param bytes with the head of the frame */
export const costOf = (bytes: number): number => FRAME_COST + bytes

/** The turns of all sockets, in bytes. */
export const pumpTurns = new TurnBudget(TURN_COST)
