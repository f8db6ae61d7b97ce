/**
 * Cancels on missing heartbeats: an address that has sent one must send further ones, or all its open orders
 * are cancelled. An address that never sent one is not watched, and the watch ends with the cancel.
 *
 * The list of watched addresses survives a restart. Downtime does not count: each address gets a whole period
 * again. Times are of the steady clock, so setting the wall clock cancels nothing.
 *
 * Thread: I/O. Not here: the routes (heartbeat-routes.ts), the cancel (cancels.ts).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesToHex } from '../../common/uint256.ts';

/** Watched addresses, as control records of the log. */
export interface WatchStore {
  read(): Iterable<Uint8Array>;
  /** Resolves once the record is durable. */
  put(address: Uint8Array): Promise<void>;
  remove(address: Uint8Array): Promise<void>;
}

export interface HeartbeatsOptions {
  readonly store: WatchStore;
  readonly periodMs: number;
  /** Cancels all open orders of an address (20 bytes); false when it must be tried again. */
  readonly cancelAll: (address: Uint8Array) => Promise<boolean>;
  readonly log: (line: string) => void;
  /** Milliseconds of the steady clock. */
  readonly now?: () => number;
  readonly watchedMax?: number;
}

export type HeartbeatResult =
  | { readonly kind: 'taken'; readonly id: string }
  /** The id differs from that of the last answer; the heartbeat is ignored. */
  | { readonly kind: 'stale'; readonly id: string }
  | { readonly kind: 'full' };

interface Watch {
  readonly address: Uint8Array;
  deadline: number;
  id: string;
  firing: boolean;
  /** Write of the control record; heartbeats are answered after it. */
  begun: Promise<void> | undefined;
}

/** Addresses that may be watched. Each takes some hundred bytes. */
const WATCHED_MAX = 65_536;
const RETRY_MS = 1_000;

export class Heartbeats {
  private readonly options: HeartbeatsOptions;
  private readonly now: () => number;
  /** Earliest deadline first, because all periods are equal. The key is the address text. */
  private readonly watches = new Map<string, Watch>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: HeartbeatsOptions) {
    this.options = options;
    this.now = options.now ?? (() => performance.now());
    for (const address of options.store.read()) this.watch(address);
    this.arm();
  }

  /**
   * Takes a heartbeat. The first one of an address, and the first after a cancel, starts the watch and is
   * answered when that is durable.
   *
   * @param id the id of the last answer; '' to start a new chain; undefined when the client uses no ids
   */
  async take(address: Uint8Array, id: string | undefined): Promise<HeartbeatResult> {
    const key = keyOf(address);
    const begun = this.watches.get(key)?.begun;
    if (begun !== undefined) await begun;
    const known = this.watches.get(key);
    if (known !== undefined) {
      if (id !== undefined && id !== '' && id !== known.id) return { kind: 'stale', id: known.id };
      this.renew(key, known);
      if (id !== undefined) known.id = randomUUID();
      return { kind: 'taken', id: known.id };
    }
    if (id !== undefined && id !== '') return { kind: 'stale', id: '' };
    if (this.watches.size >= (this.options.watchedMax ?? WATCHED_MAX)) return { kind: 'full' };
    const watch = this.watch(new Uint8Array(address));
    try {
      watch.begun = this.options.store.put(watch.address);
      await watch.begun;
    } catch (error) {
      this.watches.delete(key);
      throw error;
    } finally {
      watch.begun = undefined;
    }
    this.renew(key, watch);
    this.arm();
    return { kind: 'taken', id: watch.id };
  }

  /** Stops all timers: nothing is cancelled after this call. The next start watches the same addresses. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private watch(address: Uint8Array): Watch {
    const watch = { address, deadline: 0, id: randomUUID(), firing: false, begun: undefined };
    this.renew(keyOf(address), watch);
    return watch;
  }

  private renew(key: string, watch: Watch): void {
    this.watches.delete(key);
    this.watches.set(key, watch);
    watch.deadline = this.now() + this.options.periodMs;
  }

  private arm(): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    const next = this.earliest();
    if (next === undefined) return;
    const wait = Math.max(0, Math.ceil(next.deadline - this.now()));
    this.timer = setTimeout(() => {
      // Requests that have arrived are handled first, even if this thread was busy for long.
      setImmediate(() => this.checkDeadlines());
    }, wait);
    this.timer.unref();
  }

  private earliest(): Watch | undefined {
    for (const watch of this.watches.values()) if (isWatched(watch)) return watch;
    return undefined;
  }

  private checkDeadlines(): void {
    if (this.stopped) return;
    const now = this.now();
    for (const watch of this.watches.values()) {
      if (!isWatched(watch)) continue;
      if (watch.deadline > now) break;
      void this.fire(watch);
    }
    this.arm();
  }

  private async fire(watch: Watch): Promise<void> {
    watch.firing = true;
    const { deadline } = watch;
    const isOverdue = (): boolean => watch.deadline === deadline && !this.stopped;
    let isDone = false;
    while (!isDone && isOverdue()) {
      isDone = await this.options.cancelAll(watch.address).catch(() => false);
      if (!isDone) await sleep(RETRY_MS, undefined, { ref: false });
    }
    watch.firing = false;
    // A heartbeat arrived during the cancel: the watch continues, the older orders are cancelled.
    if (isDone && isOverdue()) {
      const key = keyOf(watch.address);
      this.watches.delete(key);
      this.options.log(`${key} sent no heartbeat in time: its open orders are cancelled`);
      await this.forget(watch.address);
    }
    this.arm();
  }

  /** A failed write loses nothing: after a restart an address without orders is watched once more. */
  private async forget(address: Uint8Array): Promise<void> {
    await this.options.store.remove(address).catch((error: unknown) => {
      this.options.log(`heartbeats: ${(error as Error).message}`);
    });
  }
}

function isWatched({ begun, firing }: Watch): boolean {
  return begun === undefined && !firing;
}

function keyOf(address: Uint8Array): string {
  return bytesToHex(address, 0, address.length);
}
