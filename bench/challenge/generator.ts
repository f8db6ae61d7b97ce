/**
 * Streams of our own in the challenge's format, so that tests need no file: prices around a middle
 * that wanders, most orders gone soon, some that cross, and a few messages about what is not there.
 */
import { Random } from '../random.ts';

const HEADER_BYTES = 16;
const RECORD_BYTES = 40;
const VERSION = 1;
const MIDDLE = 34_000;
/** Ticks to either side of the middle; one order in ten reaches over it. */
const WIDTH = 200;

/** A stream as a file of the challenge would hold it. */
export function generateChallenge(messages: number, seed: string): Buffer {
  const random = new Random(seed);
  const bytes = Buffer.alloc(HEADER_BYTES + messages * RECORD_BYTES);
  bytes.write('STREAM\0\0', 0, 'latin1');
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeUInt32LE(messages, 12);
  const ids: number[] = [];
  let middle = MIDDLE;
  for (let i = 0; i < messages; i++) {
    const at = HEADER_BYTES + i * RECORD_BYTES;
    const draw = random.below(100);
    const kind = draw < 52 || ids.length === 0 ? 0 : draw < 90 ? 1 : 2;
    middle += random.below(3) - 1;
    const side = random.below(2);
    const reach = random.below(10) === 0 ? -WIDTH / 4 : 1;
    const away = reach + random.below(WIDTH);
    const id = kind === 0 ? ids.length + 1 : recent(random, ids);
    if (kind === 0) ids.push(id);
    bytes[at] = kind;
    bytes[at + 1] = side;
    bytes[at + 2] = kind === 0 && random.below(12) === 0 ? 1 : 0;
    bytes.writeUInt32LE(1 + random.below(500), at + 4);
    bytes.writeBigUInt64LE(BigInt(i + 1), at + 8);
    bytes.writeBigUInt64LE(BigInt(id), at + 16);
    bytes.writeBigInt64LE(BigInt(side === 0 ? middle - away : middle + away), at + 24);
  }
  return bytes;
}

/** Mostly one of the newest ids, which may have gone already. */
function recent(random: Random, ids: readonly number[]): number {
  const span = random.below(4) === 0 ? ids.length : Math.min(ids.length, 20);
  return ids[ids.length - 1 - random.below(span)]!;
}
