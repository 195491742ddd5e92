// The memory layout of the scanner's WebAssembly module: addresses and codes. Both sides compile
// this file, so it contains only constants.

/** A state: a value. The states up to DONE_OF_MANY are the first index of ACTIONS. */
export const VALUE = 0
/** A state: an item of a list, or `]`. */
export const ITEM_OR_END = 1
/** A state: a key of an object, or `}`. */
export const KEY_OR_END = 2
/** A state: a key, after a comma. */
export const KEY = 3
/** A state: the colon after a key. */
export const AFTER_KEY = 4
/** A state: `,` or `]`. */
export const AFTER_ITEM = 5
/** A state: `,` or `}`. */
export const AFTER_MEMBER = 6
/** A state: the text has ended; only white space may follow. */
export const DONE = 7
/** A state: one text has ended, and another may follow (JSON lines). */
export const DONE_OF_MANY = 8
/** A state: within a string. This and the next two are the tokens within which a piece can end. */
export const IN_STRING = 9
/** A state: within a key. */
export const IN_KEY = 10
/** A state: within a number, `true`, `false` or `null`. */
export const IN_SCALAR = 11
/** A state: the text is not JSON, and is not read further. */
export const BROKEN = 12

/** 256 bytes for each state between values: the meaning of each byte. */
export const ACTIONS = 0x1000

/** The value of each byte as a hexadecimal digit; 255: none. */
export const HEX_DIGITS = 0x1a00

/**
 * The state of the scan, 32 bits each. All of it, including the stack after it, is copied out when
 * another scan runs.
 */
export const STATE = 0x2000
/** Number of open lists and objects. */
export const DEPTH = 0x2004
/** The wanted node of the value that comes next, as an offset in the table of paths; 0: none. */
export const NEXT = 0x2008
/** The depth at which the captured value ends, or -1. */
export const CAPTURE_DEPTH = 0x200c
/** The node of the captured value. */
export const CAPTURE_NODE = 0x2010
/** The address at which the captured value begins, or 0 where that was in an earlier piece. */
export const CAPTURE_START = 0x2014
/**
 * The address of the string, key or number within which the last piece ended, if it may be wanted;
 * else 0.
 */
export const TOKEN_START = 0x2018
/** Whether the last piece ended with a backslash that escapes. */
export const ESCAPED = 0x201c
/** For each kind of oddity, the node of the one reported last. */
export const LAST_ODDITIES = 0x2020
/** The node of the value reported last. */
export const LAST_VALUE = 0x2034
/**
 * The node of the list or object that has ended since, if that value was the only one reported in
 * it; else 0.
 */
export const LAST_CLOSED = 0x2038
/** The node of a value that is reported only if something else follows. */
export const PENDING_VALUE = 0x203c
/** How many values have been reported since the last end of a list or object. */
export const VALUES_SINCE = 0x2040
/**
 * Of each open container 16 bytes: its node, what may come after one of its values, and a bit for
 * each wanted key that it has had.
 */
export const STACK = 0x2050
/** Bytes of an entry of the stack. */
export const STACK_ENTRY = 16
/** Deepest nesting; more ends the scan as broken. */
export const DEEPEST = 512

/** The inputs of a scan, 32 bits each. */
export const TABLE = 0x4100
/** The node of the outermost value. */
export const ROOT = 0x4104
/** 1 if everything that is not RFC 8259 breaks the scan. */
export const STRICT = 0x4108
/** A number that is unique to this scan, so that cache entries of others do not count. */
export const SERIAL = 0x410c
/** Bytes of the shortest string that is watched. */
export const SHORTEST = 0x4110
/** Bytes of the longest string that is watched. */
export const LONGEST = 0x4114
/** The address of 256 bytes: 1 for each with which a watched string can begin. */
export const FIRSTS = 0x4118
/** Whether strings that are prose are watched, too. */
export const PROSE = 0x411c
/** The address of the quick check, or 0. */
export const QUICK = 0x4120

/** Whether repeated values are reported as such. */
export const REPEATS = 0x4124

/** The state of a reader of words begins here: the address after the word so far. */
export const WORD_AT = 0x4148
/** The address at which the word so far begins. */
export const WORD_WIDE = 0x414c
/** The address at which its last part begins. */
export const WORD_NARROW = 0x4150
/** Bits: the word is too long to be reported (1), its last part is (2), it is a path (4). */
export const WORD_LONG = 0x4154
/** How many bytes of an escape have come. */
export const WORD_ESCAPE = 0x4158
/** The bytes of the escape. */
export const WORD_ESCAPED = 0x4160
/** Bytes of the state of a reader of words. */
export const WORD_STATE_BYTES = 0x20
/** Whether every word is reported, or only possible ids. */
export const EVERY_WORD = 0x4168
/** Whether a length may precede a word. */
export const BINARY_WORDS = 0x416c
/** Bytes of the shortest name that any provider uses. */
export const SHORTEST_WORD = 6
/** Bytes of the longest word that is checked. */
export const LONGEST_WORD = 2048
/**
 * Bytes of a tag and a length before a string, as in Protocol Buffers and MessagePack, that can be
 * letters.
 */
export const LONGEST_LENGTH = 4

