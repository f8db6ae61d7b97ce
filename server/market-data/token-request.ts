/**
 * A body that asks for many tokens, read to the known tokens that it names: each once, at its first
 * position, with the side asked for. The form that clients send is read from its bytes in one pass;
 * any other, with repetitions or with tokens that are new or unknown, goes through the parser.
 *
 * Thread: I/O; one request at a time, so it is read again by who has waited. Allocates nothing on
 * the fast way. Non-goals: answers.
 */
import { CELL_HEAD, type KnownTokens, UNKNOWN } from './known-tokens.ts';
import { parseTokenItems } from './token-items.ts';
import { TOKENS_MAX } from './token-schemas.ts';

/** The side that an item names: BUY = the bids only, SELL = the asks only, '' = both. */
export type BookSide = '' | 'BUY' | 'SELL';

/** The same, as a place in KnownTokens.books. */
export const SideCode = { '': 0, BUY: 1, SELL: 2 } as const;
export type SideCode = (typeof SideCode)[BookSide];

/** Bytes that are sides. */
type SideCodes = Uint8Array & Record<number, SideCode>;

const HEAD = new DataView(Uint8Array.from(Buffer.from(CELL_HEAD)).buffer);
const TOKEN_ID = Buffer.from('"token_id"');
const SIDE = Buffer.from('"side"');
const BUY = Buffer.from('"BUY"');
const SELL = Buffer.from('"SELL"');
const NONE = Buffer.from('""');

const OPEN = 0x5b;
const CLOSE = 0x5d;
const OPEN_ITEM = 0x7b;
const CLOSE_ITEM = 0x7d;
const COLON = 0x3a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const SPACE = 0x20;
const B = 0x42;
const S = 0x53;

/** The form of the body is not the usual one. */
const OTHER = -1;

export class TokenRequest {
  count = 0;
  /** The first `count` of both are those of the request at hand. */
  readonly tokens = new Int32Array(TOKENS_MAX);
  readonly sides = new Uint8Array(TOKENS_MAX) as SideCodes;
  private readonly known: KnownTokens;
  /** By token: its place in the request at hand, or anything if it is not in there. */
  private places = new Int32Array(0);

  constructor(known: KnownTokens) {
    this.known = known;
  }

  /** Reads a body; '' when it is one, else the error that it is refused with. */
  read(body: DataView): string {
    if (this.scan(body)) return '';
    const parsed = parseTokenItems(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
    if (!parsed.ok) return parsed.error;
    this.take(parsed.tokens, parsed.sides);
    return '';
  }

  /** Repetitions of a token that name different sides get both (GAPS 7 is silent). */
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

  /** The place of a token in the request; UNKNOWN when it is not in there. */
  placeOf(token: number): number {
    if (token >= this.places.length) return UNKNOWN;
    const place = this.places[token]!;
    return place < this.count && this.tokens[place] === token ? place : UNKNOWN;
  }

  private add(token: number, side: SideCode): void {
    if (token >= this.places.length) {
      const before = this.places;
      this.places = new Int32Array(this.known.slots.length);
      this.places.set(before);
    }
    this.places[token] = this.count;
    this.tokens[this.count] = token;
    this.sides[this.count] = side;
    this.count += 1;
  }

  /**
   * Reads `[{"token_id":"<id>","side":"<side>"},..]`, sides optional, spaces between the parts, of
   * known tokens, each once. False for everything else: what was read then counts for nothing.
   */
  private scan(body: DataView): boolean {
    this.count = 0;
    let at = pass(body, 0, OPEN);
    for (;;) {
      at = passHead(body, at);
      if (at === OTHER || this.count === TOKENS_MAX) return false;
      const token = this.known.at(body, at);
      if (token === UNKNOWN || this.placeOf(token) !== UNKNOWN) return false;
      at += this.known.lengths[token]! + 1;
      let side: SideCode = SideCode[''];
      if (byteAt(body, at) !== CLOSE_ITEM) {
        const comma = pass(body, at, COMMA);
        if (comma !== OTHER) {
          at = pass(body, passText(body, comma, SIDE), COLON);
          if (at === OTHER) return false;
          at = skipSpaces(body, at);
          const first = byteAt(body, at + 1);
          const text = first === B ? BUY : first === S ? SELL : NONE;
          side = text === BUY ? SideCode.BUY : text === SELL ? SideCode.SELL : SideCode[''];
          at = passText(body, at, text);
        }
      }
      at = pass(body, at, CLOSE_ITEM);
      if (at === OTHER) return false;
      this.add(token, side);
      at = skipSpaces(body, at);
      const next = byteAt(body, at);
      at += 1;
      if (next === COMMA) continue;
      return next === CLOSE && skipSpaces(body, at) === body.byteLength;
    }
  }
}

/** 0 behind the end. */
function byteAt(body: DataView, at: number): number {
  return at < body.byteLength ? body.getUint8(at) : 0;
}

/** The place behind `{"token_id":"`; most clients write it without spaces. */
function passHead(body: DataView, from: number): number {
  if (from === OTHER) return OTHER;
  const isPlain =
    from + HEAD.byteLength <= body.byteLength &&
    body.getInt32(from, true) === HEAD.getInt32(0, true) &&
    body.getInt32(from + 4, true) === HEAD.getInt32(4, true) &&
    body.getInt32(from + 8, true) === HEAD.getInt32(8, true) &&
    body.getUint8(from + 12) === QUOTE;
  if (isPlain) return from + HEAD.byteLength;
  let at = passText(body, pass(body, from, OPEN_ITEM), TOKEN_ID);
  at = pass(body, at, COLON);
  return pass(body, at, QUOTE);
}

function skipSpaces(body: DataView, from: number): number {
  let at = from;
  while (byteAt(body, at) === SPACE) at += 1;
  return at;
}

/** The place behind a byte and the spaces before it; OTHER when another byte is there. */
function pass(body: DataView, from: number, byte: number): number {
  if (from === OTHER) return OTHER;
  const at = skipSpaces(body, from);
  return byteAt(body, at) === byte ? at + 1 : OTHER;
}

function passText(body: DataView, from: number, text: Uint8Array): number {
  if (from === OTHER) return OTHER;
  const at = skipSpaces(body, from);
  for (let i = 0; i < text.length; i++) if (byteAt(body, at + i) !== text[i]) return OTHER;
  return at + text.length;
}
