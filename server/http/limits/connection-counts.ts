/**
 * How many connections there are, and which new ones are refused: too many in all, too many of one
 * address, or too many opened by one address within a second. A refused connection is closed as soon as it
 * was accepted, before a byte is read.
 *
 * The HTTP library says that a connection has closed, but not whose it was. In all, the count is exact. Of
 * an address it is exact while all connections are of one; else those that it opened are counted, and
 * when they come to the bound, the system counts how many are open (address-connections.ts). Until it has
 * answered half as many more are let in, because some of those that count may have closed. Thread: I/O.
 */
import type { AddressConnections } from './address-connections.ts';
import { type Caller, callerKey } from './callers.ts';

export const REFUSALS = ['all', 'address', 'rate'] as const;
export type ConnectionRefusal = (typeof REFUSALS)[number];

export interface ConnectionBounds {
  readonly all: number;
  /** Undefined where callers cannot be distinguished: no limits, or all of them behind proxies. */
  readonly perAddress: { readonly open: number; readonly openedPerSecond: number } | undefined;
}

export interface ConnectionFacts {
  readonly open: number;
  readonly max: number;
  readonly refused: Readonly<Record<ConnectionRefusal, number>>;
}

interface Known {
  /** Open ones, or more: those that closed since the system counted are among them. */
  open: number;
  /** Those that were known when the system counted last. */
  before: number;
  opened: number;
  openedUntil: number;
}

const SECOND_MS = 1_000;
/** Of the bound of an address: what it may have while the system counts, which takes seconds on a busy machine. */
const WHILE_COUNTING = 1.5;

/** Far above what is open at a time; forgotten ones are counted anew when the system counts next. */
const ADDRESSES_MAX = 65_536;

export class ConnectionCounts {
  private readonly bounds: ConnectionBounds;
  private readonly now: () => number;
  private readonly systemCounts: AddressConnections;
  private readonly refused = { all: 0, address: 0, rate: 0 };
  private readonly addresses = new Map<string, Known>();
  private open = 0;
  private isCounting = false;
  private countedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param systemCounts open connections of each caller, as the system knows them
   * @param now milliseconds of a clock that nobody sets
   */
  constructor(bounds: ConnectionBounds, systemCounts: AddressConnections, now: () => number) {
    this.bounds = bounds;
    this.systemCounts = systemCounts;
    this.now = now;
  }

  /** A connection was accepted: why it must not stay, or undefined, and then it counts. */
  opened(caller: Caller): ConnectionRefusal | undefined {
    const why = this.open >= this.bounds.all ? 'all' : this.refusalOf(caller);
    if (why === undefined) this.open += 1;
    else this.refused[why] += 1;
    return why;
  }

  /** One that was not refused is over. */
  closed(): void {
    this.open -= 1;
  }

  facts(): ConnectionFacts {
    return { open: this.open, max: this.bounds.all, refused: { ...this.refused } };
  }

  private refusalOf(caller: Caller): ConnectionRefusal | undefined {
    const { perAddress } = this.bounds;
    if (perAddress === undefined) return undefined;
    const known = this.knownOf(callerKey(caller));
    const now = this.now();
    if (now >= known.openedUntil) {
      known.opened = 0;
      known.openedUntil = now + SECOND_MS;
    }
    known.opened += 1;
    if (known.opened > perAddress.openedPerSecond) return 'rate';
    if (known.open >= perAddress.open) {
      // More than are open at all cannot be open.
      known.open = Math.min(known.open, this.open);
      if (known.open >= perAddress.open) {
        this.ask(now);
        if (!this.isCounting || known.open >= WHILE_COUNTING * perAddress.open) return 'address';
      }
    }
    known.open += 1;
    return undefined;
  }

  private knownOf(key: string): Known {
    const found = this.addresses.get(key);
    if (found !== undefined) return found;
    if (this.addresses.size >= ADDRESSES_MAX) this.addresses.clear();
    const known = { open: 0, before: 0, opened: 0, openedUntil: 0 };
    this.addresses.set(key, known);
    return known;
  }

  /** At most once in a second: with many connections the answer is long. */
  private ask(now: number): void {
    if (this.isCounting || now - this.countedAt < SECOND_MS) return;
    this.isCounting = true;
    this.countedAt = now;
    for (const known of this.addresses.values()) known.before = known.open;
    this.systemCounts().then((counts) => {
      this.isCounting = false;
      for (const [key, known] of this.addresses) {
        // Where the system cannot count, an address is bounded by what it opens in a second alone.
        const found = counts?.get(key) ?? 0;
        known.open = found + Math.max(0, known.open - known.before);
        if (known.open === 0 && now >= known.openedUntil) this.addresses.delete(key);
      }
    });
  }
}
