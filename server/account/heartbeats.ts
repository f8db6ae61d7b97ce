/**
 * Cancel on silence: who has sent a heartbeat once has to go on, or loses its open orders. Nobody is
 * watched who has not asked for it, and the watch ends with the cancel.
 *
 * That an address is watched outlives a restart; the time that the node was down does not count, and
 * everybody has a whole period again. Times are of the steady clock: setting the wall clock cancels
 * nothing.
 *
 * Thread: the I/O thread.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeartbeatStore } from '../../storage/kv/heartbeats.ts';
import { bytesToHex } from '../common/uint256.ts';

export interface HeartbeatsOptions {
  readonly store: HeartbeatStore;
  readonly periodMs: number;
  /** Cancels all open orders of an address (20 bytes); false when it has to be tried again. */
  readonly cancelAll: (address: Uint8Array) => Promise<boolean>;
  readonly log: (line: string) => void;
  /** Steady milliseconds. */
  readonly now?: () => number;
  readonly watchedMax?: number;
}

/** What became of a heartbeat; `id` is to be sent with the next one. */
export type Beat =
  | { readonly kind: 'taken'; readonly id: string }
  /** It carried another id than the last answer; nothing was taken. */
  | { readonly kind: 'stale'; readonly id: string }
  | { readonly kind: 'full' };

interface Watch {
  readonly address: Uint8Array;
  deadline: number;
  id: string;
  /** Its orders are being cancelled. */
  firing: boolean;
  /** Its row is being written: until then nobody is told that it is watched. */
  begun: Promise<void> | undefined;
}

/** Addresses that may be watched: some hundred bytes each. */
const WATCHED_MAX = 65_536;
/** After a cancel that could not be done. */
const RETRY_MS = 1_000;

export class Heartbeats {
  private readonly o: HeartbeatsOptions;
  private readonly now: () => number;
  /** By address text, the earliest deadline first: every period is the same. */
  private readonly watches = new Map<string, Watch>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: HeartbeatsOptions) {
    this.o = options;
    this.now = options.now ?? (() => performance.now());
    for (const address of options.store.read()) this.watch(address);
    this.arm();
  }

  /**
   * Takes a heartbeat; the first one of an address, and the first after a cancel, begins the watch,
   * and is answered when that is on disk.
   *
   * @param id the one of the last answer, '' to begin anew, undefined where the caller keeps none
   */
  async beat(address: Uint8Array, id: string | undefined): Promise<Beat> {
    const key = keyOf(address);
    const begun = this.watches.get(key)?.begun;
    if (begun !== undefined) await begun;
    const known = this.watches.get(key);
    if (known !== undefined) {
      if (id !== undefined && id !== '' && id !== known.id) return { kind: 'stale', id: known.id };
      this.watches.delete(key);
      this.watches.set(key, known);
      known.deadline = this.now() + this.o.periodMs;
      if (id !== undefined) known.id = randomUUID();
      return { kind: 'taken', id: known.id };
    }
    if (id !== undefined && id !== '') return { kind: 'stale', id: '' };
    if (this.watches.size >= (this.o.watchedMax ?? WATCHED_MAX)) return { kind: 'full' };
    const watch = this.watch(new Uint8Array(address));
    this.arm();
    try {
      watch.begun = this.o.store.put(watch.address);
      await watch.begun;
    } catch (error) {
      this.watches.delete(key);
      throw error;
    } finally {
      watch.begun = undefined;
    }
    return { kind: 'taken', id: watch.id };
  }

  /** From here on nobody loses anything; the next start watches the same addresses. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private watch(address: Uint8Array): Watch {
    const deadline = this.now() + this.o.periodMs;
    const watch: Watch = {
      address,
      deadline,
      id: randomUUID(),
      firing: false,
      begun: undefined,
    };
    this.watches.set(keyOf(address), watch);
    return watch;
  }

  private arm(): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    const next = this.earliest();
    if (next === undefined) return;
    const wait = Math.max(0, Math.ceil(next.deadline - this.now()));
    this.timer = setTimeout(() => {
      // What has arrived by now is heard first, however long this thread was busy.
      setImmediate(() => this.look());
    }, wait);
    this.timer.unref();
  }

  private earliest(): Watch | undefined {
    for (const watch of this.watches.values()) if (!watch.firing) return watch;
    return undefined;
  }

  private look(): void {
    if (this.stopped) return;
    const now = this.now();
    for (const watch of this.watches.values()) {
      if (watch.firing) continue;
      if (watch.deadline > now) break;
      void this.fire(watch);
    }
    this.arm();
  }

  private async fire(watch: Watch): Promise<void> {
    watch.firing = true;
    const { deadline } = watch;
    const isSilent = (): boolean => watch.deadline === deadline && !this.stopped;
    let isDone = false;
    while (!isDone && isSilent()) {
      isDone = await this.o.cancelAll(watch.address).catch(() => false);
      if (!isDone) await sleep(RETRY_MS, undefined, { ref: false });
    }
    watch.firing = false;
    // A heartbeat that came meanwhile goes on with the watch; the orders before it are gone.
    if (isDone && isSilent()) {
      const key = keyOf(watch.address);
      this.watches.delete(key);
      this.o.log(`${key} fell silent: its open orders are cancelled`);
      await this.forget(watch.address);
    }
    this.arm();
  }

  /** A row that stays is harmless: after a restart an address without orders is watched once more. */
  private async forget(address: Uint8Array): Promise<void> {
    await this.o.store.remove(address).catch((error: unknown) => {
      this.o.log(`heartbeats: ${(error as Error).message}`);
    });
  }
}

function keyOf(address: Uint8Array): string {
  return bytesToHex(address, 0, address.length);
}
