/**
 * Every key that was ever issued, in memory; the store is its durable copy. A key of an address is
 * active or revoked. A revoked API key becomes active when its wallet requests it again; a
 * read-only key never does.
 *
 * Thread: the I/O thread. Non-goals: HTTP, checking of requests (auth.ts). Nothing here logs.
 */
import assert from 'node:assert/strict';
import type { KeyRow, KeyStore } from '../../storage/kv/keys.ts';
import { bytesToHex } from '../common/uint256.ts';
import {
  deriveCredentials,
  deriveReadOnlyKey,
  deriveVenueName,
  NODE_KEY_BYTES,
  type ReadOnlyKey,
  type Trio,
} from './credentials.ts';

/** An active key with everything that is needed to check a request. */
export interface Credential {
  readonly apiKey: string;
  /** The UUID's 16 bytes. */
  readonly apiKeyBytes: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 0x + 40 lower-case hex digits. */
  readonly addressText: string;
  /** 32 bytes each. */
  readonly secret: Buffer;
  readonly passphrase: Buffer;
}

/** An active read-only key: it is its own secret. */
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

/** The keys of one address. */
interface AddressKeys {
  readonly apiKeys: string[];
  /** API keys whose first write is in flight. */
  readonly coming: Set<string>;
  /** Read-only keys, by number; undefined = revoked. */
  readonly readOnly: (string | undefined)[];
  /** How many more are being written. */
  readOnlyComing: number;
}

/** Active read-only keys of one address: more than a user needs, few enough to list. */
export const READ_ONLY_KEYS_MAX = 100;

/**
 * API keys that were ever issued to one address, and likewise read-only keys: each is stored for
 * ever, even when it is revoked.
 */
export const KEYS_MAX = 1_000;

export class KeyRegistry {
  /** The name of the venue in the ids of its streams. */
  readonly venue: string;
  readonly #nodeKey: Buffer;
  readonly #chainId: number;
  readonly #store: KeyStore;
  /** By API key. */
  readonly #entries = new Map<string, Entry>();
  readonly #readOnly = new Map<string, ReadOnlyCredential>();
  /** By address text; only of addresses with a key, issued or being issued. */
  readonly #byAddress = new Map<string, AddressKeys>();
  /** Writes in flight, by row. The next write of the same row waits for them. */
  readonly #pending = new Map<string, Promise<unknown>>();
  readonly matchesStore: boolean;
  /** True when the store had no key at the start. */
  readonly isNew: boolean;

  constructor(nodeKey: Buffer, chainId: number, store: KeyStore) {
    assert(nodeKey.length === NODE_KEY_BYTES, 'the node key has 32 bytes');
    this.#nodeKey = nodeKey;
    this.venue = deriveVenueName(nodeKey);
    this.#chainId = chainId;
    this.#store = store;
    let first: KeyRow | undefined;
    for (const row of store.rows()) {
      first ??= row;
      if (row.readOnly) this.#takeReadOnly(row);
      else this.#take(row);
    }
    /**
     * Whether the stored keys come from this node key and chain id, decided by one of them. If not,
     * every credential issued before is invalid, and the start reports that to the operator.
     */
    this.isNew = first === undefined;
    this.matchesStore = first === undefined || this.#idOf(first) === first.id;
  }

  /** Whether an address has an API key, revoked or coming ones included. */
  hasKeys(address: Uint8Array): boolean {
    const keys = this.#byAddress.get(addressText(address));
    return keys !== undefined && keys.apiKeys.length + keys.coming.size > 0;
  }

  /** Whether create() may issue the trio of (address, nonce): it exists, or there is room. */
  mayHave(address: Uint8Array, nonce: string): boolean {
    const keys = this.#byAddress.get(addressText(address));
    if (keys === undefined || keys.apiKeys.length + keys.coming.size < KEYS_MAX) return true;
    return this.knows(address, nonce);
  }

