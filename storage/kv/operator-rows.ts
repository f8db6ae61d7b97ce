/**
 * What an operator has decided and a restart must not forget: banned wallets and the pause of the venue. Entries
 * of the table `meta` (own-store.ts): `ban/` and the 20 bytes of an address, and `pause`.
 *
 * Thread: the I/O thread, or that of a command.
 */
import { CRC_BYTES, checksumMatches, withChecksum } from './checksum.ts';
import type { OwnStore } from './own-store.ts';

/** Since when, and what for. */
export interface OperatorNote {
  /** Unix milliseconds. */
  readonly since: number;
  readonly reason: string;
}

export interface OperatorStore {
  /** By address, 20 bytes each. Throws an error that names a damaged row. */
  bans(): (OperatorNote & { readonly address: Uint8Array })[];
  pause(): OperatorNote | undefined;
  /** Resolve once the row is on disk; undefined removes it. */
  putBan(address: Uint8Array, note: OperatorNote | undefined): Promise<void>;
  putPause(note: OperatorNote | undefined): Promise<void>;
}

const BAN = Buffer.from('ban/');
/** `0` is the character after `/`. */
const BAN_END = Buffer.from('ban0');
const PAUSE = Buffer.from('pause');
/** Value: crc u32 of key and value | version | JSON of the note. */
const VERSION = 1;
const NOTE_AT = CRC_BYTES + 1;
const ADVICE = 'put back a copy of DATA_DIR/keys';

export function openOperatorStore(own: Pick<OwnStore, 'meta' | 'transact'>): OperatorStore {
  const { meta } = own;
  const put = (key: Buffer, note: OperatorNote | undefined): Promise<void> =>
    own.transact(() => {
      if (note === undefined) void meta.remove(key);
      else void meta.put(key, encode(key, note));
    });
  return {
    bans: () =>
      Array.from(meta.getRange({ start: BAN, end: BAN_END }), ({ key, value }) => ({
        address: new Uint8Array(key.subarray(BAN.length)),
        ...decode(key, value),
      })),
    pause() {
      const value = meta.get(PAUSE);
      return value === undefined ? undefined : decode(PAUSE, value);
    },
    putBan: (address, note) => put(Buffer.concat([BAN, address]), note),
    putPause: (note) => put(PAUSE, note),
  };
}

function encode(key: Buffer, { reason, since }: OperatorNote): Buffer {
  const value = Buffer.concat([
    Buffer.alloc(NOTE_AT, VERSION),
    Buffer.from(JSON.stringify({ since, reason })),
  ]);
  return withChecksum(key, value);
}

function decode(key: Buffer, value: Buffer): OperatorNote {
  const name = `row ${key.toString('latin1', 0, BAN.length)}${key.toString('hex', BAN.length)} of keys`;
  if (!checksumMatches(key, value)) throw new Error(`${name}: damaged; ${ADVICE}`);
  if (value[CRC_BYTES] !== VERSION) {
    throw new Error(`${name}: found version ${value[CRC_BYTES]}, expected ${VERSION}`);
  }
  return JSON.parse(value.toString('utf8', NOTE_AT)) as OperatorNote;
}
