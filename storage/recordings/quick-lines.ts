/**
 * Reads the lines of a recording that are changes of levels or trades, which are most of it, from the bytes of a member
 * and without a text or an object of JSON for each. A line in which anything is unusual is left to the general reader: escapes,
 * white space, numbers in place of texts, other types, digits that would be rounded, and what that reader would call
 * damaged. So both readers say the same of each line (source-message.ts).
 *
 * Thread: that of its owner.
 */
import { Side } from '../../engine/commands.ts';
import type { SourceChange } from '../../engine/paper/source-book.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import type { SourceEvent } from './source-message.ts';
import { isRecordingTime } from './times.ts';

/** Message of a recording whose events are read already. */
export interface ReadMessage {
  readonly at: number;
  readonly kind: 'read';
  readonly events: readonly SourceEvent[];
}

interface TokenChanges {
  readonly kind: 'changes';
  readonly token: string;
  readonly at: number;
  readonly changes: SourceChange[];
}

const BEGIN = Buffer.from('{"at":');
const MESSAGE = Buffer.from(',"kind":"message","message":{');
const BUY = Buffer.from('"BUY"');
const SELL = Buffer.from('"SELL"');
const CHANGE = Buffer.from('"price_change"');
const TRADE = Buffer.from('"last_trade_price"');
/** Names of members that are read; others are passed over. */
const SIZE_KEY = Buffer.from('size');
const SIDE_KEY = Buffer.from('side');
const PRICE_KEY = Buffer.from('price');
const TOKEN_KEY = Buffer.from('asset_id');
const TIME_KEY = Buffer.from('timestamp');
const TYPE_KEY = Buffer.from('event_type');
const CHANGES_KEY = Buffer.from('price_changes');
/** Tokens of a message beyond which it is left to the general reader, which looks them up in a map. */
const TOKENS_MAX = 8;

const QUOTE = 0x22;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const ASCII_MAX = 0x7e;
const POWERS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

export class QuickLines {
  private readonly bytes: Buffer;
  private readonly known: KnownTexts;
  /** First backslash at or behind the line at hand. */
  private escape: number;
  private at = 0;
  // Members of the object at hand.
  private type: Buffer | undefined;
  private time = Number.NaN;
  private token = '';
  private side: 0 | 1 | -1 = -1;
  private pips = Number.NaN;
  private size = Number.NaN;
  private changes: SourceChange[] = [];
  private tokens: string[] = [];
  private hasChanges = false;

  /** @param bytes whole lines @param known tokens, kept from one member to the next */
  constructor(bytes: Buffer, known: KnownTexts) {
    this.bytes = bytes;
    this.known = known;
    this.escape = this.nextEscape(0);
  }

  /** Returns the message of the line from `from` to `end`; undefined where the general reader has to read it. */
  read(from: number, end: number): ReadMessage | undefined {
    if (this.escape < from) this.escape = this.nextEscape(from);
    this.at = from;
    if (this.escape < end || !this.takesText(BEGIN)) return undefined;
    const at = this.digits();
    if (!isRecordingTime(at) || !this.takesText(MESSAGE)) return undefined;
    this.type = undefined;
    this.time = Number.NaN;
    this.hasChanges = false;
    this.forget();
    if (!this.members(false) || !this.takes(OBJECT_END) || this.at !== end) return undefined;
    const events = isRecordingTime(this.time) ? this.events() : undefined;
    return events === undefined ? undefined : { at, kind: 'read', events };
  }

  private nextEscape(from: number): number {
    const found = this.bytes.indexOf(BACKSLASH, from);
    return found === -1 ? Number.POSITIVE_INFINITY : found;
  }

  private events(): readonly SourceEvent[] | undefined {
    const { changes, time, token, tokens, type } = this;
    if (type === TRADE) {
      if (this.hasChanges || !this.isWhole()) return undefined;
      return [{ kind: 'print', token, at: time, ...this.change() }];
    }
    if (type !== CHANGE || !this.hasChanges) return undefined;
    const events: TokenChanges[] = [];
    for (let i = 0; i < changes.length; i++) {
      const known = events.find((event) => event.token === tokens[i]);
      if (known !== undefined) known.changes.push(changes[i]!);
      else if (events.length === TOKENS_MAX) return undefined;
      else events.push({ kind: 'changes', token: tokens[i]!, at: time, changes: [changes[i]!] });
    }
    return events;
  }

  private forget(): void {
    this.token = '';
    this.side = -1;
    this.pips = Number.NaN;
    this.size = Number.NaN;
  }

  private isWhole(): boolean {
    const { pips, side, size, token } = this;
    return token !== '' && side !== -1 && pips > 0 && pips < PIPS_PER_UNIT && size >= 0;
  }

  private change(): SourceChange {
    return { side: this.side, pips: this.pips, size: this.size };
  }

  /** Reads the members of an object behind its brace. Returns false where something is unusual. */
  private members(isChange: boolean): boolean {
    do {
      if (!this.takes(QUOTE)) return false;
      const key = this.at;
      const length = this.toQuote() - key;
      if (length < 0 || !this.takes(COLON)) return false;
      const isList = !isChange && length === CHANGES_KEY.length && this.is(CHANGES_KEY, key);
      if (!(isList ? this.list() : this.member(key, length))) return false;
    } while (this.takes(COMMA));
    return this.takes(OBJECT_END);
  }

