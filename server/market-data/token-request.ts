/**
 * Reader of bodies with many tokens: each known token once, at its first position, with the requested side. The usual
 * form is read from its bytes in one pass, and not even that where the same bytes came before (polled-bodies.ts). Any
 * other form, and a body with repeated, new or unknown tokens, is parsed as JSON.
 *
 * Thread: I/O; one request at a time, so a request that waited is read again. The fast way allocates nothing.
 * Non-goals: answers.
 */
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from '../common/json-measure.ts';
import { type KnownTokens, UNKNOWN } from './known-tokens.ts';
import { NOT_POLLED, PolledBodies } from './polled-bodies.ts';
import { TOKENS_MAX } from './token-schemas.ts';

/** Requested side: BUY = the bids only, SELL = the asks only, '' = both. */
export type BookSide = '' | 'BUY' | 'SELL';

/** Index of a side in KnownTokens.books. */
export const SideCode = { '': 0, BUY: 1, SELL: 2 } as const;
export type SideCode = (typeof SideCode)[BookSide];

type SideCodes = Uint8Array & Record<number, SideCode>;

const TOKEN_ID = Buffer.from('"token_id"');
const SIDE = Buffer.from('"side"');
const BUY = Buffer.from('"BUY"');
const SELL = Buffer.from('"SELL"');
const NONE = Buffer.from('""');

/** Longest body of the usual form: the maximum of tokens, with room for sides and spaces. */
export const PLAIN_BYTES_MAX = 128 * TOKENS_MAX;

/** Bytes between two ids, as most clients write them. */
const NEXT = Buffer.from('"},{"token_id":"');
const NEXT_BYTES = NEXT.length;
const NEXT_FIRST = NEXT.readDoubleLE(0);
const NEXT_LAST = NEXT.readDoubleLE(8);

const B = 0x42;
const S = 0x53;

const OTHER = -1;

export class TokenRequest {
  count = 0;
  /** The first `count` entries of these belong to the current request. */
  readonly tokens = new Int32Array(TOKENS_MAX);
  readonly sides = new Uint8Array(TOKENS_MAX) as SideCodes;
  /** Version of each book that the answer shows, written with the answer. */
  readonly versions = new Int32Array(TOKENS_MAX);
  private readonly known: KnownTokens;
  /** Index of a token in the current request; arbitrary for tokens outside of it. */
  private readonly places: Int32Array;
  readonly polled = new PolledBodies();
  private readonly bytes = new Uint8Array(PLAIN_BYTES_MAX);
  private readonly view = new DataView(this.bytes.buffer);

  constructor(known: KnownTokens) {
    this.known = known;
    this.places = new Int32Array(known.slots.length);
  }

  /** Reads parsed tokens. A token with different sides gets both (docs/protocol.md#order-books). */
  take(tokens: readonly string[], sides: readonly BookSide[]): void {
    this.count = 0;
    for (let i = 0; i < tokens.length; i++) {
      const token = this.known.find(tokens[i]!);
      if (token === UNKNOWN) continue;
      const side = SideCode[sides[i] ?? ''];
      const place = this.placeOf(token);
      if (place === UNKNOWN) this.add(token, side);
      else if (this.sides[place] !== side) this.sides[place] = SideCode[''];
    }
  }

  /** Index of a token in the request; UNKNOWN outside of it. */
  placeOf(token: number): number {
    const place = this.places[token]!;
    return place < this.count && this.tokens[place] === token ? place : UNKNOWN;
  }

  private add(token: number, side: SideCode): void {
    this.places[token] = this.count;
    this.tokens[this.count] = token;
    this.sides[this.count] = side;
    this.count += 1;
  }

