/**
 * Every key that was ever issued, in memory. A change is written to the log as a control record, and
 * `take()` applies it when it returns from there: memory is never ahead of the log. A key of an address is
 * active or revoked. A revoked API key becomes active when its wallet requests it again; a read-only key
 * never does.
 *
 * Thread: the I/O thread. Not here: HTTP, checks of requests (auth.ts). Nothing here logs.
 */
import assert from 'node:assert/strict';
import type { ControlRecord, KeyRow } from '../../storage/control-records/control-records.ts';
import { bytesToHex } from '../common/uint256.ts';
import {
  deriveCredentials,
  deriveReadOnlyKey,
  deriveRowId,
  deriveVenueName,
  NODE_KEY_BYTES,
  type ReadOnlyKey,
  type Trio,
} from './credentials.ts';

export interface Credential {
  readonly apiKey: string;
  /** 16 bytes of the UUID; the address has 20, secret and passphrase 32 each. */
  readonly apiKeyBytes: Uint8Array;
  readonly address: Uint8Array;
  /** 0x + 40 lower-case hex digits. */
  readonly addressText: string;
  readonly secret: Buffer;
  readonly passphrase: Buffer;
}

export interface ReadOnlyCredential {
  readonly key: string;
  readonly keyBytes: Uint8Array;
  readonly address: Uint8Array;
  readonly addressText: string;
}

interface Entry {
  row: KeyRow;
  /** Computed at first use, so that a start with many keys is fast. */
  credential: Credential | undefined;
}

interface AddressKeys {
  readonly apiKeys: string[];
  /** API keys whose first control record is being written. */
  readonly coming: Set<string>;
  readonly readOnly: (string | undefined)[];
  readOnlyComing: number;
}

/** Active read-only keys of one address: more than a user needs, few enough to list. */
export const READ_ONLY_KEYS_MAX = 100;

/** Chains are tried up to here, some 0.2 s: the known networks but a few of their tests. */
const CHAIN_ID_TRIED_MAX = 2 ** 17;

/**
 * API keys that were ever issued to one address, and likewise read-only keys: each is stored for
 * ever, even when it is revoked.
 */
export const KEYS_MAX = 1_000;

export class KeyRegistry {
  readonly venue: string;
  readonly #nodeKey: Buffer;
  readonly #chainId: number;
  readonly #write: (record: ControlRecord) => Promise<void>;
  #first: KeyRow | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #readOnly = new Map<string, ReadOnlyCredential>();
  readonly #owners: Uint8Array[] = [];
  readonly #byAddress = new Map<string, AddressKeys>();
  /** API keys that are being issued: a second request for the same key waits for the same control record. */
  readonly #coming = new Map<string, Promise<void>>();

  /** @param write resolves once a control record is durable and was taken here */
  constructor(nodeKey: Buffer, chainId: number, write: (record: ControlRecord) => Promise<void>) {
    assert(nodeKey.length === NODE_KEY_BYTES, 'the node key has 32 bytes');
    this.#nodeKey = nodeKey;
    this.venue = deriveVenueName(nodeKey);
    this.#chainId = chainId;
    this.#write = write;
  }

  take(row: KeyRow): void {
    this.#first ??= row;
    if (row.readOnly) this.#takeReadOnly(row);
    else this.#takeApiKey(row);
  }

  /** Addresses that were ever issued an API key, the newest last; never written. */
  get owners(): readonly Uint8Array[] {
    return this.#owners;
  }

  get isNew(): boolean {
    return this.#first === undefined;
  }

  /**
   * Compares one key with this node key and chain id. Where it differs, every earlier credential is invalid,
   * and the start reports that.
   */
  get matchesStore(): boolean {
    return this.#first === undefined || this.#idOf(this.#first, this.#chainId) === this.#first.id;
  }

