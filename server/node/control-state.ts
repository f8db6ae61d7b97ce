/**
 * Control state in memory: the result of all control records of the log. It has keys, bans, names and profiles of wallets,
 * names of seasons, the pause of the exchange, the operator's message, faults of the venue, makers of the house, wallets
 * watched by heartbeats, and the current catalog generation. A change is
 * written as a record; apply() takes every durable record and is the only way in.
 *
 * Thread: I/O, or that of a command. Not here: the records themselves (storage/control-records).
 */
import type {
  ControlRecord,
  Decision,
  LiquidityTerms,
} from '../../storage/control-records/control-records.ts';
import type { VenueMessage, VenuePause } from '../admin/venue-operations.ts';
import { Bans } from '../auth/bans.ts';
import type { KeyRegistry } from '../auth/key-registry.ts';
import { Profiles } from '../auth/profiles.ts';
import { WalletNames } from '../auth/wallet-names.ts';
import { bytesToHex } from '../common/uint256.ts';
import { VenueFaults } from '../faults/venue-faults.ts';
import type { WatchStore } from '../orders/cancel/heartbeats.ts';
import { writeControlRecord } from '../orders/intake/internal-commands.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';

/** Resolves once a record is durable and applied. */
type Write = (record: ControlRecord) => Promise<void>;

export class ControlState implements VenuePause, VenueMessage {
  readonly bans: Bans;
  readonly names: WalletNames;
  readonly profiles: Profiles;
  readonly faults: VenueFaults;
  /** Terms by condition id. */
  readonly liquidity = new Map<string, LiquidityTerms>();
  pause: Decision | undefined;
  message: Decision | undefined;
  /** Names of seasons, by number. */
  readonly seasons = new Map<number, string>();
  /** Digest of the current catalog generation; `undefined` = there was none yet. */
  catalog: string | undefined;
  readonly watches: WatchStore;
  private readonly write: Write;
  private readonly keys: Pick<KeyRegistry, 'take'>;
  private readonly onPause: (reason: string | undefined) => void;
  private readonly watched = new Map<string, Uint8Array>();

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
    this.profiles = new Profiles(write);
    this.faults = new VenueFaults(write);
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
      case 'message':
        this.message = record.decision;
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
      case 'profile':
        this.profiles.take(record);
        return;
      case 'season':
        this.seasons.set(record.number, record.name);
        return;
      case 'fault':
        this.faults.take(record.kind, record.decision);
        return;
      case 'liquidity':
        this.liquidity.set(record.condition, record.terms);
        return;
      case 'catalog':
        this.catalog = record.digest;
        return;
      case 'handover':
    }
  }

  readonly nameSeason = (number: number, name: string): Promise<void> =>
    this.write({ about: 'season', number, name });

  putPause(decision: Decision | undefined): Promise<void> {
    return this.write({ about: 'pause', decision });
  }

  putMessage(decision: Decision | undefined): Promise<void> {
    return this.write({ about: 'message', decision });
  }

  putLiquidity(condition: string, terms: LiquidityTerms): Promise<void> {
    return this.write({ about: 'liquidity', condition, terms });
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

  readonly pause = (reason: string | undefined): void => this.pauseOrders(reason);
}
