/**
 * A recording is a file of gzip members, one after another, each of whole lines: `zcat` reads it. The head of
 * each has its length (as in BGZF, a field of the format's extra part), so a file that was cut is read up to its
 * last whole member, whose checksum says that it is whole.
 *
 *   1f 8b 08 04 | time 4, flags, system | 12, 0 | 'P' 'M' 8 0 | length of the deflated bytes u32 | u32 0 |
 *   deflated bytes | crc32 | length of the text
 *
 * Thread: any; deflating runs in the pool of libuv.
 */
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRaw, type ZlibOptions } from 'node:zlib';
import { RecordingDamaged } from './entries.ts';

const deflate = promisify<Buffer, Buffer>(deflateRaw);
const inflate = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

const CHUNK_BYTES_MIN = 64;
const CHUNK_BYTES_MAX = 2 ** 22;
const HEAD_BYTES = 24;
const TAIL_BYTES = 8;
/** Bound of one member, deflated and inflated, so that a damaged length is no allocation. */
const MEMBER_BYTES_MAX = 2 ** 28;
const HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 12, 0, 0x50, 0x4d, 8, 0]);

export async function encodeMember(text: string): Promise<Buffer> {
  const plain = Buffer.from(text);
  const deflated = await deflate(plain);
  const head = Buffer.alloc(HEAD_BYTES);
  HEAD.copy(head);
  head.writeUInt32LE(deflated.length, HEAD.length);
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.writeUInt32LE(crc32(plain), 0);
  tail.writeUInt32LE(plain.length, 4);
  return Buffer.concat([head, deflated, tail]);
}

export function beginsMember(bytes: Uint8Array): boolean {
  return bytes.length >= HEAD.length && HEAD.equals(bytes.subarray(0, HEAD.length));
}

/** Yields the inflated bytes of whole members. Calls `onCut` for a last one that is not whole. */
export async function* membersOf(
  file: FileHandle,
  path: string,
  onCut: (offset: number) => void,
): AsyncGenerator<Buffer> {
  const { size } = await file.stat();
  for (let offset = 0; offset < size; ) {
    const head = await bytesAt(file, offset, HEAD_BYTES);
    if (head.length < HEAD_BYTES) return onCut(offset);
    if (!beginsMember(head))
      throw new RecordingDamaged(`${path}: no member begins at byte ${offset}`);
    const length = head.readUInt32LE(HEAD.length);
    if (offset + HEAD_BYTES + length + TAIL_BYTES > size) return onCut(offset);
    if (length > MEMBER_BYTES_MAX) {
      throw new RecordingDamaged(`${path}: the member at byte ${offset} is too long`);
    }
    const body = await bytesAt(file, offset + HEAD_BYTES, length + TAIL_BYTES);
    yield await decodeBody(body, `${path}: the member at byte ${offset} is damaged`);
    offset += HEAD_BYTES + length + TAIL_BYTES;
  }
}

async function decodeBody(body: Buffer, damage: string): Promise<Buffer> {
  const end = body.length - TAIL_BYTES;
  const length = body.readUInt32LE(end + 4);
  // A few bytes may inflate to very many.
  const options = {
    maxOutputLength: Math.min(length, MEMBER_BYTES_MAX) + 1,
    // A usual member is inflated at once. A damaged length allocates no more than this.
    chunkSize: Math.max(CHUNK_BYTES_MIN, Math.min(length + 1, CHUNK_BYTES_MAX)),
  };
  const plain = await inflate(body.subarray(0, end), options).catch(() => undefined);
  const isWhole = plain?.length === length && crc32(plain) === body.readUInt32LE(end);
  if (!isWhole) throw new RecordingDamaged(damage);
  return plain;
}

async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytes.subarray(0, bytesRead);
}
