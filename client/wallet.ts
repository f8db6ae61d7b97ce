/**
 * Single entry point of the client to the packages @noble/curves and secp256k1: a wallet that signs in
 * this process. Only `exportKey` returns the private key; no log line or JSON text has it. Where secp256k1 is
 * installed, its native part signs ten times as fast, with the same signatures.
 */
import { secp256k1 as portable } from '@noble/curves/secp256k1.js';
import { bytesOfHex, bytesOfText, keccak256, toHex } from './hashes.ts';
import { optionalPackage } from './platform.ts';
import {
  authData,
  type OrderDomain,
  orderData,
  type TypedData,
  type UnsignedOrder,
  type UnsignedOrder2,
} from './typed-data.ts';

const KEY = /^0x[0-9a-fA-F]{64}$/;
/** Ethereum adds this to the recovery number of a signature. */
const V_BASE = 27;
const ADDRESS_BYTES = 20;
const KEY_BYTES = 32;

/** A signed digest: 0x + 64 hex digits, and 0x + 130 hex digits r, s, v; of a deposit wallet 0x + 634. */
export interface Signed {
  readonly digest: string;
  readonly signature: string;
}

interface Native {
  privateKeyVerify(key: Uint8Array): boolean;
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
}

const PORTABLE: Native = {
  privateKeyVerify: portable.utils.isValidSecretKey,
  publicKeyCreate: portable.getPublicKey,
  ecdsaSign: (digest, key) => {
    const bytes = portable.sign(digest, key, { prehash: false, format: 'recovered' });
    return { signature: bytes.subarray(1), recid: bytes[0]! };
  },
};

const curve = optionalPackage<Native>('secp256k1') ?? PORTABLE;

export class Wallet {
  readonly address: string;
  readonly #key: Uint8Array;

  /** @param privateKey 0x + 64 hex digits */
  constructor(privateKey: string) {
    const key = KEY.test(privateKey) ? bytesOfHex(privateKey.slice(2)) : undefined;
    if (key === undefined || !curve.privateKeyVerify(key)) {
      throw new RangeError('a private key is 0x and 64 hex digits, within the order of the curve');
    }
    this.#key = key;
    const point = curve.publicKeyCreate(key, false).subarray(1);
    this.address = checksummed(toHex(keccak256(point).subarray(-ADDRESS_BYTES)));
  }

  /** Returns a new wallet. To use it again, save the key of `exportKey`. */
  static random(): Wallet {
    for (;;) {
      const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      if (curve.privateKeyVerify(key)) return new Wallet(`0x${toHex(key)}`);
    }
  }

  /** A wallet that depends only on a text: for tests and load generators, never for funds. */
  static fromSeed(seed: string): Wallet {
    return new Wallet(`0x${toHex(keccak256(bytesOfText(seed)))}`);
  }

  /** The private key, for a file that only its owner can read: 0x + 64 hex digits, as the constructor takes it. */
  exportKey(): string {
    return `0x${toHex(this.#key)}`;
  }

  signOrder(domain: OrderDomain, order: UnsignedOrder | UnsignedOrder2): Signed {
    const { data, id, tail } = orderData(domain, order);
    return { digest: id, signature: `${this.sign(data)}${tail}` };
  }

  /** The level-1 signature over the same timestamp text as the header's. */
  signAuth(chainId: number, timestamp: string, nonce: string): string {
    return this.sign(authData(chainId, this.address, timestamp, nonce));
  }

  sign({ digest }: TypedData): string {
    const { recid, signature } = curve.ecdsaSign(digest, this.#key);
    return `0x${toHex(signature)}${(V_BASE + recid).toString(16)}`;
  }
}

/** EIP-55: a digit is upper case where that of the hash of the address is 8 or more. @param text 40 lower-case digits */
export function checksummed(text: string): string {
  const hash = toHex(keccak256(bytesOfText(text)));
  const digits = [...text].map((digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit));
  return `0x${digits.join('')}`;
}
