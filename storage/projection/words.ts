/** Whole numbers of 128 bits with a sign in rows of projections. Thread: any; pure. */
export const WORD_BYTES = 16;

export function writeWord(bytes: Buffer, at: number, word: bigint): void {
  bytes.writeBigUInt64LE(BigInt.asUintN(64, word), at);
  bytes.writeBigInt64LE(word >> 64n, at + 8);
}

export function readWord(bytes: Buffer, at: number): bigint {
  return (bytes.readBigInt64LE(at + 8) << 64n) | bytes.readBigUInt64LE(at);
}
