/**
 * Signatures of deposit wallets: the owner's signature, and what it was made over. No chain is needed for the
 * check. Rules: docs/protocol.md#signatures-of-deposit-wallets
 *
 * Thread: any; each thread has its own scratch buffers. Not here: the wallet of the owner (wallet-factory.ts).
 */
import { hexToBytes, sameBytes } from '../common/uint256.ts';
import { ORDER_2_TYPE, walletOrderDigest } from './eip712.ts';
import { recoverAddress } from './secp256k1.ts';

const TYPE = Buffer.from(ORDER_2_TYPE, 'ascii');
/** Owner's r, s and v | separator | hash of the order | text of its type | length of the text. */
const SEPARATOR_AT = 65;
const CONTENTS_AT = SEPARATOR_AT + 32;
const TYPE_AT = CONTENTS_AT + 32;
const LENGTH_AT = TYPE_AT + TYPE.length;
const BYTES = LENGTH_AT + 2;
/** Text that ends the signature of a session key (ERC-6492). */
const SESSION_END = '6492'.repeat(16);

const bytes = new Uint8Array(BYTES);
const ownerSignature = bytes.subarray(0, SEPARATOR_AT);
const separatorPart = bytes.subarray(SEPARATOR_AT, CONTENTS_AT);
const contentsPart = bytes.subarray(CONTENTS_AT, TYPE_AT);
const typePart = bytes.subarray(TYPE_AT, LENGTH_AT);
const digest = new Uint8Array(32);

/** Parts of a signature that can be wrong, in the order of the checks. */
export type WalletSignatureFault =
  | 'session'
  | 'walletLength'
  | 'typeLength'
  | 'orderType'
  | 'separator'
  | 'contents'
  | 'range';

/** Terms that a signature has to be over. */
export interface WalletTerms {
  /** Separator of the exchange, 32 bytes. */
  readonly separator: Uint8Array;
  readonly chainId: number;
  /** Hash of the structure of the order, 32 bytes. */
  readonly contents: Uint8Array;
  /** 20 bytes. */
  readonly wallet: Uint8Array;
}

/** Returns the separator in a signature of the right length, as hex digits. */
export function separatorIn(text: string): string {
  return text.slice(2 + 2 * SEPARATOR_AT, 2 + 2 * CONTENTS_AT).toLowerCase();
}

export function isSessionSignature(text: string): boolean {
  return text.endsWith(SESSION_END);
}

/** Checks all parts, and writes the address that signed to `out`. @returns the first fault, or `undefined` */
export function recoverOwner(
  text: string,
  { chainId, contents, separator, wallet }: WalletTerms,
  out: Uint8Array,
): WalletSignatureFault | undefined {
  if (isSessionSignature(text)) return 'session';
  if (!hexToBytes(text, BYTES, bytes, 0)) return 'walletLength';
  if (bytes[LENGTH_AT] !== 0 || bytes[LENGTH_AT + 1] !== TYPE.length) return 'typeLength';
  if (!sameBytes(typePart, TYPE)) return 'orderType';
  if (!sameBytes(separatorPart, separator)) return 'separator';
  if (!sameBytes(contentsPart, contents)) return 'contents';
  walletOrderDigest(separator, contents, chainId, wallet, digest);
  return recoverAddress(digest, ownerSignature, out, 0) ? undefined : 'range';
}