  private member(key: number, length: number): boolean {
    if (this.bytes[this.at] !== QUOTE) return false;
    switch (length) {
      case SIZE_KEY.length:
        if (this.is(SIZE_KEY, key)) {
          this.size = this.decimal(6);
          return this.size >= 0;
        }
        if (!this.is(SIDE_KEY, key)) break;
        this.side = this.takesText(BUY) ? Side.buy : this.takesText(SELL) ? Side.sell : -1;
        return this.side !== -1;
      case PRICE_KEY.length:
        if (this.is(PRICE_KEY, key)) {
          this.pips = this.decimal(4);
          return this.pips >= 0;
        }
        break;
      case TOKEN_KEY.length:
        if (this.is(TOKEN_KEY, key)) return this.readToken();
        break;
      case TIME_KEY.length:
        if (this.is(TIME_KEY, key)) {
          this.time = this.decimal(0);
          return this.time >= 0;
        }
        break;
      case TYPE_KEY.length:
        if (!this.is(TYPE_KEY, key)) break;
        this.type = this.takesText(CHANGE) ? CHANGE : this.takesText(TRADE) ? TRADE : undefined;
        return this.type !== undefined;
    }
    this.at += 1;
    return this.toQuote() >= 0;
  }

  private readToken(): boolean {
    this.at += 1;
    const start = this.at;
    const end = this.toQuote();
    const token = end < 0 ? undefined : this.known.text(this.bytes, start, end);
    this.token = token ?? '';
    return token !== undefined;
  }

  /** Reads the list of changes. */
  private list(): boolean {
    if (this.hasChanges || !this.takes(LIST)) return false;
    // A trade has these members of its own, before or behind a list.
    const { pips, side, size, token } = this;
    this.hasChanges = true;
    this.changes = [];
    this.tokens = [];
    do {
      this.forget();
      if (!this.takes(OBJECT) || !this.members(true) || !this.isWhole()) return false;
      this.changes.push(this.change());
      this.tokens.push(this.token);
    } while (this.takes(COMMA));
    this.token = token;
    this.side = side;
    this.pips = pips;
    this.size = size;
    return this.takes(LIST_END);
  }

  private takes(code: number): boolean {
    if (this.bytes[this.at] !== code) return false;
    this.at += 1;
    return true;
  }

  private takesText(text: Buffer): boolean {
    if (!this.is(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  private is(text: Buffer, from: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false;
    return true;
  }

  /** Moves behind the next quote. Returns its place; -1 where a control character is before it, or none. */
  private toQuote(): number {
    const { bytes } = this;
    let at = this.at;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.at = at + 1;
        return at;
      }
      if (byte < SPACE) return -1;
    }
    return -1;
  }

  /** Reads a whole number as JSON has it; NaN if there is none. */
  private digits(): number {
    const first = this.at;
    const value = this.whole();
    const length = this.at - first;
    const isZeroFirst = length > 1 && this.bytes[first] === ZERO;
    return length === 0 || isZeroFirst ? Number.NaN : value;
  }

  private whole(): number {
    const { bytes } = this;
    let { at } = this;
    let value = 0;
    for (; at < bytes.length; at++) {
      const digit = bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) break;
      value = 10 * value + digit;
    }
    this.at = at;
    return value;
  }

  /** Reads a quoted decimal as whole units of 10^-decimals; NaN if it is none, or has more decimals. */
  private decimal(decimals: number): number {
    this.at += 1;
    const first = this.at;
    let value = this.whole();
    let places = 0;
    if (this.takes(POINT)) {
      const start = this.at;
      const fraction = this.whole();
      places = this.at - start;
      if (places === 0 || places > decimals) return Number.NaN;
      value = value * POWERS[places]! + fraction;
    } else if (this.at === first) return Number.NaN;
    if (!this.takes(QUOTE)) return Number.NaN;
    value *= POWERS[decimals - places]!;
    return Number.isSafeInteger(value) ? value : Number.NaN;
  }
}

const KNOWN_ROWS = 1 << 12;

/** Texts of tokens by their bytes, so that a token is the same text each time. One text for each row of a table. */
export class KnownTexts {
  private readonly bytes: (Buffer | undefined)[] = Array.from({ length: KNOWN_ROWS });
  private readonly texts: string[] = Array.from({ length: KNOWN_ROWS }, () => '');

  /** Returns the text of bytes; undefined unless all of them are ASCII. */
  text(from: Buffer, start: number, end: number): string | undefined {
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + from[at]!) | 0;
    const row = (hash ^ (hash >>> 12)) & (KNOWN_ROWS - 1);
    const known = this.bytes[row];
    if (known !== undefined && isEqual(known, from, start, end)) return this.texts[row]!;
    const bytes = Buffer.from(from.subarray(start, end));
    if (bytes.some((byte) => byte > ASCII_MAX)) return undefined;
    const text = bytes.toString('latin1');
    this.bytes[row] = bytes;
    this.texts[row] = text;
    return text;
  }
}

function isEqual(known: Buffer, from: Buffer, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== from[start + i]) return false;
  return true;
}
