/**
 * API credentials: the node's key file, the trio that follows from it, and the registry of the keys
 * that were issued. Secrets are computed, never stored: without node.key the data directory opens
 * nothing.
 *
 * Thread: the I/O thread. Non-goals: HTTP, checking of requests (auth.ts). Nothing here logs.
 */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { KeyRow, KeyStore } from '../../storage/keys.ts';
import { bytesToHex } from '../common/uint256.ts';

const NODE_KEY_BYTES = 32;
const NODE_KEY_MODE = 0o600;
const MODE_OF_OTHERS = 0o077;

export type NodeKey =
  | { readonly ok: true; readonly key: Buffer }
  | { readonly ok: false; readonly problem: string };

/** What a client is given once and computes its signatures with (GAPS 2.1). */
export interface Trio {
  /** UUID, version 4 shape, lower case. */
  readonly apiKey: string;
  /** 32 bytes in the base64url alphabet with padding: 44 characters. */
  readonly secret: string;
  /** 64 lower-case hex digits. */
  readonly passphrase: string;
}

/** An active key with everything that a request is checked against. */
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

/** Reads DATA_DIR/node.key, making it first where there is none. The directory exists. */
export function openNodeKey(dataDir: string): NodeKey {
  const path = join(dataDir, 'node.key');
  try {
    return readNodeKey(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return { ok: false, problem: `${path}: ${codeOf(error)}` };
  }
  try {
    createNodeKey(path);
    return readNodeKey(path);
  } catch (error) {
    return { ok: false, problem: `${path}: cannot be created: ${codeOf(error)}` };
  }
}

/** The trio of (chain, address, nonce): the same one for ever, as long as node.key is the same. */
export function deriveCredentials(
  nodeKey: Buffer,
  chainId: number,
  address: Uint8Array,
  nonce: string,
): Trio {
  const subject = `${chainId}|${bytesToHex(address, 0, address.length)}|${nonce}`;
  const mac = (label: string) =>
    createHmac('sha256', nodeKey).update(`${label}|${subject}`).digest();
  return {
    apiKey: uuidText(mac('api-key')),
    secret: mac('secret').toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
    passphrase: mac('passphrase').toString('hex'),
  };
}

interface Entry {
  readonly row: KeyRow;
  /** Computed at first use: a start with many keys stays quick. */
  credential: Credential | undefined;
}

/** Every key ever issued, in memory; the store is its durable copy. */
export class KeyRegistry {
  readonly #nodeKey: Buffer;
  readonly #chainId: number;
  readonly #store: KeyStore;
  readonly #entries = new Map<string, Entry>();
  /** Writes under way, by API key: a second request for the same key waits for the first. */
  readonly #pending = new Map<string, Promise<void>>();

  constructor(nodeKey: Buffer, chainId: number, store: KeyStore) {
    assert(nodeKey.length === NODE_KEY_BYTES, 'the node key has 32 bytes');
    this.#nodeKey = nodeKey;
    this.#chainId = chainId;
    this.#store = store;
    for (const row of store.rows()) this.#entries.set(row.apiKey, { row, credential: undefined });
  }

  /**
   * Whether the stored keys come from this node key and chain id, told by one of them. When not,
   * every credential issued before is dead, and the operator should hear of it at start.
   */
  get matchesStore(): boolean {
    for (const { row } of this.#entries.values()) {
      return this.#derive(row.address, row.nonce).apiKey === row.apiKey;
    }
    return true;
  }

  /**
   * Issues the trio of (address, nonce), or the same one again; a revoked key becomes active.
   * Resolves when its row is durable; rejects, with nothing issued, when it cannot be written.
   */
  async create(address: Uint8Array, nonce: string): Promise<Trio> {
    const trio = this.#derive(address, nonce);
    const known = this.#entries.get(trio.apiKey);
    if (known !== undefined && !known.row.revoked) return trio;
    let write = this.#pending.get(trio.apiKey);
    if (write === undefined) {
      const row = { apiKey: trio.apiKey, address: new Uint8Array(address), nonce, revoked: false };
      write = this.#write(row).finally(() => this.#pending.delete(trio.apiKey));
      this.#pending.set(trio.apiKey, write);
    }
    await write;
    return trio;
  }

  /** The trio of (address, nonce) when it was issued and is not revoked. */
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

  async #write(row: KeyRow): Promise<void> {
    await this.#store.put(row);
    this.#entries.set(row.apiKey, { row, credential: undefined });
  }

  #derive(address: Uint8Array, nonce: string): Trio {
    return deriveCredentials(this.#nodeKey, this.#chainId, address, nonce);
  }

  #credentialOf(row: KeyRow): Credential {
    const trio = this.#derive(row.address, row.nonce);
    return {
      apiKey: row.apiKey,
      apiKeyBytes: new Uint8Array(Buffer.from(row.apiKey.replaceAll('-', ''), 'hex')),
      address: row.address,
      addressText: bytesToHex(row.address, 0, row.address.length),
      secret: Buffer.from(trio.secret, 'base64'),
      passphrase: Buffer.from(trio.passphrase, 'hex'),
    };
  }
}

function readNodeKey(path: string): NodeKey {
  const file = openSync(path, 'r');
  try {
    const { mode, size } = fstatSync(file);
    if ((mode & MODE_OF_OTHERS) !== 0) {
      const found = (mode & 0o777).toString(8).padStart(4, '0');
      return {
        ok: false,
        problem: `${path}: mode is ${found}, must be 0600: chmod 600 it if nobody else has read it`,
      };
    }
    if (size !== NODE_KEY_BYTES) {
      const wanted = `${size} bytes, must be ${NODE_KEY_BYTES}`;
      const remedy = 'restore it from a backup: without it every API key issued so far is dead';
      return { ok: false, problem: `${path}: ${wanted}: ${remedy}` };
    }
    return { ok: true, key: readFileSync(file) };
  } finally {
    closeSync(file);
  }
}

/**
 * Writes the key under another name and links it to its own: so a crash leaves no short file, and
 * an existing key is never replaced.
 */
function createNodeKey(path: string): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', NODE_KEY_MODE);
  try {
    fchmodSync(file, NODE_KEY_MODE); // whatever the umask took away
    writeSync(file, randomBytes(NODE_KEY_BYTES));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  rmSync(draft);
  const directory = openSync(join(path, '..'), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The first 16 bytes as UUID text, with the version and variant bits of a random one. */
function uuidText(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : String(error);
}
