/**
 * What the notes of the log have led to, in memory: keys, bans, names of wallets, the pause of the venue, who is
 * watched for silence, the catalog in use. A change is written as a note; every note that is durable comes to apply(), which is the only
 * way in, whoever wrote it.
 *
 * Thread: the I/O thread, or that of a command.
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

type Write = (note: ControlRecord) => Promise<void>;

export class ControlState implements VenuePause {
  readonly bans: Bans;
  readonly names: WalletNames;
  pause: Decision | undefined;
  /** Digest of the generation of the catalog that is in use; undefined = there was none yet. */
  catalog: string | undefined;
  readonly watches: WatchStore;
  /** Called when the venue is paused or, with undefined, resumed. */
  onPause: (reason: string | undefined) => void = () => undefined;
  private readonly write: Write;
  private readonly keys: Pick<KeyRegistry, 'take'>;
  /** By address text. */
  private readonly watched = new Map<string, Uint8Array>();

  /** @param write resolves once a note is durable and was given to apply() */
  constructor(keys: Pick<KeyRegistry, 'take'>, write: Write) {
    this.keys = keys;
    this.write = write;
    this.bans = new Bans(write);
    this.names = new WalletNames(write);
    this.watches = {
      read: () => this.watched.values(),
      put: (address) => write({ about: 'watch', address, isWatched: true }),
      remove: (address) => write({ about: 'watch', address, isWatched: false }),
    };
  }

  apply(note: ControlRecord): void {
    switch (note.about) {
      case 'key':
        this.keys.take(note.row);
        return;
      case 'ban':
        this.bans.take(note.address, note.decision);
        return;
      case 'pause':
        this.pause = note.decision;
        this.onPause(note.decision?.reason);
        return;
      case 'watch': {
        const { address, isWatched } = note;
        const text = bytesToHex(address, 0, address.length);
        if (isWatched) this.watched.set(text, address);
        else this.watched.delete(text);
        return;
      }
      case 'name':
        this.names.take(note.address, note.name);
        return;
      case 'catalog':
        this.catalog = note.digest;
        return;
      case 'handover':
    }
  }

  putPause(decision: Decision | undefined): Promise<void> {
    return this.write({ about: 'pause', decision });
  }
}

/** Writes notes once there is somebody to write them. */
export class ControlRecordSender {
  sequencer: Pick<Sequencer, 'goOn'> | undefined;

  readonly write: Write = (note) => {
    if (this.sequencer !== undefined) return writeControlRecord(this.sequencer, note);
    return Promise.reject(new Error('nothing can be written'));
  };
}
