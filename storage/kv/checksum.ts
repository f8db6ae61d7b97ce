/** Values with a checksum over key and value in their first four bytes. Thread: any; pure. */
import { crc32 } from 'node:zlib';

export const CRC_BYTES = 4;

export function withChecksum(key: Buffer, value: Buffer): Buffer {
  value.writeUInt32LE(checksum(key, value), 0);
  return value;
}

export function checksumMatches(key: Buffer, value: Buffer): boolean {
  return value.length >= CRC_BYTES && value.readUInt32LE(0) === checksum(key, value);
}

function checksum(key: Buffer, value: Buffer): number {
  return crc32(value.subarray(CRC_BYTES), crc32(key));
}

export class Damage extends Error {
  constructor(what: string) {
    super(`derived: ${what} is damaged`);
  }
}
