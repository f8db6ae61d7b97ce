/**
 * API credentials: the node's key file, and the trios and read-only keys that are computed from it.
 * Secrets are never stored: a data directory without its node.key gives access to nothing.
 *
 * Thread: the I/O thread. Non-goals: which keys were issued (key-registry.ts). Nothing here logs.
 */
import { createHmac, randomBytes } from 'node:crypto';
import {
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
import { withFile } from '../../storage/files/with-file.ts';
import { bytesToHex } from '../common/uint256.ts';

export const NODE_KEY_BYTES = 32;
const NODE_KEY_MODE = 0o600;
const MODE_OF_OTHERS = 0o077;
const VENUE_DIGITS = 16;

export type NodeKey =
  | { readonly ok: true; readonly key: Buffer; readonly isNew: boolean }
  | { readonly ok: false; readonly problem: string };

export interface Trio {
  /** UUID, version 4 shape, lower case. */
  readonly apiKey: string;
  /** 32 bytes as base64url with padding, 44 characters; `passphrase` has 64 lower-case hex digits. */
  readonly secret: string;
  readonly passphrase: string;
}

export interface ReadOnlyKey {
  /** UUID, version 4 shape, lower case. It is itself a secret. */
  readonly key: string;
  /** Another UUID, from which the key cannot be computed. */
  readonly rowId: string;
}

/** Reads DATA_DIR/node.key. Makes it first if there is none. The directory must exist. */
export function openNodeKey(dataDir: string): NodeKey {
  const path = join(dataDir, 'node.key');
  try {
    return readNodeKey(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return { ok: false, problem: `${path}: ${codeOf(error)}` };
  }
  try {
    createNodeKey(path);
    return readNodeKey(path, true);
  } catch (error) {
    return { ok: false, problem: `${path}: cannot be created: ${codeOf(error)}` };
  }
}

/** The trio of (chain, address, nonce): always the same, as long as node.key is the same. */
export function deriveCredentials(
  nodeKey: Buffer,
  chainId: number,
  address: Uint8Array,
  nonce: string,
): Trio {
  const mac = macsOf(nodeKey, chainId, address, nonce);
  return {
    apiKey: uuidText(mac('api-key')),
    secret: mac('secret').toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
    passphrase: mac('passphrase').toString('hex'),
  };
}

export function deriveReadOnlyKey(
  nodeKey: Buffer,
  chainId: number,
  address: Uint8Array,
  number: string,
): ReadOnlyKey {
  const mac = macsOf(nodeKey, chainId, address, number);
  return { key: uuidText(mac('read-only-key')), rowId: uuidText(mac('read-only-row')) };
}

export function deriveRowId(
  nodeKey: Buffer,
  chainId: number,
  address: Uint8Array,
  nonce: string,
  isReadOnly: boolean,
): string {
  const mac = macsOf(nodeKey, chainId, address, nonce);
  return uuidText(mac(isReadOnly ? 'read-only-row' : 'api-key'));
}

/** The name of the venue in the ids of its streams: all nodes of a venue have the same key. */
export function deriveVenueName(nodeKey: Buffer): string {
  return createHmac('sha256', nodeKey).update('venue').digest('hex').slice(0, VENUE_DIGITS);
}

function macsOf(
  nodeKey: Buffer,
  chainId: number,
  address: Uint8Array,
  nonce: string,
): (label: string) => Buffer {
  const subject = `${chainId}|${bytesToHex(address, 0, address.length)}|${nonce}`;
  return (label) => createHmac('sha256', nodeKey).update(`${label}|${subject}`).digest();
}

function readNodeKey(path: string, isNew = false): NodeKey {
  const file = openSync(path, 'r');
  return withFile(file, () => {
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
    return { ok: true, key: readFileSync(file), isNew };
  });
}

/**
 * Writes a draft and links it to the final name: a crash leaves no short file, and an existing key
 * is never replaced.
 */
function createNodeKey(path: string): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', NODE_KEY_MODE);
  withFile(file, () => {
    fchmodSync(file, NODE_KEY_MODE); // independent of the umask
    writeSync(file, randomBytes(NODE_KEY_BYTES));
    fsyncSync(file);
  });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  rmSync(draft);
  const directory = openSync(join(path, '..'), 'r');
  withFile(directory, () => fsyncSync(directory));
}

/** The first 16 bytes as UUID text, with the version and variant bits of a random one. */
export function uuidText(bytes: Buffer): string {
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
