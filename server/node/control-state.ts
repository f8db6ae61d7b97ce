/**
 * Control state in memory: the result of all control records of the log. It has keys, bans, names of wallets,
 * the pause of the exchange, wallets watched by heartbeats, and the current catalog generation. A change is
 * written as a record; apply() takes every durable record and is the only way in.
 *
 * Thread: I/O, or that of a command. Not here: the records themselves (storage/control-records).
 */
import type { ControlRecord, Decision } from '../../storage/control-records/control-records.ts';
import type { VenuePause } from '../admin/venue-operations.ts';
import { Bans } from '../auth/bans.ts';
import type { KeyRegistry } from '../auth/key-registry.ts';
import { WalletNames } from '../auth/wallet-names.ts';
import { bytesToHex } from '../common/uint256.ts';
import type { WatchStore } from '../orders/cancel/heartbeats.ts';
import { writeControlRecord } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';

/** Resolves once a record is durable and applied. */
type Write = (record: ControlRecord) => Promise<void>;

export class ControlState implements VenuePause {
  readonly bans: Bans;
  readonly names: WalletNames;
  pause: Decision | undefined;
  /** Digest of the current catalog generation; `undefined` = there was none yet. */
  catalog: string | undefined;
  readonly watches: WatchStore;
  private readonly write: Write;
  private readonly keys: Pick<KeyRegistry, 'take'>;
  private readonly onPause: (reason: string | undefined) => void;
  /** Addresses by their text. */
  private readonly watched = new Map<string, Uint8Array>();

  /** @param onPause receives `undefined` when the exchange resumes */
  constructor(
    keys: Pick<KeyRegistry, 'take'>,
    write: Write,
    onPause: (reason: string | undefined) => void = () => undefined,
  ) {
    this.keys = keys;
    this.write = write;
    this.onPause = onPause;
    this.bans = new Bans(write);
    this.names = new WalletNames(write);
    this.watches = {
      read: () => this.watched.values(),
      put: (address) => write({ about: 'watch', address, isWatched: true }),
      remove: (address) => write({ about: 'watch', address, isWatched: false }),
    };
  }

  apply(record: ControlRecord): void {
    switch (record.about) {
      case 'key':
        this.keys.take(record.row);
        return;
      case 'ban':
        this.bans.take(record.address, record.decision);
        return;
      case 'pause':
        this.pause = record.decision;
        this.onPause(record.decision?.reason);
        return;
      case 'watch': {
        const { address, isWatched } = record;
        const text = bytesToHex(address, 0, address.length);
        if (isWatched) this.watched.set(text, address);
        else this.watched.delete(text);
        return;
      }
      case 'name':
        this.names.take(record.address, record.name);
        return;
      case 'catalog':
        this.catalog = record.digest;
        return;
      case 'handover':
    }
  }

  putPause(decision: Decision | undefined): Promise<void> {
    return this.write({ about: 'pause', decision });
  }
}

/** Writes control records to the log: closed until the writer has started, and on a read-only node. */
export class ControlRecordSender {
  private sequencer: Pick<Sequencer, 'resume'> | undefined;
  private pauseOrders: (reason: string | undefined) => void = () => undefined;

  open(
    sequencer: Pick<Sequencer, 'resume'> | undefined,
    pauseOrders: (reason: string | undefined) => void,
  ): void {
    this.sequencer = sequencer;
    this.pauseOrders = pauseOrders;
  }

  readonly write: Write = (record) => {
    if (this.sequencer !== undefined) return writeControlRecord(this.sequencer, record);
    return Promise.reject(new Error('nothing can be written'));
  };

  /** Pauses orders; `undefined` resumes them. */
  readonly pause = (reason: string | undefined): void => this.pauseOrders(reason);
}
