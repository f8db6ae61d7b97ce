/**
 * The tokens that have been asked for, found by the text of their id without arithmetic: by a string,
 * or by the digits where they stand in a request. What the read routes have rendered of a token is
 * kept with it. Bounded by the tokens that are registered: a text that names none is not remembered.
 *
 * Thread: I/O. Non-goals: rendering (books.ts, last-prices.ts).
 */
import { BOOK_I, Book, ID_WORDS, TOKEN_I, Token } from '../../engine/layout.ts';
import { findToken } from '../../engine/markets.ts';
import type { Tables } from '../../engine/tables.ts';
import type { TokenSlot } from '../../engine/units.ts';
import { decimalToWords, wordsToDecimal } from '../common/uint256.ts';

/** What a version of a book looks like in an answer. */
export interface Rendered {
  /** Even; of the book. */
  readonly version: number;
  readonly bytes: Buffer;
}

export class KnownToken {
  readonly slot: TokenSlot;
  /** The other token of a mirrored pair; 0 = none. */
  readonly complement: TokenSlot | 0;
  readonly id: string;
  /** How many digits it has, and the digits as ASCII. */
  readonly length: number;
  readonly digits: DataView;
  /** Hash of its first digits. */
  readonly lead: number;
  /** The place of its book's version in bookI. */
  readonly versionAt: number;
  /** Its place in the request at hand (token-request.ts). */
  place = 0;
  /** By side: both, bids, asks. */
  readonly books: (Rendered | undefined)[] = [undefined, undefined, undefined];
  last: Rendered | undefined = undefined;

  constructor(t: Tables, slot: TokenSlot) {
    const row = slot << TOKEN_I;
    this.slot = slot;
    this.complement = t.tokenI[row + Token.complement]! as TokenSlot | 0;
    this.id = wordsToDecimal(t.tokenI, row + Token.id);
    this.length = this.id.length;
    this.digits = new DataView(Uint8Array.from(Buffer.from(this.id, 'latin1')).buffer);
    this.lead = this.length < LEAD_DIGITS ? 0 : leadOf(this.digits, 0);
    this.versionAt = (t.tokenI[row + Token.book]! << BOOK_I) + Book.version;
  }
}

/** Ids are hashes, so that their first digits tell them apart. One with fewer is found by its string. */
const LEAD_DIGITS = 8;
/** Tokens whose digits begin alike share so many places; those beyond are found by their string. */
const PROBES_MAX = 8;
const SPREAD = 0x9e3779b1;
const FIRST_BITS = 10;
const QUOTE = 0x22;

export class KnownTokens {
  private readonly t: Tables;
  private readonly byId = new Map<string, KnownToken>();
  private readonly bySlot = new Map<TokenSlot, KnownToken>();
  private readonly key = new Int32Array(ID_WORDS);
  /** Open addressing by `lead`; at most half full. */
  private places: (KnownToken | undefined)[] = new Array(1 << FIRST_BITS).fill(undefined);
  private shift = 32 - FIRST_BITS;
  private placed = 0;

  constructor(t: Tables) {
    this.t = t;
  }

  /** The token with this decimal id, exactly as an id is written; undefined when there is none. */
  find(tokenId: string): KnownToken | undefined {
    const known = this.byId.get(tokenId);
    if (known !== undefined) return known;
    if (!decimalToWords(tokenId, this.key, 0)) return undefined;
    const slot = findToken(this.t, this.key, 0);
    return slot === 0 ? undefined : this.of(slot);
  }

  of(slot: TokenSlot): KnownToken {
    const known = this.bySlot.get(slot);
    if (known !== undefined) return known;
    const token = new KnownToken(this.t, slot);
    this.bySlot.set(slot, token);
    this.byId.set(token.id, token);
    if (2 * this.placed >= this.places.length) this.grow();
    this.place(token);
    return token;
  }

  /**
   * The token whose id stands in `bytes` from `at` on and ends before a quote. Undefined also for
   * one that has not been asked for by its string yet.
   */
  at(bytes: DataView, at: number): KnownToken | undefined {
    if (at + LEAD_DIGITS >= bytes.byteLength) return undefined;
    const { places, shift } = this;
    const lead = leadOf(bytes, at);
    let place = lead >>> shift;
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      const token = places[place];
      if (token === undefined) return undefined;
      if (token.lead === lead && stands(token.digits, bytes, at)) return token;
      place = (place + 1) & (places.length - 1);
    }
    return undefined;
  }

  private place(token: KnownToken): void {
    if (token.length < LEAD_DIGITS) return;
    const { places, shift } = this;
    let place = token.lead >>> shift;
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      if (places[place] === undefined) {
        places[place] = token;
        this.placed += 1;
        return;
      }
      place = (place + 1) & (places.length - 1);
    }
  }

  private grow(): void {
    this.shift -= 1;
    this.placed = 0;
    this.places = new Array(2 * this.places.length).fill(undefined);
    for (const token of this.bySlot.values()) this.place(token);
  }
}

function leadOf(bytes: DataView, at: number): number {
  return Math.imul(
    Math.imul(bytes.getInt32(at, true), SPREAD) ^ bytes.getInt32(at + 4, true),
    SPREAD,
  );
}

/**
 * Eight bytes at a time, the last of them a second time: a token has some 77 digits. As doubles,
 * digits are equal where their bytes are; what is no number is equal to nothing.
 */
function stands(digits: DataView, bytes: DataView, at: number): boolean {
  const last = digits.byteLength - 8;
  const end = at + digits.byteLength;
  if (end >= bytes.byteLength || bytes.getUint8(end) !== QUOTE) return false;
  for (let i = 0; i < last; i += 8) {
    if (digits.getFloat64(i) !== bytes.getFloat64(at + i)) return false;
  }
  return digits.getFloat64(last) === bytes.getFloat64(at + last);
}
