/**
 * The addresses whose orders are cancelled when their heartbeats stop: an entry of the table `meta`
 * (own-store.ts) for each address, `heartbeat/` and its 20 bytes, with a checksum. The time of the
 * last heartbeat is not stored: a node that was down cannot have received any.
 *
 * Thread: the I/O thread.
 */

import { CRC_BYTES, checksumMatches, withChecksum } from './checksum.ts';
import type { OwnStore } from './own-store.ts';

const PREFIX = Buffer.from('heartbeat/');
/** `0` is the character after `/`. */
const END = Buffer.from('heartbeat0');
const ADDRESS_BYTES = 20;
/** Value: crc u32 of key and value | version. Version 1 had no checksum. */
const VERSION = 2;
const VALUE_BYTES = CRC_BYTES + 1;

const ADVICE =
  'put back a copy of DATA_DIR/keys, or remove it: then everybody asks for their keys again';

export interface HeartbeatStore {
  /** The addresses, 20 bytes each. Throws an error that names a damaged row. */
  read(): Uint8Array[];
  /** Resolves when the row is on disk. */
  put(address: Uint8Array): Promise<void>;
  remove(address: Uint8Array): Promise<void>;
}

export function openHeartbeatStore(own: Pick<OwnStore, 'meta' | 'transact'>): HeartbeatStore {
  const { meta } = own;
  const keyOf = (address: Uint8Array): Buffer => Buffer.concat([PREFIX, address]);
  return {
    read() {
      const found: Uint8Array[] = [];
      for (const { key, value } of meta.getRange({ start: PREFIX, end: END })) {
        const address = key.subarray(PREFIX.length);
        const name = `heartbeat row of keys ${address.toString('hex')}`;
        if (value.length === 1) throw new Error(`${name}: of an older version; ${ADVICE}`);
        const isSound = value.length === VALUE_BYTES && checksumMatches(key, value);
        if (!isSound || address.length !== ADDRESS_BYTES) {
          throw new Error(`${name}: damaged; ${ADVICE}`);
        }
        if (value[CRC_BYTES] !== VERSION) {
          throw new Error(`${name}: found version ${value[CRC_BYTES]}, expected ${VERSION}`);
        }
        found.push(new Uint8Array(address));
      }
      return found;
    },
    put(address) {
      const key = keyOf(address);
      const value = Buffer.alloc(VALUE_BYTES);
      value[CRC_BYTES] = VERSION;
      return own.transact(() => void meta.put(key, withChecksum(key, value)));
    },
    remove: (address) => own.transact(() => void meta.remove(keyOf(address))),
  };
}
