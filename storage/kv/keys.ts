/**
 * The table of issued API keys. A row says which address a key belongs to and whether it is
 * revoked. Secret and passphrase are not stored: they are computed from the node's key file.
 *
 * Thread: the I/O thread.
 */
import assert from 'node:assert/strict';
import { CRC_BYTES, checksumMatches, withChecksum } from './checksum.ts';
import { type BinaryTable, writeFailure } from './lmdb.ts';

export interface KeyRow {
  /**
   * Lower-case UUID text. For an API key: the key. For a read-only key, which is itself a secret: a
   * name from which the key cannot be computed.
   */
  readonly id: string;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /**
   * uint256 text. For an API key: the signed nonce. For a read-only key: its number among the keys
   * of its address.
   */
  readonly nonce: string;
  readonly revoked: boolean;
  readonly readOnly: boolean;
}

export interface KeyStore {
  /** Every row; read once at start. Throws an error that names the key of a damaged row. */
  rows(): Iterable<KeyRow>;
  /** Resolves when the row is as durable as the environment promises. Replaces an older row. */
  put(row: KeyRow): Promise<void>;
}

/**
 * Key: the UUID's 16 bytes. Value:
 *   crc u32 of key and value | version | revoked | address (20 bytes) | nonce (ASCII digits, 1 to 78)
 * A read-only key has a version of its own, so that a node that does not know them does not read one
 * as an API key. Versions 1 and 2 had no checksum.
 */
const VERSION = 3;
const VERSION_READ_ONLY = 4;
const VERSION_AT = CRC_BYTES;
const REVOKED_AT = VERSION_AT + 1;
const ADDRESS_AT = REVOKED_AT + 1;
const ADDRESS_BYTES = 20;
const NONCE_AT = ADDRESS_AT + ADDRESS_BYTES;

const ADVICE =
  'put back a copy of DATA_DIR/keys, or remove it: then everybody asks for their keys again';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_BYTES = 16;
const NONCE = /^(0|[1-9][0-9]{0,77})$/;
const NUMBER = /^(0|[1-9][0-9]{0,8})$/;

/**
 * `report` is called with the error of a failed write; the caller of put gets it too, but only
 * passes it on to its client.
 */
export function openKeyStore(table: BinaryTable, report: (error: unknown) => void): KeyStore {
  return {
    *rows() {
      for (const { key, value } of table.getRange()) yield decodeRow(key, value);
    },
    async put(row) {
      try {
        const key = encodeKey(row.id);
        await table.put(key, encodeRow(key, row));
      } catch (error) {
        const failure = new Error(await writeFailure(error));
        report(failure);
        throw failure;
      }
    },
  };
}

function encodeKey(id: string): Buffer {
  assert(UUID.test(id), 'a key has a lower-case UUID');
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function encodeRow(key: Buffer, row: KeyRow): Buffer {
  assert(row.address.length === ADDRESS_BYTES, 'an address has 20 bytes');
  assert(NONCE.test(row.nonce), 'a nonce is a uint256');
  const value = Buffer.alloc(NONCE_AT + row.nonce.length);
  value[VERSION_AT] = row.readOnly ? VERSION_READ_ONLY : VERSION;
  value[REVOKED_AT] = row.revoked ? 1 : 0;
  value.set(row.address, ADDRESS_AT);
  value.write(row.nonce, NONCE_AT, 'latin1');
  return withChecksum(key, value);
}

function decodeRow(key: Buffer, value: Buffer): KeyRow {
  const hex = key.toString('hex');
  const nonce = value.toString('latin1', NONCE_AT);
  const revoked = value[REVOKED_AT];
  const version = value[VERSION_AT];
  if (!checksumMatches(key, value)) throw new Error(`API key row ${hex}: damaged; ${ADVICE}`);
  if (version !== VERSION && version !== VERSION_READ_ONLY) {
    const known = `${VERSION} or ${VERSION_READ_ONLY}`;
    throw new Error(`API key row ${hex}: found version ${version}, expected ${known}`);
  }
  const isNonce = version === VERSION ? NONCE.test(nonce) : NUMBER.test(nonce);
  if (key.length !== UUID_BYTES || (revoked !== 0 && revoked !== 1) || !isNonce) {
    throw new Error(`API key row ${hex}: damaged; ${ADVICE}`);
  }
  const part = (from: number, to: number) => hex.slice(from, to);
  return {
    id: `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`,
    address: new Uint8Array(value.subarray(ADDRESS_AT, NONCE_AT)),
    nonce,
    revoked: revoked === 1,
    readOnly: version === VERSION_READ_ONLY,
  };
}
