/**
 * Reads the lines of a recording that are changes of levels or trades, which are most of it, from the text of a member
 * and without an object of JSON for each. A line in which anything is unusual is left to the general reader: escapes,
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

const BEGIN = '{"at":';
const MESSAGE = ',"kind":"message","message":{';
const BUY = '"BUY"';
const SELL = '"SELL"';
const CHANGE = '"price_change"';
const TRADE = '"last_trade_price"';
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

export class QuickLines {
  private readonly text: string;
  /** First backslash at or behind the line at hand. */
  private escape: number;
  private at = 0;
  // Members of the object at hand.
  private type = '';
  private time = Number.NaN;
  private token = '';
  private side: 0 | 1 | -1 = -1;
  private pips = Number.NaN;
  private size = Number.NaN;
  private changes: SourceChange[] = [];
  private tokens: string[] = [];
  private hasChanges = false;

  constructor(text: string) {
    this.text = text;
    this.escape = this.nextEscape(0);
  }

  /** Returns the message of the line from `from` to `end`; undefined where the general reader has to read it. */
  read(from: number, end: number): ReadMessage | undefined {
    const { text } = this;
    if (this.escape < from) this.escape = this.nextEscape(from);
    if (this.escape < end || !text.startsWith(BEGIN, from)) return undefined;
    this.at = from + BEGIN.length;
    const at = this.digits();
    if (!isRecordingTime(at) || !text.startsWith(MESSAGE, this.at)) return undefined;
    this.at += MESSAGE.length;
    this.type = '';
    this.time = Number.NaN;
    this.hasChanges = false;
    this.forget();
    if (!this.members(false) || !this.takes(OBJECT_END) || this.at !== end) return undefined;
    const events = isRecordingTime(this.time) ? this.events() : undefined;
    return events === undefined ? undefined : { at, kind: 'read', events };
  }

  private nextEscape(from: number): number {
    const found = this.text.indexOf('\\', from);
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
    const { text } = this;
    do {
      if (!this.takes(QUOTE)) return false;
      const key = this.at;
      const length = this.toQuote() - key;
      if (length < 0 || !this.takes(COLON)) return false;
      const isRead = isChange || length !== 13 ? this.member(key, length) : this.list(key, length);
      if (!isRead) return false;
    } while (this.takes(COMMA));
    return text.charCodeAt(this.at++) === OBJECT_END;
  }

  private member(key: number, length: number): boolean {
    if (this.text.charCodeAt(this.at) !== QUOTE) return false;
    if (this.is('price', key, length)) {
      this.pips = this.decimal(4);
      return this.pips >= 0;
    }
    if (this.is('size', key, length)) {
      this.size = this.decimal(6);
      return this.size >= 0;
    }
    if (this.is('timestamp', key, length)) {
      this.time = this.decimal(0);
      return this.time >= 0;
    }
    if (this.is('side', key, length)) {
      this.side = this.takesText(BUY) ? Side.buy : this.takesText(SELL) ? Side.sell : -1;
      return this.side !== -1;
    }
    if (this.is('event_type', key, length)) {
      this.type = this.takesText(CHANGE) ? CHANGE : this.takesText(TRADE) ? TRADE : '';
      return this.type !== '';
    }
    this.at += 1;
    const start = this.at;
    const end = this.toQuote();
    if (this.is('asset_id', key, length)) this.token = this.text.slice(start, end);
    return end >= 0;
  }

  /** Reads the list of changes. */
  private list(key: number, length: number): boolean {
    if (!this.is('price_changes', key, length)) return this.member(key, length);
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
    if (this.text.charCodeAt(this.at) !== code) return false;
    this.at += 1;
    return true;
  }

  private takesText(quoted: string): boolean {
    if (!this.is(quoted, this.at, quoted.length)) return false;
    this.at += quoted.length;
    return true;
  }

  private is(name: string, from: number, length: number): boolean {
    if (length !== name.length) return false;
    for (let i = 0; i < length; i++) {
      if (this.text.charCodeAt(from + i) !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Moves behind the next quote. Returns its place; -1 where a control character is before it, or none. */
  private toQuote(): number {
    const { text } = this;
    let at = this.at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      // Also false for the end, which has no code.
      if (!(code >= SPACE)) return -1;
      at += 1;
    }
    this.at = at + 1;
    return at;
  }

  /** Reads a whole number as JSON has it; NaN if there is none. */
  private digits(): number {
    const first = this.at;
    const value = this.whole();
    const length = this.at - first;
    const isZeroFirst = length > 1 && this.text.charCodeAt(first) === ZERO;
    return length === 0 || isZeroFirst ? Number.NaN : value;
  }

  private whole(): number {
    const { text } = this;
    let value = 0;
    for (;;) {
      const digit = text.charCodeAt(this.at) - ZERO;
      if (!(digit >= 0 && digit <= 9)) return value;
      value = 10 * value + digit;
      this.at += 1;
    }
  }

  /** Reads a quoted decimal as whole units of 10^-decimals; NaN if it is none, or has more decimals. */
  private decimal(decimals: number): number {
    this.at += 1;
    const first = this.at;
    let value = this.whole();
    let isEmpty = this.at === first;
    let places = 0;
    if (this.text.charCodeAt(this.at) === POINT) {
      this.at += 1;
      for (; places < decimals; places++) {
        const digit = this.text.charCodeAt(this.at) - ZERO;
        if (!(digit >= 0 && digit <= 9)) break;
        value = 10 * value + digit;
        this.at += 1;
      }
      isEmpty = places === 0;
    }
    if (isEmpty || !this.takes(QUOTE)) return Number.NaN;
    for (; places < decimals; places++) value *= 10;
    return Number.isSafeInteger(value) ? value : Number.NaN;
  }
}
