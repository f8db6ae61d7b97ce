/**
 * Ids of relayed transactions, which follow from wallet and nonce, so that nothing is kept of them but the number of
 * batches of a wallet. Rules: docs/protocol.md#relayed-batches
 *
 * Thread: any; pure.
 */
import { keccak256 } from '../auth/keccak.ts';
import { bytesToHex } from '../common/uint256.ts';

export interface Transaction {
  /** Lower case. */
  readonly wallet: string;
  /** `undefined`: the creation of the wallet. */
  readonly nonce: number | undefined;
}

const ID = /^(0x[0-9a-f]{40})-(create|0|[1-9]\d{0,9})$/;
const HASH_BYTES = 32;

export function transactionId({ nonce, wallet }: Transaction): string {
  return `${wallet}-${nonce ?? 'create'}`;
}

export function transactionOf(id: string): Transaction | undefined {
  const [, wallet, nonce] = ID.exec(id) ?? [];
  if (wallet === undefined) return undefined;
  return { wallet, nonce: nonce === 'create' ? undefined : Number(nonce) };
}

export function relayedHash(transaction: Transaction): string {
  const digest = keccak256(Buffer.from(`relayed ${transactionId(transaction)}`, 'ascii'));
  return bytesToHex(digest, 0, HASH_BYTES);
}
