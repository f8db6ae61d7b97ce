/**
 * Wallets that follow from a key: the proxy wallet and the safe of a signer, as their factories make them on
 * chain (CREATE2, EIP-1014). Where a factory is known, a wallet is its signer's by arithmetic, and
 * nobody else can come first with it.
 *
 * Thread: a worker; an instance has its own memory of wallets. Non-goals: whether a wallet was ever deployed.
 */
import assert from 'node:assert/strict';
import { hexToBytes } from '../common/uint256.ts';
import { keccak256, keccak256Into } from './keccak.ts';

/** A contract that makes a wallet for each signer. */
export interface WalletFactory {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Digest of the code that it deploys, 32 bytes. */
  readonly initCodeHash: Uint8Array;
}

/** What is known of the factories of signature types 1 and 2; undefined = nothing. */
export interface WalletFactories {
  readonly proxy: WalletFactory | undefined;
  readonly safe: WalletFactory | undefined;
}

/** A factory as it stands in the configuration: its address, and the digest of its init code. */
export const FACTORY_TEXT = /^(0x[0-9a-fA-F]{40}):(0x[0-9a-fA-F]{64})$/;

/** @param text as FACTORY_TEXT, or anything else where none is known */
export function walletFactory(text: string): WalletFactory | undefined {
  const match = FACTORY_TEXT.exec(text);
  if (match === null) return undefined;
  const factory = {
    address: new Uint8Array(ADDRESS_BYTES),
    initCodeHash: new Uint8Array(HASH_BYTES),
  };
  hexToBytes(match[1]!, ADDRESS_BYTES, factory.address, 0);
  hexToBytes(match[2]!, HASH_BYTES, factory.initCodeHash, 0);
  return factory;
}

/** `unknown`: no factory of this type is known, so anybody might own the wallet. */
export type WalletOwnership = 'derived' | 'foreign' | 'unknown';

/** Signature types. */
const PROXY = 1;
const SAFE = 2;

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
/** 0xff, factory, salt, digest of the code. */
const SALT_AT = 1 + ADDRESS_BYTES;
const CODE_AT = SALT_AT + HASH_BYTES;
const CREATE2_BYTES = CODE_AT + HASH_BYTES;

/** Signers whose wallet is remembered, of each type: 40 bytes each. A power of two. */
const REMEMBERED = 4_096;

export class Wallets {
  private readonly proxy: Derivation | undefined;
  private readonly safe: Derivation | undefined;

  constructor({ proxy, safe }: WalletFactories) {
    // The proxies' factory packs the address tightly, that of the safes as an argument: 32 bytes.
    this.proxy = proxy && new Derivation(proxy, ADDRESS_BYTES);
    this.safe = safe && new Derivation(safe, HASH_BYTES);
  }

  /** Whose the wallet of an order is; 20 bytes each. */
  ownershipOf(signatureType: number, wallet: Uint8Array, signer: Uint8Array): WalletOwnership {
    const derivation = this.derivationOf(signatureType);
    if (derivation === undefined) return 'unknown';
    return derivation.isWalletOf(wallet, signer) ? 'derived' : 'foreign';
  }

  private derivationOf(signatureType: number): Derivation | undefined {
    if (signatureType === PROXY) return this.proxy;
    return signatureType === SAFE ? this.safe : undefined;
  }
}

/** The wallets of one factory; each signer has one place where its wallet is remembered. */
class Derivation {
  private readonly input = new Uint8Array(CREATE2_BYTES);
  private readonly salted: Uint8Array;
  private readonly signers = new Uint8Array(REMEMBERED * ADDRESS_BYTES);
  private readonly wallets = new Uint8Array(REMEMBERED * ADDRESS_BYTES);
  /** 1 = the place holds a signer. */
  private readonly taken = new Uint8Array(REMEMBERED);

  /** @param saltBytes length of what the factory hashes for a salt: the address, with zeros in front */
  constructor({ address, initCodeHash }: WalletFactory, saltBytes: number) {
    assert(address.length === ADDRESS_BYTES && initCodeHash.length === HASH_BYTES);
    this.salted = new Uint8Array(saltBytes);
    this.input[0] = 0xff;
    this.input.set(address, 1);
    this.input.set(initCodeHash, CODE_AT);
  }

  isWalletOf(wallet: Uint8Array, signer: Uint8Array): boolean {
    // An address is a digest already.
    const place = ((signer[18]! << 8) | signer[19]!) & (REMEMBERED - 1);
    const at = place * ADDRESS_BYTES;
    if (this.taken[place] === 0 || !isAt(signer, this.signers, at)) {
      this.derive(signer, at);
      this.signers.set(signer, at);
      this.taken[place] = 1;
    }
    return isAt(wallet, this.wallets, at);
  }

  private derive(signer: Uint8Array, at: number): void {
    const { input, salted, wallets } = this;
    salted.set(signer, salted.length - ADDRESS_BYTES);
    keccak256Into(salted, input, SALT_AT);
    const digest = keccak256(input);
    for (let i = 0; i < ADDRESS_BYTES; i++) {
      wallets[at + i] = digest[HASH_BYTES - ADDRESS_BYTES + i]!;
    }
  }
}

function isAt(address: Uint8Array, rows: Uint8Array, at: number): boolean {
  for (let i = 0; i < ADDRESS_BYTES; i++) if (rows[at + i] !== address[i]) return false;
  return true;
}
