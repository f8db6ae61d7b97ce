/**
 * Single entry point of the client to the package secp256k1: a wallet that signs in this process,
 * fast enough to sign many orders in advance. The private key is only in memory and is never
 * returned.
 */
import { randomBytes } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { keccak256 } from './keccak.ts';
import {
  authDigest,
  type OrderDomain,
  orderDigest,
  type UnsignedOrder,
  type UnsignedOrder2,
} from './typed-data.ts';

const KEY = /^0x[0-9a-fA-F]{64}$/;
/** Ethereum adds this to the recovery number of a signature. */
const V_BASE = 27;
const ADDRESS_BYTES = 20;

/** A signed digest: 0x + 64 hex digits, and 0x + 130 hex digits r, s, v. */
export interface Signed {
  readonly digest: string;
  readonly signature: string;
}

export class Wallet {
  /** Checksummed: 0x + 40 hex digits. */
  readonly address: string;
  readonly #key: Buffer;

  /** @param privateKey 0x + 64 hex digits */
  constructor(privateKey: string) {
    const key = Buffer.from(privateKey.slice(2), 'hex');
    if (!KEY.test(privateKey) || !secp256k1.privateKeyVerify(key)) {
      throw new RangeError('a private key is 0x and 64 hex digits, within the order of the curve');
    }
    this.#key = key;
    const point = secp256k1.publicKeyCreate(key, false).subarray(1);
    this.address = checksummed(keccak256(Buffer.from(point)).subarray(-ADDRESS_BYTES));
  }

  /** A throw-away wallet. */
  static random(): Wallet {
    for (;;) {
      const key = randomBytes(32);
      if (secp256k1.privateKeyVerify(key)) return new Wallet(`0x${key.toString('hex')}`);
    }
  }

  /** A wallet that depends only on a text: for tests and load generators, never for funds. */
  static fromSeed(seed: string): Wallet {
    return new Wallet(`0x${keccak256(Buffer.from(seed)).toString('hex')}`);
  }

  /** An order of either version. */
  signOrder(domain: OrderDomain, order: UnsignedOrder | UnsignedOrder2): Signed {
    return this.#sign(orderDigest(domain, order));
  }

  /** The level-1 signature over the same timestamp text as the header's. */
  signAuth(chainId: number, timestamp: string, nonce: string): string {
    return this.#sign(authDigest(chainId, this.address, timestamp, nonce)).signature;
  }

  #sign(digest: Buffer): Signed {
    const { recid, signature } = secp256k1.ecdsaSign(digest, this.#key);
    const rs = Buffer.from(signature).toString('hex');
    return {
      digest: `0x${digest.toString('hex')}`,
      signature: `0x${rs}${(V_BASE + recid).toString(16)}`,
    };
  }
}

/** EIP-55: a digit is upper case where that of the hash of the address is 8 or more. */
function checksummed(address: Buffer): string {
  const text = address.toString('hex');
  const hash = keccak256(Buffer.from(text)).toString('hex');
  const digits = [...text].map((digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit));
  return `0x${digits.join('')}`;
}
