/**
 * Transaction hash of a match. It follows from the fill sequence of its first fill, so it survives every restart.
 * Ledger entries have hashes too.
 *
 * Thread: any.
 */

import { keccak256 } from '../auth/keccak.ts';
import { bytesToHex } from '../common/uint256.ts';

const UINT256_BYTES = 32;

const scratch = Buffer.alloc(UINT256_BYTES);

/** Keccak-256 of the match as a uint256 (docs/protocol.md#identifiers): `0x` and 64 hex digits. */
export function transactionHash(match: number): string {
  return hashOf(0, match);
}

/** Hash of a ledger entry, with 1 as the first byte: no match has its hash. */
export function entryHash(entry: number): string {
  return hashOf(1, entry);
}

function hashOf(first: number, number: number): string {
  scratch.fill(0);
  scratch[0] = first;
  scratch.writeBigUInt64BE(BigInt(number), UINT256_BYTES - 8);
  return bytesToHex(keccak256(scratch), 0, UINT256_BYTES);
}
