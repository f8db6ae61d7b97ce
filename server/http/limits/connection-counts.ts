/**
 * Connection counts and the refusal of new ones: too many in all, too many of one address, or too many opened
 * by one address within a second. A refused connection is closed on accept, before a byte is read.
 *
 * The HTTP library reports that a connection has closed, but not its address. The total is exact. The count
 * of an address is exact while all connections have the same one. Otherwise opened connections are counted;
 * at the bound the system counts the open ones (address-connections.ts). Until it answers, half as many more
 * are accepted, because some of the counted ones may have closed. Thread: I/O.
 */
import type { AddressConnections } from './address-connections.ts';
import { type Caller, callerKey } from './callers.ts';

export const REFUSALS = ['all', 'address', 'rate'] as const;
type ConnectionRefusal = (typeof REFUSALS)[number];

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
  /** Upper bound of open connections: those closed since the last system count are included. */
  open: number;
  /** `open` at the start of the last system count. */
  before: number;
  opened: number;
  openedUntil: number;
}

const SECOND_MS = 1_000;
/** Factor of the bound of an address during a system count, which takes seconds on a busy machine. */
const WHILE_COUNTING = 1.5;

/** Far above the connections open at a time; the next system count restores a forgotten address. */
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

  /** @param now milliseconds of a monotonic clock */
  constructor(bounds: ConnectionBounds, systemCounts: AddressConnections, now: () => number) {
    this.bounds = bounds;
    this.systemCounts = systemCounts;
    this.now = now;
  }

  opened(caller: Caller): ConnectionRefusal | undefined {
    const why = this.open >= this.bounds.all ? 'all' : this.refusalOf(caller);
    if (why === undefined) this.open += 1;
    else this.refused[why] += 1;
    return why;
  }

  /** Counts the end of a connection that was not refused. */
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
      // An address cannot have more connections than are open in all.
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

  /** Starts a system count at most once a second: with many connections its answer is long. */
  private ask(now: number): void {
    if (this.isCounting || now - this.countedAt < SECOND_MS) return;
    this.isCounting = true;
    this.countedAt = now;
    for (const known of this.addresses.values()) known.before = known.open;
    this.systemCounts().then((counts) => {
      this.isCounting = false;
      for (const [key, known] of this.addresses) {
        // Where the system cannot count, an address is bounded only by its openings in a second.
        const found = counts?.get(key) ?? 0;
        known.open = found + Math.max(0, known.open - known.before);
        if (known.open === 0 && now >= known.openedUntil) this.addresses.delete(key);
      }
    });
  }
}
