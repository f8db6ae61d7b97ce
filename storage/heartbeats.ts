/**
 * Who is to lose its orders when it falls silent: an entry of the table `meta` (own-store.ts) for each
 * address, `heartbeat/` and its 20 bytes. When it was heard last is not stored: a node that was down
 * cannot have heard anybody.
 *
 * Thread: the I/O thread.
 */
import type { OwnStore } from './own-store.ts';

const PREFIX = Buffer.from('heartbeat/');
/** `0` follows `/`. */
const END = Buffer.from('heartbeat0');
const VERSION = Buffer.from([1]);

export interface HeartbeatStore {
  /** The addresses, 20 bytes each. */
  read(): Uint8Array[];
  /** Resolves when it is on disk. */
  put(address: Uint8Array): Promise<void>;
  remove(address: Uint8Array): Promise<void>;
}

export function openHeartbeatStore(own: OwnStore): HeartbeatStore {
  const { meta } = own;
  const key = (address: Uint8Array): Buffer => Buffer.concat([PREFIX, address]);
  return {
    read() {
      const found: Uint8Array[] = [];
      for (const { key, value } of meta.getRange({ start: PREFIX, end: END })) {
        if (!value.equals(VERSION)) throw new Error('heartbeats: a row of another format');
        found.push(new Uint8Array(key.subarray(PREFIX.length)));
      }
      return found;
    },
    put: (address) => own.transact(() => void meta.put(key(address), VERSION)),
    remove: (address) => own.transact(() => void meta.remove(key(address))),
  };
}
