/**
 * Streams of a public matching-engine challenge: one instrument, price-time priority. Format, little-
 * endian: magic u64, version u32, count u32; then records of 40 bytes:
 *
 *   type u8 (0 new, 1 cancel, 2 modify) | side u8 (0 buy, 1 sell) | ioc u8 | - | quantity u32
 *   sequence u64 | order id u64 | price i64 (ticks) | reserved u64
 *
 * They are decoded before anything is measured, to rows of eight words.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Words of a decoded message. */
export const MESSAGE_WORDS = 8;
export const Message = {
  /** Kind, side and IOC: MessageFlag. */
  flags: 0,
  quantity: 1,
  sequence: 2,
  id: 3,
  price: 4,
} as const;
export const MessageFlag = { kindMask: 3, sell: 1 << 2, ioc: 1 << 3 } as const;
export const MessageKind = { new: 0, cancel: 1, modify: 2 } as const;

export interface ChallengeStream {
  readonly name: string;
  readonly messages: number;
  /** MESSAGE_WORDS a message. */
  readonly words: Int32Array;
  /** Ids are 1 to idMax, prices 1 to priceMax. */
  readonly idMax: number;
  readonly priceMin: number;
  readonly priceMax: number;
}

const HEADER_BYTES = 16;
const RECORD_BYTES = 40;
/** Ids index a table here, and prices a ladder: larger ones are not of this challenge. */
const ID_MAX = 2 ** 26;
const PRICE_MAX = 2 ** 20 - 1;
const QUANTITY_MAX = 2 ** 31 - 1;

/** Reads a stream, raw, .gz or .br; throws an Error that says what is wrong with it. */
export function readChallenge(path: string): ChallengeStream {
  const stored = readFileSync(path);
  const bytes = path.endsWith('.gz')
    ? gunzipSync(stored)
    : path.endsWith('.br')
      ? brotliDecompressSync(stored)
      : stored;
  return decodeChallenge(basename(path), bytes);
}

export function decodeChallenge(name: string, bytes: Buffer): ChallengeStream {
  const wrong = (what: string): Error => new Error(`${name}: ${what}`);
  if (bytes.length < HEADER_BYTES) throw wrong('shorter than its header');
  const messages = bytes.readUInt32LE(12);
  const expected = HEADER_BYTES + messages * RECORD_BYTES;
  if (bytes.length !== expected) {
    throw wrong(`${bytes.length} bytes, but ${messages} messages take ${expected}`);
  }
  const words = new Int32Array(messages * MESSAGE_WORDS);
  let idMax = 0;
  let priceMin = PRICE_MAX;
  let priceMax = 1;
  for (let i = 0; i < messages; i++) {
    const at = HEADER_BYTES + i * RECORD_BYTES;
    const kind = bytes[at]!;
    const side = bytes[at + 1]!;
    const quantity = bytes.readUInt32LE(at + 4);
    const sequence = Number(bytes.readBigUInt64LE(at + 8));
    const id = Number(bytes.readBigUInt64LE(at + 16));
    const price = Number(bytes.readBigInt64LE(at + 24));
    if (kind > 2 || side > 1) throw wrong(`message ${i} has type ${kind}, side ${side}`);
    if (id < 1 || id > ID_MAX) throw wrong(`message ${i} has id ${id}, not 1 to ${ID_MAX}`);
    if (sequence > QUANTITY_MAX) throw wrong(`message ${i} has sequence ${sequence}`);
    if (kind !== MessageKind.cancel) {
      if (price < 1 || price > PRICE_MAX) throw wrong(`message ${i} has price ${price}`);
      if (quantity < 1 || quantity > QUANTITY_MAX) {
        throw wrong(`message ${i} has quantity ${quantity}`);
      }
      priceMin = Math.min(priceMin, price);
      priceMax = Math.max(priceMax, price);
    }
    idMax = Math.max(idMax, id);
    const row = i * MESSAGE_WORDS;
    words[row + Message.flags] =
      kind | (side * MessageFlag.sell) | (bytes[at + 2] === 0 ? 0 : MessageFlag.ioc);
    words[row + Message.quantity] = quantity;
    words[row + Message.sequence] = sequence;
    words[row + Message.id] = id;
    words[row + Message.price] = price;
  }
  return { name, messages, words, idMax, priceMin: Math.min(priceMin, priceMax), priceMax };
}

export interface DecodedMessage {
  kind: number;
  /** 0 buy, 1 sell. */
  side: number;
  ioc: boolean;
  sequence: number;
  id: number;
  price: number;
  quantity: number;
}

/** Calls `visit` for each message, with one object that is used again. */
export function eachMessage(
  stream: ChallengeStream,
  visit: (message: Readonly<DecodedMessage>) => void,
): void {
  const { words } = stream;
  const message = { kind: 0, side: 0, ioc: false, sequence: 0, id: 0, price: 0, quantity: 0 };
  for (let at = 0; at < words.length; at += MESSAGE_WORDS) {
    const flags = words[at + Message.flags]!;
    message.kind = flags & MessageFlag.kindMask;
    message.side = (flags & MessageFlag.sell) === 0 ? 0 : 1;
    message.ioc = (flags & MessageFlag.ioc) !== 0;
    message.sequence = words[at + Message.sequence]!;
    message.id = words[at + Message.id]!;
    message.price = words[at + Message.price]!;
    message.quantity = words[at + Message.quantity]!;
    visit(message);
  }
}

/** The first messages of a stream. */
export function prefixOf(stream: ChallengeStream, messages: number): ChallengeStream {
  if (messages >= stream.messages) return stream;
  const words = stream.words.slice(0, messages * MESSAGE_WORDS);
  let idMax = 0;
  for (let at = 0; at < words.length; at += MESSAGE_WORDS) {
    idMax = Math.max(idMax, words[at + Message.id]!);
  }
  return { ...stream, name: `${stream.name}, first ${messages}`, messages, words, idMax };
}
