/**
 * Wallets that are computed from a signer's address: the proxy wallet, the safe and the deposit wallets, as
 * their factories create them on chain (CREATE2, EIP-1014). When a factory is configured, arithmetic
 * proves that a wallet belongs to its signer, and no other signer can bind it first.
 *
 * Thread: any; each instance has its own cache of wallets. Non-goals: whether a wallet was
 * ever deployed.
 */
import assert from 'node:assert/strict';
import { hexToBytes, sameBytes } from '../common/uint256.ts';
import { keccak256 } from './keccak.ts';

export interface WalletFactory {
  readonly address: Uint8Array;
  /** Digest of the code that it deploys, 32 bytes. */
  readonly initCodeHash: Uint8Array;
}

/** Factory of deposit wallets: their code names the owner, so its digest is no constant. */
export interface DepositFactory {
  readonly deployer: Uint8Array;
  /** Address that the code leads to: a beacon, or an implementation. */
  readonly target: Uint8Array;
}

/** The configured factories of signature types 1, 2 and 3 (both kinds); undefined = not configured. */
export interface WalletFactories {
  readonly proxy: WalletFactory | undefined;
  readonly safe: WalletFactory | undefined;
  readonly beacon: DepositFactory | undefined;
  readonly uups: DepositFactory | undefined;
}

/** A factory in the configuration: its address, and the digest of its init code. */
export const FACTORY_TEXT = /^(0x[0-9a-fA-F]{40}):(0x[0-9a-fA-F]{64})$/;

/** A factory of deposit wallets in the configuration: deployer, and beacon or implementation. */
export const DEPOSIT_FACTORY_TEXT = /^(0x[0-9a-fA-F]{40}):(0x[0-9a-fA-F]{40})$/;

