/**
 * Newest flushed batches, for users whose messages are not stored (replay-buffer.ts), after a start or from another
 * node. Missed messages are rebuilt from them as they were first published, so every node has the same messages with
 * the same cursors.
 *
 * Only batches whose closed orders and fills are in memory can be read. The wallets of a batch are looked up once,
 * for the first user.
 *
 * Thread: the I/O thread. Non-goals: messages of a stored user.
 */
import { Event, EventKind, eventWords } from '../../engine/events.ts';
import { closedInMemory } from '../../engine/orders/orders.ts';
import { closedCount, fillCount } from '../../engine/reads.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import { sameWords } from '../../engine/tables/hash-index.ts';
import { RECENT_BATCHES_MAX, RECENT_BYTES_MAX } from '../../storage/recovery/replayed-batches.ts';
import type { AppliedBatch } from '../orders/worker/applied-batch.ts';
import { BalanceFeed } from './balance-feed.ts';
import type { Names } from './names.ts';
import type { Missed, MissedEvent, User } from './replay-buffer.ts';
import { UserFeed } from './user-feed.ts';

interface Facts {
  /** Infinity = none. */
  readonly firstFill: number;
  readonly firstClosed: number;
  readonly hasTerms: boolean;
}

interface Recent {
  readonly batch: AppliedBatch;
  /** Both are found for the first user. */
  facts: Facts | undefined;
  /** First words of the addresses with events in the batch. */
  words: ReadonlySet<number> | undefined;
}

export class RecentBatches {
  private readonly names: Names;
  private recent: Recent[] = [];
  private bytes = 0;
  /** Every batch behind this one is stored. */
  from: number;

  constructor(names: Names, batch: number) {
    this.names = names;
    this.from = batch;
  }

  add(batch: AppliedBatch): void {
    if (!batch.isWhole) {
      this.clear(batch.sequence);
      return;
    }
    this.recent.push({ batch, facts: undefined, words: undefined });
    this.bytes += bytesOf(batch);
    while (this.bytes > RECENT_BYTES_MAX || this.recent.length > RECENT_BATCHES_MAX) {
      const { batch: oldest } = this.recent.shift()!;
      this.bytes -= bytesOf(oldest);
      this.from = oldest.sequence;
    }
  }

  /** Oldest first. */
  all(): readonly AppliedBatch[] {
    return this.recent.map(({ batch }) => batch);
  }

  /** Discards all batches: events are incomplete, so no earlier cursor can be resumed from. */
  clear(batch: number): void {
    this.recent = [];
    this.bytes = 0;
    this.from = batch;
  }

  /** Messages that a user missed; `user` itself is not changed. */
  missedBy(user: User, kind: 'orders' | 'balances'): Missed {
    let { from } = this;
    let events: MissedEvent[] = [];
    const probe = {
      isEmpty: false,
      hasBalances: true,
      find: (words: Int32Array, at: number) =>
        sameWords(user.address, 0, words, at, ADDRESS_WORDS) ? user : undefined,
      append: (_: User, condition: string, body: string, batch: number) =>
        void events.push({ condition, body, batch }),
    };
    const { names } = this;
    const feed = kind === 'orders' ? new UserFeed(names, probe) : new BalanceFeed(names, probe);
    for (const [i, one] of this.recent.entries()) {
      if (i > 0 && factsOf(one).hasTerms) {
        // Earlier trades would get the fee that their market has now.
        from = this.recent[i - 1]!.batch.sequence;
        events = [];
      }
      const words = this.isReadable(one) ? this.wordsOf(one) : undefined;
      if (words?.has(user.address[0]!) === true) feed.flushed(one.batch);
      // A worker may have used rows again meanwhile.
      if (words !== undefined && this.isReadable(one)) continue;
      from = one.batch.sequence;
      events = [];
    }
    return { from, events };
  }

  private wordsOf(one: Recent): ReadonlySet<number> {
    if (one.words !== undefined) return one.words;
    const words = new Set<number>();
    const probe = {
      isEmpty: false,
      hasBalances: true,
      find: (from: Int32Array, at: number) => void words.add(from[at]!),
      append: () => undefined,
    };
    for (const feed of [new UserFeed(this.names, probe), new BalanceFeed(this.names, probe)]) {
      feed.flushed(one.batch);
    }
    one.words = words;
    return words;
  }

  private isReadable(one: Recent): boolean {
    const { tables } = this.names;
    const { firstClosed, firstFill } = factsOf(one);
    const hasFills = firstFill >= fillCount(tables) - tables.capacities.trades;
    return hasFills && firstClosed >= closedCount(tables) - closedInMemory(tables);
  }
}

function factsOf(one: Recent): Facts {
  if (one.facts !== undefined) return one.facts;
  const { events, eventsF } = one.batch;
  let [firstFill, firstClosed] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let hasTerms = false;
  for (let at = 0; at < events.length; at += eventWords(events, at)) {
    const kind = events[at];
    const sequence = eventsF[at / 2 + Event.sequence]!;
    if (kind === EventKind.fill) firstFill = Math.min(firstFill, sequence);
    if (kind === EventKind.closed) firstClosed = Math.min(firstClosed, sequence);
    if (kind === EventKind.market && events[at + Event.isNew] === 0) hasTerms = true;
  }
  one.facts = { firstFill, firstClosed, hasTerms };
  return one.facts;
}

function bytesOf({ commands, events }: AppliedBatch): number {
  return commands.byteLength + events.byteLength;
}
