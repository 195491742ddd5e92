// TABLE of what a byte means between two values, by the state there; 0: it is not allowed.
import { ACTIONS, AFTER_ITEM, AFTER_KEY, AFTER_MEMBER, DONE_OF_MANY, ITEM_OR_END, KEY, KEY_OR_END, VALUE } from '../layout'

/** Bytes. */
export const QUOTE: i32 = 0x22
export const COMMA: i32 = 0x2c
export const COLON: i32 = 0x3a
export const OPEN_LIST: i32 = 0x5b
export const CLOSE_LIST: i32 = 0x5d
export const OPEN_OBJECT: i32 = 0x7b
export const CLOSE_OBJECT: i32 = 0x7d

/** Actions. */
export const SKIP: i32 = 1
export const BEGIN_STRING: i32 = 2
export const BEGIN_KEY: i32 = 3
export const BEGIN_SCALAR: i32 = 4
export const OPEN: i32 = 5
export const CLOSE: i32 = 6
export const NEXT_ITEM: i32 = 7
export const NEXT_KEY: i32 = 8
export const EXPECT_VALUE: i32 = 9
export const BEGIN_AGAIN: i32 = 10

function set(state: i32, byte: i32, action: i32): void {
  store<u8>(ACTIONS + ((state << 8) | byte), action as u8)
}

for (let byte = 0x21; byte < 0x100; byte++) {
  if (byte == QUOTE || byte == COMMA || byte == COLON || byte == OPEN_LIST || byte == CLOSE_LIST || byte == OPEN_OBJECT || byte == CLOSE_OBJECT) continue
  set(VALUE, byte, BEGIN_SCALAR)
  set(ITEM_OR_END, byte, BEGIN_SCALAR)
}
for (let state = VALUE; state <= ITEM_OR_END; state++) {
  set(state, QUOTE, BEGIN_STRING)
  set(state, OPEN_OBJECT, OPEN)
  set(state, OPEN_LIST, OPEN)
}
set(ITEM_OR_END, CLOSE_LIST, CLOSE)
set(AFTER_ITEM, CLOSE_LIST, CLOSE)
set(KEY_OR_END, CLOSE_OBJECT, CLOSE)
set(AFTER_MEMBER, CLOSE_OBJECT, CLOSE)
set(KEY_OR_END, QUOTE, BEGIN_KEY)
set(KEY, QUOTE, BEGIN_KEY)
set(AFTER_KEY, COLON, EXPECT_VALUE)
set(AFTER_ITEM, COMMA, NEXT_ITEM)
set(AFTER_MEMBER, COMMA, NEXT_KEY)
for (let byte = 0; byte < 0x100; byte++) set(DONE_OF_MANY, byte, BEGIN_AGAIN)
// RFC 8259, section 2.
for (let state = VALUE; state <= DONE_OF_MANY; state++) {
  set(state, 0x20, SKIP)
  set(state, 0x0a, SKIP)
  set(state, 0x0d, SKIP)
  set(state, 0x09, SKIP)
}
