/**
 * Wallets that are computed from a signer's address: the proxy wallet and the safe, as their
 * factories create them on chain (CREATE2, EIP-1014). When a factory is configured, arithmetic
 * proves that a wallet belongs to its signer, and no other signer can bind it first.
 *
 * Thread: any; each instance has its own cache of wallets. Non-goals: whether a wallet was
 * ever deployed.
 */
import assert from 'node:assert/strict';
import { hexToBytes } from '../common/uint256.ts';
import { keccak256, keccak256Into } from './keccak.ts';

export interface WalletFactory {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Digest of the code that it deploys, 32 bytes. */
  readonly initCodeHash: Uint8Array;
}

/** The configured factories of signature types 1 and 2; undefined = not configured. */
export interface WalletFactories {
  readonly proxy: WalletFactory | undefined;
  readonly safe: WalletFactory | undefined;
}

/** A factory in the configuration: its address, and the digest of its init code. */
export const FACTORY_TEXT = /^(0x[0-9a-fA-F]{40}):(0x[0-9a-fA-F]{64})$/;

/**
 * @param text as FACTORY_TEXT; any other text when no factory is configured
 * @internal Tests derive wallets of one factory.
 */
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

export function walletFactories(config: {
  readonly proxyWalletFactory: string;
  readonly safeWalletFactory: string;
}): WalletFactories {
  return {
    proxy: walletFactory(config.proxyWalletFactory),
    safe: walletFactory(config.safeWalletFactory),
  };
}

/** `unknown`: no factory of this type is configured, so the wallet may belong to any signer. */
export type WalletOwnership = 'derived' | 'foreign' | 'unknown';

const PROXY = 1;
const SAFE = 2;

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
/** 0xff, factory, salt, digest of the code. */
const SALT_AT = 1 + ADDRESS_BYTES;
const CODE_AT = SALT_AT + HASH_BYTES;
const CREATE2_BYTES = CODE_AT + HASH_BYTES;

/** Signers whose wallet is cached, for each type: 40 bytes each. A power of two. */
const REMEMBERED = 4_096;

export class Wallets {
  private readonly proxy: Derivation | undefined;
  private readonly safe: Derivation | undefined;

  constructor({ proxy, safe }: WalletFactories) {
    // The factory of proxies packs the address tightly; the factory of safes pads it to 32 bytes.
    this.proxy = proxy && new Derivation(proxy, ADDRESS_BYTES);
    this.safe = safe && new Derivation(safe, HASH_BYTES);
  }

  /** Compares a wallet with the one derived from its signer; 20 bytes each. */
  ownershipOf(signatureType: number, wallet: Uint8Array, signer: Uint8Array): WalletOwnership {
    const derivation = this.derivationOf(signatureType);
    if (derivation === undefined) return 'unknown';
    return derivation.isWalletOf(wallet, signer) ? 'derived' : 'foreign';
  }

  walletOf(signatureType: number, signer: Uint8Array): Uint8Array | undefined {
    if (signatureType !== PROXY && signatureType !== SAFE) return signer;
    return this.derivationOf(signatureType)?.walletOf(signer);
  }

  private derivationOf(signatureType: number): Derivation | undefined {
    if (signatureType === PROXY) return this.proxy;
    return signatureType === SAFE ? this.safe : undefined;
  }
}

class Derivation {
  private readonly input = new Uint8Array(CREATE2_BYTES);
  private readonly salted: Uint8Array;
  private readonly signers = new Uint8Array(REMEMBERED * ADDRESS_BYTES);
  private readonly wallets = new Uint8Array(REMEMBERED * ADDRESS_BYTES);
  /** 1 = the place is in use. */
  private readonly taken = new Uint8Array(REMEMBERED);

  /** @param saltBytes how long the address is, with leading zeros, when it is hashed for a salt */
  constructor({ address, initCodeHash }: WalletFactory, saltBytes: number) {
    assert(address.length === ADDRESS_BYTES && initCodeHash.length === HASH_BYTES);
    this.salted = new Uint8Array(saltBytes);
    this.input[0] = 0xff;
    this.input.set(address, 1);
    this.input.set(initCodeHash, CODE_AT);
  }

  isWalletOf(wallet: Uint8Array, signer: Uint8Array): boolean {
    return isAt(wallet, this.wallets, this.find(signer));
  }

  walletOf(signer: Uint8Array): Uint8Array {
    const at = this.find(signer);
    return this.wallets.slice(at, at + ADDRESS_BYTES);
  }

  private find(signer: Uint8Array): number {
    // An address is already a digest, so its last bytes serve as a hash.
    const place = ((signer[18]! << 8) | signer[19]!) & (REMEMBERED - 1);
    const at = place * ADDRESS_BYTES;
    if (this.taken[place] === 0 || !isAt(signer, this.signers, at)) {
      this.derive(signer, at);
      this.signers.set(signer, at);
      this.taken[place] = 1;
    }
    return at;
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