  /**
   * Reads `[{"token_id":"<id>","side":"<side>"},..]`, sides optional, spaces between the parts, with known tokens,
   * each once. Returns false for everything else: the body must be parsed and passed to take(), and the result so far
   * is discarded.
   * @param body at most PLAIN_BYTES_MAX bytes
   * @param cell of the body among those that are polled
   */
  scan(body: Uint8Array, cell = this.polled.find(body)): boolean {
    const { polled } = this;
    if (cell === NOT_POLLED) {
      if (!this.read(this.copied(body), body.length)) return false;
      polled.add(body, this);
      return true;
    }
    this.count = 0;
    const count = polled.countOf(cell);
    for (let i = 0; i < count; i++)
      this.add(polled.tokenAt(cell, i), polled.sideAt(cell, i) as SideCode);
    return true;
  }

  /** Copy in memory of the reader: a new view of the bytes costs more. */
  private copied(body: Uint8Array): DataView {
    this.bytes.set(body);
    return this.view;
  }

  private read(body: DataView, end: number): boolean {
    this.count = 0;
    let at = passHead(body, pass(body, 0, end, OPEN_ARRAY), end);
    while (at !== OTHER && this.count < TOKENS_MAX) {
      const token = this.known.at(body, at, end);
      if (token === UNKNOWN || this.placeOf(token) !== UNKNOWN) return false;
      at += this.known.lengths[token]!;
      if (isPlainNext(body, at, end)) {
        this.add(token, SideCode['']);
        at += NEXT_BYTES;
        continue;
      }
      at = this.scanRest(body, at + 1, end, token);
      if (at === OTHER) return false;
      const next = byteAt(body, at, end);
      at += 1;
      if (next === CLOSE_ARRAY) return skipSpaces(body, at, end) === end;
      at = next === COMMA ? passHead(body, at, end) : OTHER;
    }
    return false;
  }

  /** Adds a token whose id ends at `from`. Returns the position of the comma or bracket after its item. */
  private scanRest(body: DataView, from: number, end: number, token: number): number {
    let at = skipSpaces(body, from, end);
    let side: SideCode = SideCode[''];
    if (byteAt(body, at, end) === COMMA) {
      at = pass(body, passText(body, at + 1, end, SIDE), end, COLON);
      if (at === OTHER) return OTHER;
      at = skipSpaces(body, at, end);
      const first = byteAt(body, at + 1, end);
      const text = first === B ? BUY : first === S ? SELL : NONE;
      side = text === BUY ? SideCode.BUY : text === SELL ? SideCode.SELL : SideCode[''];
      at = passText(body, at, end, text);
    }
    at = pass(body, at, end, CLOSE_OBJECT);
    if (at === OTHER) return OTHER;
    this.add(token, side);
    return skipSpaces(body, at, end);
  }
}

/** Returns true if the next item has the usual form: sixteen bytes, compared as two doubles. */
function isPlainNext(body: DataView, at: number, end: number): boolean {
  return (
    at + NEXT_BYTES <= end &&
    body.getFloat64(at, true) === NEXT_FIRST &&
    body.getFloat64(at + 8, true) === NEXT_LAST
  );
}

function byteAt(body: DataView, at: number, end: number): number {
  return at < end ? body.getUint8(at) : 0;
}

function passHead(body: DataView, from: number, end: number): number {
  const at = passText(body, pass(body, from, end, OPEN_OBJECT), end, TOKEN_ID);
  return pass(body, pass(body, at, end, COLON), end, QUOTE);
}

function skipSpaces(body: DataView, from: number, end: number): number {
  let at = from;
  while (byteAt(body, at, end) === SPACE) at += 1;
  return at;
}

/** Position after a byte and the spaces before it; OTHER for another byte. */
function pass(body: DataView, from: number, end: number, byte: number): number {
  if (from === OTHER) return OTHER;
  const at = skipSpaces(body, from, end);
  return byteAt(body, at, end) === byte ? at + 1 : OTHER;
}

function passText(body: DataView, from: number, end: number, text: Uint8Array): number {
  if (from === OTHER) return OTHER;
  const at = skipSpaces(body, from, end);
  for (let i = 0; i < text.length; i++) if (byteAt(body, at + i, end) !== text[i]) return OTHER;
  return at + text.length;
}
