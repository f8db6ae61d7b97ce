/**
 * Trade id and transaction hash of a match. Both follow from the fill sequence of its first fill, so they survive
 * every restart. Ledger entries have hashes too.
 *
 * Thread: any.
 */

import { keccak256 } from '../auth/keccak.ts';
import { bytesToHex } from '../common/uint256.ts';

const UINT256_BYTES = 32;
const SEQUENCE_DIGITS = 12;
const TRADE_ID = /^00000000-0000-4000-8000-([0-9a-f]{12})$/;

const scratch = Buffer.alloc(UINT256_BYTES);

/** Text in the form of a version 4 UUID, whose last part is the match in hex. */
export function tradeIdOf(match: number): string {
  return `00000000-0000-4000-8000-${match.toString(16).padStart(SEQUENCE_DIGITS, '0')}`;
}

/** Match of a trade id in any case; -1 for every other text. */
export function matchOfTradeId(text: string): number {
  const hex = TRADE_ID.exec(text.toLowerCase())?.[1];
  return hex === undefined ? -1 : Number.parseInt(hex, 16);
}

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