/** The number of events. */
export const EVENT_COUNT = 0x4140
/** The events, one after another. */
export const EVENTS = 0x4200
/** Bytes of an event: its kind and three numbers. */
export const EVENT_BYTES = 16
/** Maximum number of events of one call; a scan stops before there are more. */
export const MAX_EVENTS = 512
/** One token has fewer events than this. */
export const EVENTS_OF_A_TOKEN = 8

/** An event: a value. Node, start (0: in an earlier piece), end. */
export const VALUE_TOLD = 0
/** An event: a value with the same bytes as the one reported last at this path. Node. */
export const VALUE_AGAIN = 1
/** An event: an oddity. Node, kind. */
export const ODDITY_TOLD = 2
/** An event: the end of a list or object. Node. */
export const CLOSED_TOLD = 3
/**
 * An event: a watched string, or a word. Start, end, and a hash; its lowest bit says whether the
 * string contains a backslash, or the word has several parts.
 */
export const STRING_TOLD = 4

/** An oddity: a wanted key occurs twice. Oddities are in the order of ODDITIES of scanner.ts. */
export const DUPLICATE = 0
/** An oddity: a wanted key is spelled with escapes. */
export const ESCAPED_KEY = 1
/** An oddity: a parser that folds case, or cuts at NUL, would read a key as a wanted one. */
export const LOOKALIKE = 2
/** An oddity: a value is of another kind than the path needs. */
export const MISMATCH = 3
/** An oddity: a mismatch whose value is a string. */
export const TEXT = 4

/** The cache of reported strings. Like the other caches, it drops entries. */
export const KNOWN = 0x8000
/** Slots of the cache of strings. */
export const KNOWN_SLOTS = 256
/** Bytes of the longest string that it remembers. */
export const KNOWN_BYTES = 64
/** Bytes of one of its slots. */
export const KNOWN_SLOT = 80
/** The cache of the last value of each path. */
export const VALUES = 0xd000
/** Slots of the cache of values. */
export const VALUE_SLOTS = 64
/** Bytes of the longest value that it remembers. */
export const VALUE_BYTES = 48
/** Bytes of one of its slots. */
export const VALUE_SLOT = 64

/** Slots of the cache of oddities. */
export const ODDITY_SLOTS = 512
/** The cache of oddities. */
export const ODDITY_CACHE = 0xe400

/**
 * Raw bytes of a key that are kept; a longer key cannot be a wanted one (each letter is at most six
 * bytes as `\u….`).
 */
export const LONGEST_KEY = 512
/** Bytes of the longest escape, `\\uXXXX`. */
export const LONGEST_ESCAPE = 6
/** Characters of the longest number that makes sense. */
export const LONGEST_SCALAR = 1024

/**
 * Bytes are copied here: at most PIECE at a time, after the kept beginning of a token from an
 * earlier piece. Loads may reach beyond the end.
 */
export const WINDOW = 0x10000
/** Bytes that are copied at once. */
export const PIECE = 0x10000
/** The end of the window. */
export const WINDOW_END = 0x30000
/** A key or string without its escapes, in 16-bit units. */
export const DECODED = 0x30800
/** A key, case-folded like in parsers that ignore case, in 16-bit units. */
export const FOLDED = 0x37800
/**
 * Instead of DECODED and FOLDED, in an instance for words: reported words, followed by the word so
 * far.
 */
export const WORDS = 0x30800
/** The end of the reported words. */
export const WORDS_FULL = 0x36000
/** Tables of paths and of watched strings, up to the end of the memory. */
export const TABLES = 0x38000
/** Pages of 64 KiB of the whole memory; it never grows. */
export const MEMORY_PAGES = 64

/**
 * The flags of a node. The numbers up to NODE_BYTES are offsets in a node of the table of paths.
 */
export const NODE_FLAGS = 0
/** The node of the items of a list. */
export const NODE_ITEMS = 4
/** The node of any key. */
export const NODE_ANY = 8
/** The address of the keys' first bytes. */
export const NODE_FIRSTS = 12
/** The address of their index by length. */
export const NODE_LENGTHS = 16
/** The address of the keys. */
export const NODE_KEYS = 20
/** How many keys there are. */
export const NODE_KEY_COUNT = 24
/** Bytes of a node. */
export const NODE_BYTES = 32
/** A flag: the value at this place is reported. */
export const IS_WANTED = 1
/** A flag: the end of the list or object at this place is reported. */
export const TELLS_END = 2
/** A flag: an object at this place may contain wanted values. */
export const IS_LOOKED_INTO = 4
/** A flag: a list at this place may contain some, and the place itself is not wanted. */
export const HOLDS_ITEMS = 8
/** The node of a key's value. The numbers up to KEY_BYTES are offsets in the entry of a key. */
export const KEY_NODE = 0
/** The key's number within its node. */
export const KEY_NUMBER = 4
/** Its length in bytes. */
export const KEY_LENGTH = 8
/** Its bytes, unchanged. */
export const KEY_EXACT = 16
/** Bytes of the longest wanted key. */
export const KEY_WIDTH = 64
/** Its bytes in lower case. */
export const KEY_LOWER = 80
/** Bytes of an entry of a key. */
export const KEY_BYTES = 144
