/**
 * Rows of the projection of positions (positions.ts):
 *
 *   wallets   token u32 | account u32 (big-endian) -> crc u32, the times of the newest and of the first fill f64, then
 *             net | cost | realised | bought | spent | fees in words of 64 bits, or of 128 where one of them needs it
 *   tokens    account u32 | token u32 (big-endian) -> one byte, for every row of wallets
 *   interest  market u32 (big-endian), 0 for all of them -> crc u32 | shares minted less shares merged
 *
 * Rows lie by token, because trades of a time are in few of them: what they change lies in few pages. The
 * tokens of an account are written once.
 *
 * Sums of whole micro-units in up to 128 bits: no number of fills is too many. A checksum covers the key too.
 *
 * Thread: any; pure.
 */
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { DamagedRow } from './projection.ts';
import { readWord, WORD_BYTES, writeWord } from './words.ts';

/**
 * Position of a wallet in a token by its fills here. Invariant: collateral received less collateral paid is `realised
 * - cost - fees`.
 */
export interface Position {
  /** Micro-shares bought, less those sold and those paid as a fee. Negative: more were sold than bought. */
  net: bigint;
  /** Micro-units paid for the net shares; for a negative net the proceeds, as a negative. */
  cost: bigint;
  /** Proceeds of shares that were bought and sold again, less their cost. */
  realised: bigint;
  /** Micro-shares of all purchases after fees, and their cost. */
  bought: bigint;
  spent: bigint;
  /** Micro-units of fees that were paid on top of the cost of the net shares (docs/protocol.md#fees). */
  fees: bigint;
  /** Unix milliseconds of the newest fill. */
  time: number;
  /** Unix milliseconds of the fill that opened it, or of a closed one had opened it last; 0 = never open. */
  opened: number;
}

const WORDS = ['net', 'cost', 'realised', 'bought', 'spent', 'fees'] as const;
const SHORT_BYTES = 8;
const OPENED_AT = CRC_BYTES + 8;
const WORDS_AT = OPENED_AT + 8;
const INTEREST_BYTES = CRC_BYTES + WORD_BYTES;

export function newPosition(): Position {
  return { net: 0n, cost: 0n, realised: 0n, bought: 0n, spent: 0n, fees: 0n, time: 0, opened: 0 };
}

/**
 * Applies one side of a fill: micro-shares against micro-units of collateral, net of fees. Closing a part of the
 * position removes the same part of its cost, rounded towards zero; the rest opens a position of the other sign at
 * its own price.
 * @param time unix milliseconds
 * @param fee of a purchase, on top of its collateral
 */
export function trade(
  p: Position,
  isBuy: boolean,
  shares: bigint,
  collateral: bigint,
  time: number,
  fee = 0n,
): void {
  const isOpen = p.net !== 0n;
  const isShort = p.net < 0n;
  if (isBuy) {
    p.bought += shares;
    p.spent += collateral;
  }
  const sign = isBuy ? 1n : -1n;
  const open = -sign * p.net;
  const closing = open <= 0n ? 0n : open < shares ? open : shares;
  const closingFor = closing === 0n ? 0n : (collateral * closing) / shares;
  const closedCost = closing === 0n ? 0n : (p.cost * closing) / open;
  const closingFee = closing === 0n ? 0n : (fee * closing) / shares;
  const closedFees = closing === 0n ? 0n : (p.fees * closing) / open;
  p.realised -= sign * closingFor + closedCost + closingFee + closedFees;
  p.fees += fee - closingFee - closedFees;
  p.cost += sign * (collateral - closingFor) - closedCost;
  p.net += sign * shares;
  p.time = time;
  if (p.net !== 0n && (!isOpen || p.net < 0n !== isShort)) p.opened = time;
}

export function walletKey(token: number, account: number): Buffer {
  return pairKey(token, account);
}

export function tokenKey(account: number, token: number): Buffer {
  return pairKey(account, token);
}

export function secondOf(key: Buffer): number {
  return key.readUInt32BE(4);
}

function pairKey(first: number, second: number): Buffer {
  const key = Buffer.allocUnsafeSlow(8);
  key.writeUInt32BE(first, 0);
  key.writeUInt32BE(second, 4);
  return key;
}

export function encodePosition(key: Buffer, position: Position): Buffer {
  const isShort = WORDS.every((name) => position[name] === BigInt.asIntN(64, position[name]));
  const bytes = isShort ? SHORT_BYTES : WORD_BYTES;
  const value = Buffer.allocUnsafeSlow(WORDS_AT + WORDS.length * bytes);
  value.writeDoubleLE(position.time, CRC_BYTES);
  value.writeDoubleLE(position.opened, OPENED_AT);
  WORDS.forEach((name, i) => {
    if (isShort) value.writeBigInt64LE(position[name], WORDS_AT + i * bytes);
    else writeWord(value, WORDS_AT + i * bytes, position[name]);
  });
  return withChecksum(key, value);
}

/** Throws DamagedRow. */
export function decodePosition(key: Buffer, value: Buffer): Position {
  const bytes = (value.length - WORDS_AT) / WORDS.length;
  if ((bytes !== SHORT_BYTES && bytes !== WORD_BYTES) || !checksumMatches(key, value)) {
    throw new DamagedRow('positions');
  }
  const position = newPosition();
  WORDS.forEach((name, i) => {
    const at = WORDS_AT + i * bytes;
    position[name] = bytes === SHORT_BYTES ? value.readBigInt64LE(at) : readWord(value, at);
  });
  position.time = value.readDoubleLE(CRC_BYTES);
  position.opened = value.readDoubleLE(OPENED_AT);
  return position;
}

export function encodeInterest(key: Buffer, shares: bigint): Buffer {
  const value = Buffer.allocUnsafeSlow(INTEREST_BYTES);
  writeWord(value, CRC_BYTES, shares);
  return withChecksum(key, value);
}

/** Throws DamagedRow. */
export function decodeInterest(key: Buffer, value: Buffer): bigint {
  if (value.length !== INTEREST_BYTES || !checksumMatches(key, value)) {
    throw new DamagedRow('open interest');
  }
  return readWord(value, CRC_BYTES);
}
