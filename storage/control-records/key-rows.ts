/**
 * Rows of API keys in keys/ (control-record-store.ts). Key: the UUID's 16 bytes. Value:
 *   crc u32 of key and value | version | revoked | address (20 bytes) | nonce (ASCII digits, 1 to 78)
 * A read-only key has a version of its own, so that a node that does not know them does not read one
 * as an API key. Versions 1 and 2 had no checksum.
 *
 * Thread: any; pure.
 */
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { ADDRESS_BYTES, type KeyRow, keyRowOf } from './control-records.ts';

const VERSION = 3;
const VERSION_READ_ONLY = 4;
const VERSION_AT = CRC_BYTES;
const REVOKED_AT = VERSION_AT + 1;
const ADDRESS_AT = REVOKED_AT + 1;
const NONCE_AT = ADDRESS_AT + ADDRESS_BYTES;

export const ADVICE =
  'put back a copy of DATA_DIR/keys, or remove it: then it is made again from what the log still has';

export function encodeKeyRow(key: Buffer, row: KeyRow): Buffer {
  const value = Buffer.alloc(NONCE_AT + row.nonce.length);
  value[VERSION_AT] = row.readOnly ? VERSION_READ_ONLY : VERSION;
  value[REVOKED_AT] = row.revoked ? 1 : 0;
  value.set(row.address, ADDRESS_AT);
  value.write(row.nonce, NONCE_AT, 'latin1');
  return withChecksum(key, value);
}

/** Throws an error that names the key of a damaged row. */
export function decodeKeyRow(key: Buffer, value: Buffer): KeyRow {
  const name = `API key row ${key.toString('hex')}`;
  if (!checksumMatches(key, value)) throw new Error(`${name}: damaged; ${ADVICE}`);
  const version = value[VERSION_AT];
  if (version !== VERSION && version !== VERSION_READ_ONLY) {
    const known = `${VERSION} or ${VERSION_READ_ONLY}`;
    throw new Error(`${name}: found version ${version}, expected ${known}`);
  }
  const revoked = value[REVOKED_AT];
  const address = value.subarray(ADDRESS_AT, NONCE_AT);
  const row = keyRowOf(key, address, value.toString('latin1', NONCE_AT), {
    revoked: revoked === 1,
    readOnly: version === VERSION_READ_ONLY,
  });
  if (row === undefined || (revoked !== 0 && revoked !== 1)) {
    throw new Error(`${name}: damaged; ${ADVICE}`);
  }
  return row;
}
