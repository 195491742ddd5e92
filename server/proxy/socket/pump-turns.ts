// The budgets for reading frames and for ending sockets, shared by all sockets of this process.
import { TurnBudget } from '../../common/fairness/turn-budget.ts'

/** The cost of a frame in addition to its bytes, in bytes: a small one takes about 3 µs. */
const FRAME_COST = 512
/** The cost of all frames read in one turn of the event loop: about half a millisecond. */
const TURN_COST = 128 * 1024
/** The cost of the frames that one socket may read per turn. */
export const PUMP_COST = TURN_COST / 2

/** @param bytes including the head of the frame */
export const costOf = (bytes: number): number => FRAME_COST + bytes

/** The turns of all sockets, in bytes. */
export const pumpTurns = new TurnBudget(TURN_COST)

/**
 * Ends of connections reported in one turn: closing both connections of a socket and settling its
 * row takes about 100 microseconds.
 */
const ENDS_PER_TURN = 8

/** The turns in which sockets learn that one of their connections has ended. */
export const endTurns = new TurnBudget(ENDS_PER_TURN)
