/**
 * Frames of /ws/user that carry a request: `{"op": "order", "id": "..", "body": {..}}`. The body is a slice of the frame
 * and is not parsed here, so a worker refuses the very bytes that it would refuse over HTTP. Rules:
 * docs/protocol.md#orders-over-the-stream
 *
 * Pure; any thread.
 */
import {
  BACKSLASH,
  BRACKET_MASK,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  closingQuote,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from '../common/json-measure.ts';

/** Routes whose requests a frame may carry, by the name of the operation. */
export const OPERATIONS = {
  order: 'POST /order',
  cancel: 'DELETE /order',
  replace: 'POST /replace',
} as const;

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

export interface RequestFrame {
  /** Index in `OPERATION_NAMES`. */
  readonly operation: number;
  /** Bytes of the id without quotes; `undefined` where it is missing or malformed. */
  readonly id: Buffer | undefined;
  /** Empty where the frame has none. */
  readonly body: Buffer;
}

/** Longest id, in characters. */
export const FRAME_ID_MAX = 64;
const TILDE = 0x7e;
const ENDS: readonly number[] = [COMMA, CLOSE_OBJECT, CLOSE_ARRAY];
const NO_BODY = Buffer.alloc(0);
const NAMED = OPERATION_NAMES.map((name) => Buffer.from(`"${name}"`));
const [OP, ID, BODY] = ['"op"', '"id"', '"body"'].map((name) => Buffer.from(name)) as [
  Buffer,
  Buffer,
  Buffer,
];
/** Members with which a message is a subscription, whatever else it has. */
const OF_SUBSCRIPTIONS = ['"type"', '"operation"'].map((name) => Buffer.from(name));

/**
 * Returns the request of a frame; `undefined` for any other message. A message with `type` or `operation` is a
 * subscription, as is one whose names of members are escaped.
 */
export function readRequestFrame(bytes: Buffer): RequestFrame | undefined {
  let at = blanksEnd(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return undefined;
  let operation = -1;
  let id: Buffer | undefined;
  let body: Buffer = NO_BODY;
  do {
    const nameAt = blanksEnd(bytes, at + 1);
    if (bytes[nameAt] !== QUOTE) return undefined;
    const nameEnd = textEnd(bytes, nameAt);
    const colon = blanksEnd(bytes, nameEnd);
    if (bytes[colon] !== COLON) return undefined;
    const from = blanksEnd(bytes, colon + 1);
    const end = valueEnd(bytes, from);
    if (is(OP, bytes, nameAt, nameEnd)) {
      operation = NAMED.findIndex((name) => is(name, bytes, from, end));
    } else if (is(ID, bytes, nameAt, nameEnd)) id = idOf(bytes, from, end);
    else if (is(BODY, bytes, nameAt, nameEnd)) body = bytes.subarray(from, end);
    else if (!isIgnored(bytes, nameAt, nameEnd)) return undefined;
    at = blanksEnd(bytes, end);
  } while (bytes[at] === COMMA);
  const isWhole = bytes[at] === CLOSE_OBJECT && blanksEnd(bytes, at + 1) === bytes.length;
  return isWhole && operation >= 0 ? { operation, id, body } : undefined;
}

function isIgnored(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (bytes[at] === BACKSLASH) return false;
  return !OF_SUBSCRIPTIONS.some((name) => is(name, bytes, from, end));
}

function is(text: Buffer, bytes: Buffer, from: number, end: number): boolean {
  if (end - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false;
  return true;
}

/** An id goes back as it came, so only characters are taken that need no escape. */
function idOf(bytes: Buffer, from: number, end: number): Buffer | undefined {
  const length = end - from - 2;
  if (bytes[from] !== QUOTE || length < 1 || length > FRAME_ID_MAX) return undefined;
  for (let at = from + 1; at < end - 1; at++) {
    const byte = bytes[at]!;
    if (byte < SPACE || byte > TILDE || byte === BACKSLASH || byte === QUOTE) return undefined;
  }
  return bytes.subarray(from + 1, end - 1);
}

function blanksEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Position behind the text that begins at `from`. */
function textEnd(bytes: Uint8Array, from: number): number {
  return (closingQuote(bytes, (from + 1) | 0, bytes.length) + 1) | 0;
}

/** Position behind a value: its last bracket or quote, or what ends any other one. */
function valueEnd(bytes: Uint8Array, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return textEnd(bytes, from);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return bracketsEnd(bytes, from);
  let at = from;
  while (at < bytes.length && !isBlank(bytes[at]) && !ENDS.includes(bytes[at]!)) at += 1;
  return at;
}

/** Position behind an object or array. Counters are cut to 32 bits, so that V8 keeps them as integers. */
function bracketsEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.length | 0;
  let level = 0;
  let at = from | 0;
  while (at < end) {
    const byte = bytes[at]!;
    at = (at + 1) | 0;
    if (byte === QUOTE) at = textEnd(bytes, at - 1);
    else if (byte < OPEN_ARRAY) continue;
    else if ((byte & BRACKET_MASK) === OPEN_ARRAY) level = (level + 1) | 0;
    else if ((byte & BRACKET_MASK) === CLOSE_ARRAY) {
      level = (level - 1) | 0;
      if (level === 0) break;
    }
  }
  return at;
}
