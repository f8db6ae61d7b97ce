/**
 * What the notes of the log have led to, in memory: keys, bans, names of wallets, the pause of the venue, who is
 * watched for silence, the catalog in use. A change is written as a note; every note that is durable comes to apply(), which is the only
 * way in, whoever wrote it.
 *
 * Thread: the I/O thread, or that of a command.
 */
import type { Decision, Note } from '../../storage/notes/notes.ts';
import type { WatchNotes } from '../account/heartbeats.ts';
import type { VenuePause } from '../admin/venue-operations.ts';
import { bytesToHex } from '../common/uint256.ts';
import { Bans } from '../identity/bans.ts';
import type { KeyRegistry } from '../identity/key-registry.ts';
import { WalletNames } from '../identity/wallet-names.ts';
import { writeNote } from '../orders/own-commands.ts';
import type { Sequencer } from '../orders/sequencer.ts';

type Write = (note: Note) => Promise<void>;

export class Noted implements VenuePause {
  readonly bans: Bans;
  readonly names: WalletNames;
  pause: Decision | undefined;
  /** Digest of the generation of the catalog that is in use; undefined = there was none yet. */
  catalog: string | undefined;
  readonly watches: WatchNotes;
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

  apply(note: Note): void {
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
export class NoteSender {
  sequencer: Pick<Sequencer, 'goOn'> | undefined;

  readonly write: Write = (note) => {
    if (this.sequencer !== undefined) return writeNote(this.sequencer, note);
    return Promise.reject(new Error('nothing can be written'));
  };
}
