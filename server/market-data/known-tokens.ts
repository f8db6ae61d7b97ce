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
  readonly digits: Buffer;
  /** The number that its first LEAD_DIGITS digits are. */
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
    this.digits = Buffer.from(this.id, 'latin1');
    this.lead = this.digits.length < LEAD_DIGITS ? SHORT : leadOf(this.digits, 0);
    this.versionAt = (t.tokenI[row + Token.book]! << BOOK_I) + Book.version;
  }
}

/** Ids are hashes, so that their first digits tell them apart; nine of them are a small integer. */
const LEAD_DIGITS = 9;
/** Ids with fewer digits are found by their string alone. */
const SHORT = -1;
/** Tokens whose digits begin alike share so many places; those beyond are found by their string. */
const PROBES_MAX = 8;
const SPREAD = 0x9e3779b1;
const FIRST_BITS = 10;
const DIGIT_0 = 0x30;
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
  at(bytes: Uint8Array, at: number): KnownToken | undefined {
    if (at + LEAD_DIGITS >= bytes.length) return undefined;
    const { places, shift } = this;
    const lead = leadOf(bytes, at);
    let place = Math.imul(lead, SPREAD) >>> shift;
    for (let probes = 0; probes < PROBES_MAX; probes++) {
      const token = places[place];
      if (token === undefined) return undefined;
      if (token.lead === lead && stands(token.digits, bytes, at)) return token;
      place = (place + 1) & (places.length - 1);
    }
    return undefined;
  }

  private place(token: KnownToken): void {
    if (token.lead === SHORT) return;
    const { places, shift } = this;
    let place = Math.imul(token.lead, SPREAD) >>> shift;
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

/** Nine digits as a number; of other bytes some number, which the comparison of all bytes sorts out. */
function leadOf(bytes: Uint8Array, at: number): number {
  let lead = 0;
  for (let i = at; i < at + LEAD_DIGITS; i++)
    lead = (Math.imul(lead, 10) + bytes[i]! - DIGIT_0) | 0;
  return lead;
}

function stands(digits: Uint8Array, bytes: Uint8Array, at: number): boolean {
  const { length } = digits;
  if (bytes[at + length] !== QUOTE) return false;
  for (let i = 0; i < length; i++) if (digits[i] !== bytes[at + i]) return false;
  return true;
}
