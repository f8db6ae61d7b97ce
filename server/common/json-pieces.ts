/**
 * JSON.parse in pieces: gives the same value for the same bytes, in steps of about a millisecond,
 * so that a long body does not block the thread.
 *
 * Numbers, names and texts are cut out of the bytes and parsed by JSON.parse one by one; a long
 * text in parts. It takes some five times as long as JSON.parse, so it is not used for short
 * bodies.
 *
 * Thread: any. Non-goals: bounds of depth and number of values (json-measure.ts).
 */
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from './json-measure.ts';

const BYTES_PER_STEP = 2 ** 16;
const TOKENS_PER_STEP = 4_096;

type Container = unknown[] | Record<string, unknown>;

const Next = {
  value: 0,
  firstItem: 1,
  firstName: 2,
  name: 3,
  colon: 4,
  comma: 5,
  /** The rest of a text that has begun. */
  text: 6,
  end: 7,
} as const;
type Next = (typeof Next)[keyof typeof Next];

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const LOWER_U = 0x75;

/** Bytes of an escape: backslash and letter; a u is followed by four digits. */
const ESCAPE_BYTES = 2;
const LONG_ESCAPE_BYTES = 6;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** A byte order mark is not removed here: it may be ignored only before the whole body. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class JsonPieces {
  /** The whole value once step() has returned false. */
  value: unknown = undefined;
  private readonly bytes: Uint8Array;
  private at: number;
  private next: Next = Next.value;
  private readonly open: Container[] = [];
  private name = '';
  private text = '';
  private isName = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.at = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
  }

  /** Reads on; false once everything is read. Throws when the bytes are not JSON. */
  step(): boolean {
    const { bytes } = this;
    const pause = Math.min(this.at + BYTES_PER_STEP, bytes.length);
    for (let tokens = 0; tokens < TOKENS_PER_STEP && this.at < pause; tokens++) this.token(pause);
    if (this.at < bytes.length) return true;
    if (this.next !== Next.end) throw new SyntaxError('unexpected end');
    return false;
  }

  private token(pause: number): void {
    const { next } = this;
    if (next !== Next.text) this.skipSpaces(pause);
    if (this.at === pause) return;
    const byte = this.bytes[this.at]!;
    if (next === Next.text) this.readText(pause);
    else if (next === Next.firstItem && byte === CLOSE_ARRAY) this.close();
    else if (next === Next.firstName && byte === CLOSE_OBJECT) this.close();
    else if (next === Next.value || next === Next.firstItem) this.begin(byte);
    else if (next === Next.name || next === Next.firstName) this.beginName(byte);
    else if (next === Next.colon) this.pass(byte === COLON, Next.value);
    else if (next === Next.comma) this.afterValue(byte);
    else throw new SyntaxError('more behind the value');
  }

  private skipSpaces(pause: number): void {
    for (; this.at < pause; this.at++) {
      const byte = this.bytes[this.at];
      const isSpace = byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB;
      if (!isSpace) return;
    }
  }

  private pass(isRight: boolean, next: Next): void {
    if (!isRight) throw new SyntaxError('unexpected byte');
    this.at += 1;
    this.next = next;
  }

  private afterValue(byte: number): void {
    const isArray = Array.isArray(this.open.at(-1));
    if (byte === (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) this.close();
    else this.pass(byte === COMMA, isArray ? Next.value : Next.name);
  }

  private close(): void {
    this.at += 1;
    this.open.pop();
    this.next = this.open.length === 0 ? Next.end : Next.comma;
  }

  private begin(byte: number): void {
    if (byte === OPEN_ARRAY) this.enter([], Next.firstItem);
    else if (byte === OPEN_OBJECT) this.enter({}, Next.firstName);
    else if (byte === QUOTE) this.beginText(false);
    else {
      const from = this.at;
      while (this.at < this.bytes.length && !endsToken(this.bytes[this.at]!)) this.at += 1;
      this.put(JSON.parse(utf8.decode(this.bytes.subarray(from, this.at))));
    }
  }

  private enter(container: Container, next: Next): void {
    this.at += 1;
    this.put(container);
    this.open.push(container);
    this.next = next;
  }

  private beginName(byte: number): void {
    if (byte !== QUOTE) throw new SyntaxError('a name begins with a quote');
    this.beginText(true);
  }

  private beginText(isName: boolean): void {
    this.at += 1;
    this.text = '';
    this.isName = isName;
    this.next = Next.text;
  }

  /** Reads to the end of a text, or to a point outside escapes and characters. */
  private readText(pause: number): void {
    const { bytes } = this;
    const from = this.at;
    let at = from;
    let byte = bytes[at];
    while (at < bytes.length && byte !== QUOTE && (at < pause || isInsideCharacter(byte!))) {
      if (byte !== BACKSLASH) at += 1;
      else at += bytes[at + 1] === LOWER_U ? LONG_ESCAPE_BYTES : ESCAPE_BYTES;
      byte = bytes[at];
    }
    const part = utf8.decode(bytes.subarray(from, at));
    this.text += JSON.parse(`"${part}"`) as string;
    this.at = Math.min(at, bytes.length);
    if (byte === QUOTE) this.endText();
  }

  private endText(): void {
    this.at += 1;
    if (this.isName) {
      this.name = this.text;
      this.next = Next.colon;
    } else this.put(this.text);
    this.text = '';
  }

  private put(value: unknown): void {
    const container = this.open.at(-1);
    this.next = container === undefined ? Next.end : Next.comma;
    if (container === undefined) this.value = value;
    else if (Array.isArray(container)) container.push(value);
    else if (this.name !== '__proto__') container[this.name] = value;
    else {
      const own = { value, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(container, this.name, own);
    }
  }
}

function isInsideCharacter(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function endsToken(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
}