  /**
   * Chain id under which the keys were issued, found by trying; `undefined` without keys, or with another
   * node key.
   */
  findChainId(): number | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    if (this.matchesStore) return this.#chainId;
    for (let chainId = 1; chainId <= CHAIN_ID_TRIED_MAX; chainId++) {
      if (this.#idOf(first, chainId) === first.id) return chainId;
    }
    return undefined;
  }

  /** Includes keys that are revoked or being issued. */
  hasKeys(address: Uint8Array): boolean {
    const keys = this.#byAddress.get(addressText(address));
    return keys !== undefined && keys.apiKeys.length + keys.coming.size > 0;
  }

  /** True when the trio exists, or there is room for it. */
  mayHave(address: Uint8Array, nonce: string): boolean {
    const keys = this.#byAddress.get(addressText(address));
    if (keys === undefined || keys.apiKeys.length + keys.coming.size < KEYS_MAX) return true;
    return this.knows(address, nonce);
  }

  knows(address: Uint8Array, nonce: string): boolean {
    const { apiKey } = this.#derive(address, nonce);
    if (this.#entries.has(apiKey)) return true;
    return this.#byAddress.get(addressText(address))?.coming.has(apiKey) === true;
  }

  /**
   * Issues the trio of (address, nonce), or returns the existing one; a revoked key becomes active.
   * Resolves when that is durable. Rejects, with nothing issued, when it cannot be written.
   */
  async create(address: Uint8Array, nonce: string): Promise<Trio> {
    const trio = this.#derive(address, nonce);
    if (this.#entries.get(trio.apiKey)?.row.revoked === false) return trio;
    const row = { id: trio.apiKey, address: new Uint8Array(address), nonce };
    let issued = this.#coming.get(trio.apiKey);
    if (issued === undefined) {
      issued = this.#issue({ ...row, revoked: false, readOnly: false });
      this.#coming.set(trio.apiKey, issued);
    }
    await issued;
    return trio;
  }

  derive(address: Uint8Array, nonce: string): Trio | undefined {
    const trio = this.#derive(address, nonce);
    const known = this.#entries.get(trio.apiKey);
    return known === undefined || known.row.revoked ? undefined : trio;
  }

  /** @param apiKey lower case */
  lookup(apiKey: string): Credential | undefined {
    const entry = this.#entries.get(apiKey);
    if (entry === undefined || entry.row.revoked) return undefined;
    entry.credential ??= this.#credentialOf(entry.row);
    return entry.credential;
  }

  apiKeysOf(address: Uint8Array): string[] {
    const keys = this.#byAddress.get(addressText(address))?.apiKeys ?? [];
    return keys.filter((key) => !this.#entries.get(key)!.row.revoked).sort();
  }

  /**
   * Revokes an API key of an address; false when it has no such key. Resolves when that is durable;
   * the key is refused from then on.
   */
  async revoke(address: Uint8Array, apiKey: string): Promise<boolean> {
    const row = this.#entries.get(apiKey)?.row;
    if (row === undefined || addressText(row.address) !== addressText(address)) return false;
    await this.revokeRow(row);
    return true;
  }

  async revokeRow(row: KeyRow): Promise<boolean> {
    if (row.revoked) return false;
    await this.#write({ about: 'key', row: { ...row, revoked: true } });
    return true;
  }

  mayHaveReadOnly(address: Uint8Array): boolean {
    const keys = this.#byAddress.get(addressText(address));
    if (keys === undefined) return true;
    if (keys.readOnly.length >= KEYS_MAX) return false;
    return this.readOnlyKeysOf(address).length + keys.readOnlyComing < READ_ONLY_KEYS_MAX;
  }

  async createReadOnly(address: Uint8Array): Promise<string | undefined> {
    if (!this.mayHaveReadOnly(address)) return undefined;
    const keys = this.#keysOf(address);
    const { readOnly } = keys;
    const nonce = String(readOnly.length);
    // The number is used up, even if the write fails.
    readOnly.push(undefined);
    const { key, rowId } = this.#deriveReadOnly(address, nonce);
    const row = { id: rowId, address: new Uint8Array(address), nonce };
    keys.readOnlyComing += 1;
    try {
      await this.#write({ about: 'key', row: { ...row, revoked: false, readOnly: true } });
    } finally {
      keys.readOnlyComing -= 1;
    }
    return key;
  }

  readOnlyKeysOf(address: Uint8Array): string[] {
    const keys = this.#byAddress.get(addressText(address))?.readOnly ?? [];
    return keys.filter((key) => key !== undefined);
  }

  lookupReadOnly(key: string): ReadOnlyCredential | undefined {
    return this.#readOnly.get(key);
  }

  async revokeReadOnly(address: Uint8Array, key: string): Promise<boolean> {
    const number = this.#byAddress.get(addressText(address))?.readOnly.indexOf(key) ?? -1;
    if (number === -1) return false;
    const nonce = String(number);
    const { rowId } = this.#deriveReadOnly(address, nonce);
    const row = { id: rowId, address: new Uint8Array(address), nonce };
    return this.revokeRow({ ...row, revoked: false, readOnly: true });
  }

  async #issue(row: KeyRow): Promise<void> {
    const { coming } = this.#keysOf(row.address);
    if (!this.#entries.has(row.id)) coming.add(row.id);
    try {
      await this.#write({ about: 'key', row });
    } finally {
      coming.delete(row.id);
      this.#coming.delete(row.id);
    }
  }

  #takeApiKey(row: KeyRow): void {
    if (!this.#entries.has(row.id)) {
      const { apiKeys } = this.#keysOf(row.address);
      if (apiKeys.length === 0) this.#owners.push(row.address);
      apiKeys.push(row.id);
    }
    this.#entries.set(row.id, { row, credential: undefined });
  }

  #takeReadOnly(row: KeyRow): void {
    const { address, nonce } = row;
    const { key } = this.#deriveReadOnly(address, nonce);
    const { readOnly } = this.#keysOf(address);
    while (readOnly.length <= Number(nonce)) readOnly.push(undefined);
    readOnly[Number(nonce)] = row.revoked ? undefined : key;
    if (row.revoked) this.#readOnly.delete(key);
    else {
      const keyBytes = uuidBytes(key);
      this.#readOnly.set(key, { key, keyBytes, address, addressText: addressText(address) });
    }
  }

  #keysOf(address: Uint8Array): AddressKeys {
    const text = addressText(address);
    let keys = this.#byAddress.get(text);
    if (keys === undefined) {
      keys = { apiKeys: [], coming: new Set(), readOnly: [], readOnlyComing: 0 };
      this.#byAddress.set(text, keys);
    }
    return keys;
  }

  #idOf({ address, nonce, readOnly }: KeyRow, chainId: number): string {
    return deriveRowId(this.#nodeKey, chainId, address, nonce, readOnly);
  }

  #derive(address: Uint8Array, nonce: string): Trio {
    return deriveCredentials(this.#nodeKey, this.#chainId, address, nonce);
  }

  #deriveReadOnly(address: Uint8Array, nonce: string): ReadOnlyKey {
    return deriveReadOnlyKey(this.#nodeKey, this.#chainId, address, nonce);
  }

  #credentialOf(row: KeyRow): Credential {
    const trio = this.#derive(row.address, row.nonce);
    return {
      apiKey: row.id,
      apiKeyBytes: uuidBytes(row.id),
      address: row.address,
      addressText: addressText(row.address),
      secret: Buffer.from(trio.secret, 'base64'),
      passphrase: Buffer.from(trio.passphrase, 'hex'),
    };
  }
}

function addressText(address: Uint8Array): string {
  return bytesToHex(address, 0, address.length);
}

function uuidBytes(uuid: string): Uint8Array {
  return new Uint8Array(Buffer.from(uuid.replaceAll('-', ''), 'hex'));
}
