/**
 * Unsigned 256-bit numbers and fixed-size byte strings between their JSON text and their bytes.
 * Text is read into a caller's buffer without allocating and without BigInt.
 *
 * Thread: any. Non-goals: arithmetic.
 */

const UINT256_BYTES = 32;
const WORDS = 8;

const UINT256_MAX_TEXT =
  '115792089237316195423570985008687907853269984665640564039457584007913129639935';

/** Limbs of 24 bits: one limb times 10^8 plus a carry stays below 2^53. */
const LIMB_BITS = 24;
const LIMB = 2 ** LIMB_BITS;
const LIMBS = 11;
const CHUNK_DIGITS = 8;
const limbs = new Float64Array(LIMBS);

const wordBytes = new Uint8Array(UINT256_BYTES);

const UUID_TEXT_LENGTH = 36;
const UUID_HYPHENS = [8, 13, 18, 23];
/** Start of each group of four digits. Two groups make a word. */
const UUID_QUARTETS = [0, 4, 9, 14, 19, 24, 28, 32];
const HYPHEN = 0x2d;

const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Checks a number of docs/protocol.md#numbers-in-requests, from `start` on. */
export function isUint256(text: string, start = 0): boolean {
  const digits = text.length - start;
  if (digits < 1 || digits > UINT256_MAX_TEXT.length) return false;
  if (digits > 1 && text.charCodeAt(start) === DIGIT_0) return false;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < DIGIT_0 || code > DIGIT_9) return false;
  }
  if (digits < UINT256_MAX_TEXT.length) return true;
  return (start === 0 ? text : text.slice(start)) <= UINT256_MAX_TEXT;
}

/** Writes a text as 32 big-endian bytes; returns false and writes nothing if it is no uint256. */
export function decimalToBytes(text: string, out: Uint8Array, offset: number): boolean {
  if (!isUint256(text)) return false;
  const used = readLimbs(text);
  out.fill(0, offset, offset + UINT256_BYTES);
  let at = offset + UINT256_BYTES - 1;
  for (let i = 0; i < used; i++) {
    const limb = limbs[i]!;
    out[at] = limb;
    if (at - 1 >= offset) out[at - 1] = limb >>> 8;
    if (at - 2 >= offset) out[at - 2] = limb >>> 16;
    at -= 3;
  }
  return true;
}

/**
 * Writes a text as eight 32-bit words, the most significant first; returns false for text that is no
 * uint256.
 */
export function decimalToWords(
  text: string,
  out: Uint32Array | Int32Array,
  offset: number,
): boolean {
  if (!decimalToBytes(text, wordBytes, 0)) return false;
  for (let i = 0; i < WORDS; i++) out[offset + i] = wordAt(wordBytes, i);
  return true;
}

export function wordsToDecimal(words: Uint32Array | Int32Array, offset: number): string {
  let value = 0n;
  for (let i = 0; i < WORDS; i++) value = (value << 32n) | BigInt(words[offset + i]! >>> 0);
  return value.toString();
}

/** A uint256 text as a number; -1 above 2^53 - 1, and for text that is not a uint256. */
export function decimalToSafe(text: string): number {
  if (text.length > 16 || !isUint256(text)) return -1;
  let value = 0;
  for (let i = 0; i < text.length; i++) value = value * 10 + (text.charCodeAt(i) - DIGIT_0);
  // Rounding in the last step cannot turn a larger value into 2^53 - 1, because 2^53 lies between.
  return value <= Number.MAX_SAFE_INTEGER ? value : -1;
}

/**
 * Writes `0x` + exactly 2 x `byteCount` hex digits (either case) as bytes to `out` from `offset`.
 * @returns false for any other text; `out` may then contain a part
 */
export function hexToBytes(
  text: string,
  byteCount: number,
  out: Uint8Array,
  offset: number,
): boolean {
  if (text.length !== 2 + 2 * byteCount) return false;
  if (text.charCodeAt(0) !== DIGIT_0 || text.charCodeAt(1) !== 0x78) return false;
  for (let i = 0; i < byteCount; i++) {
    const value = (nibble(text.charCodeAt(2 + 2 * i)) << 4) | nibble(text.charCodeAt(3 + 2 * i));
    if (value < 0) return false;
    out[offset + i] = value;
  }
  return true;
}