/** @param text as FACTORY_TEXT; any other text when no factory is configured */
function walletFactory(text: string): WalletFactory | undefined {
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

function depositFactory(text: string): DepositFactory | undefined {
  const match = DEPOSIT_FACTORY_TEXT.exec(text);
  if (match === null) return undefined;
  const factory = {
    deployer: new Uint8Array(ADDRESS_BYTES),
    target: new Uint8Array(ADDRESS_BYTES),
  };
  hexToBytes(match[1]!, ADDRESS_BYTES, factory.deployer, 0);
  hexToBytes(match[2]!, ADDRESS_BYTES, factory.target, 0);
  return factory;
}

export function walletFactories(config: {
  readonly proxyWalletFactory: string;
  readonly safeWalletFactory: string;
  readonly beaconWalletFactory: string;
  readonly uupsWalletFactory: string;
}): WalletFactories {
  return {
    proxy: walletFactory(config.proxyWalletFactory),
    safe: walletFactory(config.safeWalletFactory),
    beacon: depositFactory(config.beaconWalletFactory),
    uups: depositFactory(config.uupsWalletFactory),
  };
}

/** Signature type of deposit wallets. */
export const DEPOSIT_WALLET = 3;
/** Signature types whose wallets follow from the signer. */
export const DERIVED_TYPES = [1, 2, DEPOSIT_WALLET] as const;

/** `unknown`: no factory of this type is configured, so the wallet may belong to any signer. */
export type WalletOwnership = 'derived' | 'foreign' | 'unknown';

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
/** 0xff, factory, salt, digest of the code. */
const SALT_AT = 1 + ADDRESS_BYTES;
const CODE_AT = SALT_AT + HASH_BYTES;
const CREATE2_BYTES = CODE_AT + HASH_BYTES;

/** Init code of a deposit wallet before and behind its beacon or implementation, without arguments. */
const BEACON_CODE = [
  '6100923d8160233d3973',
  '60195155f3363d3d373d3d363d602036600436635c60da' +
    '1b60e01b36527fa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6c' +
    'b3582b35133d50545afa5036515af43d6000803e604d573d6000fd5b3d6000f3',
] as const;
const UUPS_CODE = [
  '61007d3d8160233d3973',
  '60095155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076' +
    'cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3',
] as const;

/** Signers whose wallet is cached, for each type: 40 bytes each. A power of two. */
const REMEMBERED = 4_096;

/** Writes salt and digest of the code of the signer's wallet to the input of CREATE2. */
type Filler = (signer: Uint8Array, input: Uint8Array) => void;

export class Wallets {
  /** Derivations by signature type. */
  private readonly derivations: readonly (readonly Derivation[])[];

  constructor({ beacon, proxy, safe, uups }: WalletFactories) {
    this.derivations = [
      [],
      // The factory of proxies packs the address tightly; the factory of safes pads it to 32 bytes.
      proxy === undefined ? [] : [constantCode(proxy, ADDRESS_BYTES)],
      safe === undefined ? [] : [constantCode(safe, HASH_BYTES)],
      [
        ...(beacon === undefined ? [] : [ownCode(beacon, BEACON_CODE)]),
        ...(uups === undefined ? [] : [ownCode(uups, UUPS_CODE)]),
      ],
    ];
  }

  /** True when the wallets of this signature type follow from their signers. */
  derives(signatureType: number): boolean {
    return this.derivations[signatureType]!.length > 0;
  }

  ownershipOf(signatureType: number, wallet: Uint8Array, signer: Uint8Array): WalletOwnership {
    const derivations = this.derivations[signatureType]!;
    for (const derivation of derivations) {
      if (derivation.isWalletOf(wallet, signer)) return 'derived';
    }
    return derivations.length === 0 ? 'unknown' : 'foreign';
  }

  /** True for the address of a signer and for the wallets that follow from it. */
  isOwn(wallet: Uint8Array, signer: Uint8Array): boolean {
    return (
      sameBytes(wallet, signer) ||
      DERIVED_TYPES.some((type) => this.ownershipOf(type, wallet, signer) === 'derived')
    );
  }

  /** Returns the wallets of a signer that follow from it, the usual one first. */
  walletsOf(signatureType: number, signer: Uint8Array): Uint8Array[] {
    return this.derivations[signatureType]!.map((derivation) => derivation.walletOf(signer));
  }
}

function constantCode({ address, initCodeHash }: WalletFactory, saltBytes: number): Derivation {
  assert(initCodeHash.length === HASH_BYTES);
  const salted = new Uint8Array(saltBytes);
  return new Derivation(address, (signer, input) => {
    salted.set(signer, saltBytes - ADDRESS_BYTES);
    input.set(keccak256(salted), SALT_AT);
    input.set(initCodeHash, CODE_AT);
  });
}

/** The code ends with deployer and owner, which are also the salt. */
function ownCode(
  { deployer, target }: DepositFactory,
  [before, after]: readonly [string, string],
): Derivation {
  const head = Buffer.from(`${before}${Buffer.from(target).toString('hex')}${after}`, 'hex');
  const code = new Uint8Array(head.length + 2 * HASH_BYTES);
  code.set(head);
  const args = code.subarray(head.length);
  args.set(deployer, HASH_BYTES - ADDRESS_BYTES);
  return new Derivation(deployer, (signer, input) => {
    args.set(signer, 2 * HASH_BYTES - ADDRESS_BYTES);
    input.set(keccak256(args), SALT_AT);
    input.set(keccak256(code), CODE_AT);
  });
}

class Derivation {
  private readonly input = new Uint8Array(CREATE2_BYTES);
  private readonly fill: Filler;
  private readonly signers = new Uint8Array(REMEMBERED * ADDRESS_BYTES);
  private readonly wallets = new Uint8Array(REMEMBERED * ADDRESS_BYTES);
  private readonly taken = new Uint8Array(REMEMBERED);

  constructor(factory: Uint8Array, fill: Filler) {
    assert(factory.length === ADDRESS_BYTES);
    this.fill = fill;
    this.input[0] = 0xff;
    this.input.set(factory, 1);
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
    const { input, wallets } = this;
    this.fill(signer, input);
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
