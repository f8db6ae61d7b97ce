/**
 * Arguments of a contract call as Solidity encodes them: words of 32 bytes, and arrays and texts of bytes at offsets.
 *
 * Thread: any; pure.
 */
import { keccak256 } from '../auth/keccak.ts';
import { bytesToHex } from '../common/uint256.ts';

const WORD = 32;
const ADDRESS_BYTES = 20;
export const SELECTOR_BYTES = 4;

/** Thrown for data that is not what a function takes. */
export class BadCallData extends Error {}

/** First bytes of the data of a call, as hex digits. */
export function selectorOf(signature: string): string {
  return bytesToHex(keccak256(Buffer.from(signature, 'ascii')), 0, SELECTOR_BYTES);
}

export class Arguments {
  private readonly bytes: Buffer;
  private readonly start: number;

  /** @param start offsets count from here */
  constructor(bytes: Uint8Array, start = 0) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.start = start;
  }

  /** Returns `0x` and lower-case hex digits of the word of an index. */
  hex(index: number): string {
    return `0x${this.word(index).toString('hex')}`;
  }

  address(index: number): string {
    const word = this.word(index);
    if (!isZero(word, WORD - ADDRESS_BYTES)) throw new BadCallData('an address has 20 bytes');
    return `0x${word.toString('hex', WORD - ADDRESS_BYTES)}`;
  }

  /** Returns a number; -1 above 2^53 - 1. */
  number(index: number): number {
    const word = this.word(index);
    const low = word.readBigUInt64BE(WORD - 8);
    const isSafe = isZero(word, WORD - 8) && low <= BigInt(Number.MAX_SAFE_INTEGER);
    return isSafe ? Number(low) : -1;
  }

  flag(index: number): boolean {
    const number = this.number(index);
    if (number !== 0 && number !== 1) throw new BadCallData('a flag is 0 or 1');
    return number === 1;
  }

  /** Returns 31 bytes, whose last one is zero. */
  hex31(index: number): string {
    const text = this.hex(index);
    if (!text.endsWith('00')) throw new BadCallData('a word of 31 bytes ends with zero');
    return text.slice(0, -2);
  }

  /** @param max bound of its items */
  numbers(index: number, max: number): number[] {
    const { at, length } = this.listAt(index, max);
    const items = new Arguments(this.bytes, at);
    return Array.from({ length }, (_, i) => items.number(i));
  }

  /** Arguments of each item of an array of structures that hold something at an offset. */
  structures(index: number, max: number): Arguments[] {
    const { at, length } = this.listAt(index, max);
    const offsets = new Arguments(this.bytes, at);
    return Array.from({ length }, (_, i) => new Arguments(this.bytes, at + offsets.offset(i)));
  }

  data(index: number): Uint8Array {
    const { at, length } = this.listAt(index, this.bytes.length);
    if (at + length > this.bytes.length) throw new BadCallData('the data is too short');
    return this.bytes.subarray(at, at + length);
  }

  private listAt(index: number, max: number): { at: number; length: number } {
    const at = this.start + this.offset(index);
    const length = new Arguments(this.bytes, at).number(0);
    if (length < 0 || length > max) throw new BadCallData('a list is too long');
    return { at: at + WORD, length };
  }

  private offset(index: number): number {
    const offset = this.number(index);
    if (offset < 0 || offset > this.bytes.length) throw new BadCallData('the data is too short');
    return offset;
  }

  private word(index: number): Buffer {
    const at = this.start + WORD * index;
    if (at + WORD > this.bytes.length) throw new BadCallData('the data is too short');
    return this.bytes.subarray(at, at + WORD);
  }
}

function isZero(word: Buffer, count: number): boolean {
  for (let i = 0; i < count; i++) if (word[i] !== 0) return false;
  return true;
}
