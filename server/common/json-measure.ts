/**
 * JSON measured from its bytes before it is parsed: one pass, one to two nanoseconds a byte, where JSON.parse
 * takes ten. An excessive body is refused, and the objects of a list are counted, without a parser.
 *
 * Thread: any. Not here: validity, which the parser decides.
 */

export interface JsonBounds {
  /** Bounds of the members of JsonMeasure. */
  readonly depth: number;
  readonly values: number;
}

export interface JsonMeasure {
  /** Nesting of arrays and objects. */
  depth: number;
  /** All values; an empty array or object counts twice. Names of members are not counted. */
  values: number;
  /** Elements of the outermost array, at least one. */
  items: number;
}

/** Far more than clients nest in fields that the node does not read. */
const DEPTH_MAX = 32;
/** An order has 17 members, a market of the catalog some 100. */
const VALUES_PER_ITEM = 32;
/** Allowance for bodies of a few items. */
const VALUES_BESIDE = 1_024;

export function boundsOf(items: number): JsonBounds {
  return { depth: DEPTH_MAX, values: VALUES_BESIDE + VALUES_PER_ITEM * items };
}

export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
/** Clears the one bit in which the brackets of an object differ from those of an array. */
export const BRACKET_MASK = 0xdf;

export class JsonScan implements JsonMeasure {
  depth = 0;
  values = 1;
  items = 1;
  private readonly bytes: Uint8Array;
  private readonly bounds: JsonBounds;
  private at = 0;
  private level = 0;
  private isInText = false;

  constructor(bytes: Uint8Array, bounds: JsonBounds) {
    this.bytes = bytes;
    this.bounds = bounds;
  }

  get isWithin(): boolean {
    return this.depth <= this.bounds.depth && this.values <= this.bounds.values;
  }

  /**
   * Reads `count` bytes; returns true while there is more to read and no bound is passed. Counters are cut
   * to 32 bits, so that V8 keeps them as integers: twice as fast.
   */
  step(count: number): boolean {
    const { bytes } = this;
    const depthMax = this.bounds.depth | 0;
    const valuesMax = this.bounds.values | 0;
    const end = Math.min(bytes.length, this.at + count) | 0;
    let at = this.isInText ? this.leaveText(this.at, end) : this.at | 0;
    let level = this.level | 0;
    let deepest = this.depth | 0;
    let values = this.values | 0;
    let items = this.items | 0;
    while (at < end) {
      const byte = bytes[at]!;
      at = (at + 1) | 0;
      if (byte > CLOSE_OBJECT || (byte < OPEN_ARRAY && byte !== QUOTE && byte !== COMMA)) continue;
      if (byte === QUOTE) at = this.leaveText(at, end);
      else if ((byte & BRACKET_MASK) === CLOSE_ARRAY) level = (level - 1) | 0;
      else if (byte === COMMA) {
        values = (values + 1) | 0;
        if (level === 1) items = (items + 1) | 0;
        if (values > valuesMax) break;
      } else if ((byte & BRACKET_MASK) === OPEN_ARRAY) {
        values = (values + 1) | 0;
        level = (level + 1) | 0;
        if (level > deepest) deepest = level;
        if (deepest > depthMax || values > valuesMax) break;
      }
    }
    this.at = at;
    this.level = level;
    this.depth = deepest;
    this.values = values;
    this.items = items;
    return at < bytes.length && this.isWithin;
  }

  private leaveText(from: number, end: number): number {
    const quote = closingQuote(this.bytes, from, end);
    this.isInText = quote >= end;
    return this.isInText ? quote : (quote + 1) | 0;
  }
}

/** Position of the quote that ends the text at `from`; `end` or more where it goes on. */
export function closingQuote(bytes: Uint8Array, from: number, end: number): number {
  let at = from | 0;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte === QUOTE) break;
    at = (at + (byte === BACKSLASH ? 2 : 1)) | 0;
  }
  return at;
}

/** Objects in the outermost list of a body; any number for another body. */
export function countObjects(body: Uint8Array): number {
  return objectStarts(body, body.length).count;
}

/** Number of objects in the outermost list, and positions of the first one and of each `every`-th behind it. */
export function objectStarts(body: Uint8Array, every: number): { count: number; starts: number[] } {
  const starts: number[] = [];
  const end = body.length;
  let depth = 0;
  let count = 0;
  for (let at = 0; at < end; at++) {
    const byte = body[at]!;
    if (byte === QUOTE) at = closingQuote(body, at + 1, end);
    else if (byte === OPEN_ARRAY) depth += 1;
    else if (byte === OPEN_OBJECT) {
      if (depth === 1) {
        if (count % every === 0) starts.push(at);
        count += 1;
      }
      depth += 1;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
  }
  return { count, starts };
}
