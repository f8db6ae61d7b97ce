/**
 * Payload of a log record, stated once: one batch of commands that changed the engine.
 *
 *   0   magic u32, version u32
 *   8   sequence f64        the engine's batch number after it, from 1 without a gap
 *   16  time f64            unix milliseconds given to the batch
 *   24  persistedClosedSequence f64 stamp given to the batch (engine.begin)
 *   32  firstFill f64, endFill f64
 *   48  closedEnd f64
 *   56  digest i32, command words u32
 *   64  commands            as engine/commands.ts encodes them
 *   end crc32 u32           over everything before it
 *
 * Little-endian, as the machines that it runs on are.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';

const MAGIC = 0x4a544250;
const VERSION = 1;
const HEADER_BYTES = 64;
const TRAILER_BYTES = 4;

export interface BatchFacts {
  readonly sequence: number;
  readonly time: number;
  readonly persistedClosedSequence: number;
  readonly firstFill: number;
  readonly endFill: number;
  readonly closedEnd: number;
  readonly digest: number;
}

export interface BatchRecord extends BatchFacts {
  readonly i32: Int32Array;
  readonly f64: Float64Array;
}

export function batchRecordBytes(words: number): number {
  return HEADER_BYTES + words * 4 + TRAILER_BYTES;
}

export function encodeBatch(facts: BatchFacts, commands: Int32Array): Buffer {
  const bytes = Buffer.allocUnsafeSlow(batchRecordBytes(commands.length));
  // An acknowledgement waits for it: plain stores, where the methods of Buffer are calls.
  const i32 = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const f64 = new Float64Array(bytes.buffer, bytes.byteOffset, HEADER_BYTES / 8);
  i32[0] = MAGIC;
  i32[1] = VERSION;
  f64[1] = facts.sequence;
  f64[2] = facts.time;
  f64[3] = facts.persistedClosedSequence;
  f64[4] = facts.firstFill;
  f64[5] = facts.endFill;
  f64[6] = facts.closedEnd;
  i32[14] = facts.digest;
  i32[15] = commands.length;
  i32.set(commands, HEADER_BYTES / 4);
  i32[i32.length - 1] = crc32(bytes.subarray(0, bytes.length - TRAILER_BYTES));
  return bytes;
}

/** The commands of an encoded batch, as they lie in its payload: nothing may be written to them. */
export function commandsIn({ buffer, byteOffset, length }: Buffer) {
  const at = byteOffset + HEADER_BYTES;
  const words = (length - HEADER_BYTES - TRAILER_BYTES) / 4;
  return { i32: new Int32Array(buffer, at, words), f64: new Float64Array(buffer, at, words / 2) };
}

export function stampOf({
  buffer,
  byteOffset,
}: Uint8Array): Pick<BatchFacts, 'sequence' | 'time' | 'persistedClosedSequence' | 'closedEnd'> {
  const head = new DataView(buffer, byteOffset, HEADER_BYTES);
  return {
    sequence: head.getFloat64(8, true),
    time: head.getFloat64(16, true),
    persistedClosedSequence: head.getFloat64(24, true),
    closedEnd: head.getFloat64(48, true),
  };
}

/** Decodes a record, or returns a text with its problem. */
export function decodeBatch(stored: Buffer): BatchRecord | string {
  if (stored.length < HEADER_BYTES + TRAILER_BYTES) return 'it is too short';
  if (stored.readUInt32LE(0) !== MAGIC) return 'it does not begin with the magic number';
  const version = stored.readUInt32LE(4);
  if (version !== VERSION) return `its format is ${version}, this node reads ${VERSION}`;
  const words = stored.readUInt32LE(60);
  if (stored.length !== batchRecordBytes(words)) return 'its length differs from its header';
  const end = stored.length - TRAILER_BYTES;
  if (stored.readUInt32LE(end) !== crc32(stored.subarray(0, end))) return 'its checksum is wrong';
  const commands = new ArrayBuffer(words * 4);
  new Uint8Array(commands).set(stored.subarray(HEADER_BYTES, end));
  assert.equal(words % 2, 0, 'commands are whole doubles');
  return {
    sequence: stored.readDoubleLE(8),
    time: stored.readDoubleLE(16),
    persistedClosedSequence: stored.readDoubleLE(24),
    firstFill: stored.readDoubleLE(32),
    endFill: stored.readDoubleLE(40),
    closedEnd: stored.readDoubleLE(48),
    digest: stored.readInt32LE(56),
    i32: new Int32Array(commands),
    f64: new Float64Array(commands),
  };
}