/** Writes `0x` and up to 64 hex digits as eight 32-bit words; false for any other text. */
export function hexToWords(text: string, out: Int32Array): boolean {
  const padded = `0x${text.slice(2).padStart(2 * UINT256_BYTES, '0')}`;
  if (!text.startsWith('0x') || !hexToBytes(padded, UINT256_BYTES, wordBytes, 0)) return false;
  bytesToWords(wordBytes, out);
  return true;
}

/** Writes a condition id of 31 or 32 bytes as 32 bytes; the absent last byte is 0 (docs/protocol.md#identifiers). */
export function conditionToBytes(text: string, out: Uint8Array): boolean {
  if (text.length !== 2 * UINT256_BYTES) return hexToBytes(text, UINT256_BYTES, out, 0);
  out[UINT256_BYTES - 1] = 0;
  return hexToBytes(text, UINT256_BYTES - 1, out, 0);
}

export function bytesToHex(bytes: Uint8Array, offset: number, byteCount: number): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + offset, byteCount).toString('hex')}`;
}

/** Writes the 16 bytes of a UUID text (letters of either case) as four big-endian words; false for other texts. */
export function uuidToWords(text: string, out: Int32Array): boolean {
  if (text.length !== UUID_TEXT_LENGTH) return false;
  for (const at of UUID_HYPHENS) if (text.charCodeAt(at) !== HYPHEN) return false;
  let word = 0;
  for (let i = 0; i < UUID_QUARTETS.length; i++) {
    const quartet = fourDigits(text, UUID_QUARTETS[i]!);
    if (quartet < 0) return false;
    word = (word << 16) | quartet;
    out[i >> 1] = word;
  }
  return true;
}

/** The value of four hex digits, or less than 0. */
function fourDigits(text: string, at: number): number {
  const high = (nibble(text.charCodeAt(at)) << 4) | nibble(text.charCodeAt(at + 1));
  const low = (nibble(text.charCodeAt(at + 2)) << 4) | nibble(text.charCodeAt(at + 3));
  return (high << 8) | low;
}

/** -1 for a character that is not a hex digit; or-ing it into a byte keeps the byte negative. */
function nibble(code: number): number {
  if (code >= DIGIT_0 && code <= DIGIT_9) return code - DIGIT_0;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** Reads checked digits into `limbs`, the least significant first. Returns how many it uses. */
function readLimbs(text: string): number {
  let used = 1;
  limbs[0] = 0;
  let at = 0;
  while (at < text.length) {
    // The first chunk has the digits that are left over, so that every later chunk is full.
    const end = at === 0 ? text.length % CHUNK_DIGITS || CHUNK_DIGITS : at + CHUNK_DIGITS;
    let chunk = 0;
    for (; at < end; at++) chunk = chunk * 10 + (text.charCodeAt(at) - DIGIT_0);
    used = multiplyAdd(used, chunk);
  }
  return used;
}

/** limbs = limbs x 10^8 + chunk. */
function multiplyAdd(used: number, chunk: number): number {
  let carry = chunk;
  for (let i = 0; i < used; i++) {
    const product = limbs[i]! * 1e8 + carry;
    carry = Math.floor(product / LIMB);
    limbs[i] = product - carry * LIMB;
  }
  while (carry > 0) {
    limbs[used++] = carry % LIMB;
    carry = Math.floor(carry / LIMB);
  }
  return used;
}

export function bytesToWords(bytes: Uint8Array, out: Int32Array): Int32Array {
  for (let i = 0; i < out.length; i++) out[i] = wordAt(bytes, i);
  return out;
}

/** Writes big-endian 32-bit words as bytes. */
export function wordsToBytes(words: Int32Array, out: Uint8Array): void {
  for (let i = 0; i < out.length; i++) out[i] = words[i >> 2]! >>> (24 - 8 * (i & 3));
}

function wordAt(bytes: Uint8Array, i: number): number {
  const at = 4 * i;
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/** `0x` and the lower-case hex digits of up to eight big-endian 32-bit words. */
export function wordsToHex(words: Int32Array, offset: number, count: number): string {
  for (let w = 0; w < count; w++) {
    const word = words[offset + w]!;
    wordBytes[4 * w] = word >>> 24;
    wordBytes[4 * w + 1] = word >>> 16;
    wordBytes[4 * w + 2] = word >>> 8;
    wordBytes[4 * w + 3] = word;
  }
  return bytesToHex(wordBytes, 0, 4 * count);
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}