  /** Whether the trio of (address, nonce) was issued before, or is being issued. */
  knows(address: Uint8Array, nonce: string): boolean {
    const { apiKey } = this.#derive(address, nonce);
    if (this.#entries.has(apiKey)) return true;
    return this.#byAddress.get(addressText(address))?.coming.has(apiKey) === true;
  }

  /**
   * Issues the trio of (address, nonce), or returns the existing one; a revoked key becomes active.
   * Resolves when its row is durable. Rejects, with nothing issued, when it cannot be written.
   */
  async create(address: Uint8Array, nonce: string): Promise<Trio> {
    const trio = this.#derive(address, nonce);
    const known = this.#entries.get(trio.apiKey);
    if (known !== undefined && !known.row.revoked && !this.#pending.has(trio.apiKey)) return trio;
    const { coming } = this.#keysOf(address);
    if (known === undefined) coming.add(trio.apiKey);
    try {
      await this.#inTurn(trio.apiKey, async () => {
        if (this.#entries.get(trio.apiKey)?.row.revoked === false) return;
        const row = { id: trio.apiKey, address: new Uint8Array(address), nonce };
        await this.#write({ ...row, revoked: false, readOnly: false });
      });
    } finally {
      if (!this.#pending.has(trio.apiKey)) coming.delete(trio.apiKey);
    }
    return trio;
  }

  /** The trio of (address, nonce), if it was issued and is not revoked. */
  derive(address: Uint8Array, nonce: string): Trio | undefined {
    const trio = this.#derive(address, nonce);
    const known = this.#entries.get(trio.apiKey);
    return known === undefined || known.row.revoked ? undefined : trio;
  }

  /** An active key, by its lower-case text. */
  lookup(apiKey: string): Credential | undefined {
    const entry = this.#entries.get(apiKey);
    if (entry === undefined || entry.row.revoked) return undefined;
    entry.credential ??= this.#credentialOf(entry.row);
    return entry.credential;
  }

  /** Active API keys of an address, in the order of their texts. */
  apiKeysOf(address: Uint8Array): string[] {
    const keys = this.#byAddress.get(addressText(address))?.apiKeys ?? [];
    return keys.filter((key) => !this.#entries.get(key)!.row.revoked).sort();
  }

  /**
   * Revokes an API key of an address; false when it has no such key. Resolves when that is durable;
   * the key is refused from then on.
   */
  async revoke(address: Uint8Array, apiKey: string): Promise<boolean> {
    const entry = this.#entries.get(apiKey);
    if (entry === undefined || addressText(entry.row.address) !== addressText(address)) {
      return false;
    }
    await this.#inTurn(apiKey, async () => {
      const { row } = this.#entries.get(apiKey)!;
      if (!row.revoked) await this.#write({ ...row, revoked: true });
    });
    return true;
  }

  /** Every key that was ever issued, by its row. */
  rows(): Iterable<KeyRow> {
    return this.#store.rows();
  }

  /** Revokes a key by its row; false where it was revoked before. */
  async revokeRow(row: KeyRow): Promise<boolean> {
    if (row.revoked) return false;
    await this.#inTurn(row.id, () => this.#write({ ...row, revoked: true }));
    return true;
  }

  /** Whether createReadOnly() may issue another. */
  mayHaveReadOnly(address: Uint8Array): boolean {
    const keys = this.#byAddress.get(addressText(address));
    if (keys === undefined) return true;
    if (keys.readOnly.length >= KEYS_MAX) return false;
    return this.readOnlyKeysOf(address).length + keys.readOnlyComing < READ_ONLY_KEYS_MAX;
  }

  /** Issues a read-only key; undefined when the address has reached the maximum. */
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
      await this.#write({ ...row, revoked: false, readOnly: true });
    } finally {
      keys.readOnlyComing -= 1;
    }
    return key;
  }

  /** Active read-only keys of an address, oldest first. */
  readOnlyKeysOf(address: Uint8Array): string[] {
    const keys = this.#byAddress.get(addressText(address))?.readOnly ?? [];
    return keys.filter((key) => key !== undefined);
  }

  /** An active read-only key, by its lower-case text. */
  lookupReadOnly(key: string): ReadOnlyCredential | undefined {
    return this.#readOnly.get(key);
  }

  /** Revokes a read-only key of an address; false when the address has no such active key. */
  async revokeReadOnly(address: Uint8Array, key: string): Promise<boolean> {
    const number = this.#byAddress.get(addressText(address))?.readOnly.indexOf(key) ?? -1;
    if (number === -1) return false;
    const nonce = String(number);
    const { rowId } = this.#deriveReadOnly(address, nonce);
    const row = { id: rowId, address: new Uint8Array(address), nonce };
    await this.#inTurn(rowId, () => this.#write({ ...row, revoked: true, readOnly: true }));
    return true;
  }

  async #write(row: KeyRow): Promise<void> {
    await this.#store.put(row);
    if (row.readOnly) this.#takeReadOnly(row);
    else this.#take(row);
  }

  /** Runs after earlier work on the same row, whether that succeeds or fails. */
  #inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const before = this.#pending.get(id);
    const turn = before === undefined ? work() : before.then(work, work);
    this.#pending.set(id, turn);
    const leave = (): void => {
      if (this.#pending.get(id) === turn) this.#pending.delete(id);
    };
    turn.then(leave, leave);
    return turn;
  }

  #take(row: KeyRow): void {
    const known = this.#entries.get(row.id);
    if (known === undefined) this.#keysOf(row.address).apiKeys.push(row.id);
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

  #idOf({ address, nonce, readOnly }: KeyRow): string {
    if (!readOnly) return this.#derive(address, nonce).apiKey;
    return this.#deriveReadOnly(address, nonce).rowId;
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
