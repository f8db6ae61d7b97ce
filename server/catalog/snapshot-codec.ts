/**
 * Converts plain data with typed arrays to bytes and back: a head of JSON in which each array is a
 * reference, then the arrays one after another. Reading copies nothing: the arrays are views of the
 * bytes.
 *
 *   head length (uint32) | zeros (4) | head | zeros to 8 | array | zeros to 8 | array | ...
 *
 * Numbers have the byte order of this machine: a data directory cannot move to one of another byte order.
 *
 * Pure; any thread.
 */
import assert from 'node:assert/strict';

const KINDS = { Uint8Array, Uint16Array, Uint32Array, Float64Array } as const;
type Kind = keyof typeof KINDS;
type TypedArray = InstanceType<(typeof KINDS)[Kind]>;

interface ArraySlot {
  readonly $array: Kind;
  /** Offset from the end of the head's padding. */
  readonly at: number;
  readonly length: number;
}

const PREFIX_BYTES = 8;

/** Yields the bytes of a value in pieces. Each must be used before the value changes. */
export function* encodeTree(value: unknown): Generator<Uint8Array> {
  const arrays: TypedArray[] = [];
  let at = 0;
  const head = Buffer.from(
    JSON.stringify(value, (_, member: unknown) => {
      if (!ArrayBuffer.isView(member)) return member;
      const kind = member.constructor.name as Kind;
      assert(kind in KINDS, 'an array of a known kind');
      const array = member as TypedArray;
      const place: ArraySlot = { $array: kind, at, length: array.length };
      arrays.push(array);
      at += padded(array.byteLength);
      return place;
    }),
  );
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(head.length);
  yield prefix;
  yield head;
  yield zerosBehind(head.length);
  for (const { buffer, byteOffset, byteLength } of arrays) {
    yield new Uint8Array(buffer, byteOffset, byteLength);
    yield zerosBehind(byteLength);
  }
}

/** Returns the value; its typed arrays are views of the bytes. */
export function decodeTree(bytes: ArrayBuffer): unknown {
  const length = new DataView(bytes).getUint32(0, true);
  const head = Buffer.from(bytes, PREFIX_BYTES, length).toString();
  const start = PREFIX_BYTES + padded(length);
  return JSON.parse(head, (_, member: unknown) => {
    if (!isPlace(member)) return member;
    return new KINDS[member.$array](bytes, start + member.at, member.length);
  });
}

function isPlace(member: unknown): member is ArraySlot {
  return typeof member === 'object' && member !== null && '$array' in member;
}

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

function zerosBehind(length: number): Uint8Array {
  return new Uint8Array(padded(length) - length);
}
