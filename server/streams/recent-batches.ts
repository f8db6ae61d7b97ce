/**
 * Newest flushed batches, for users whose messages are not stored (replay-buffer.ts), after a start or from another
 * node. Missed messages are rebuilt from them as they were first published, so every node has the same messages with
 * the same cursors.
 *
 * Only batches whose closed orders and fills are in memory can be read. The wallets of a batch are looked up once,
 * for the first user. Batches are copied into one buffer that is used again from its start: some thousand objects that
 * live for a second each would be moved, and later collected, while orders wait.
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

/** Columns of a row. Positions count all words that were ever written, those that were left out included. */
const Row = {
  sequence: 0,
  endFill: 1,
  time: 2,
  begin: 3,
  eventWords: 4,
  commandWords: 5,
  words: 6,
};
const RING_WORDS = RECENT_BYTES_MAX / 4;

export class RecentBatches {
  private readonly names: Names;
  private readonly i32 = new Int32Array(RING_WORDS);
  private readonly f64 = new Float64Array(this.i32.buffer);
  /** Rows of Row, by the number of the batch. */
  private readonly rows = new Float64Array(RECENT_BATCHES_MAX * Row.words);
  /** Numbers of the oldest batch and of the next one. */
  private oldest = 0;
  private next = 0;
  /** Position of the next batch. */
  private end = 0;
  /** Facts by the number of the batch, found for the first user. */
  private readonly facts: (Facts | undefined)[] = emptyPlaces();
  /** First words of the addresses with events in the batch, found for the first user. */
  private readonly words: (ReadonlySet<number> | undefined)[] = emptyPlaces();
  /** Every batch behind this one is stored. */
  from: number;

  constructor(names: Names, batch: number) {
    this.names = names;
    this.from = batch;
  }

  add({ commands, endFill, events, isWhole, sequence, time }: AppliedBatch): void {
    const words = events.length + commands.length;
    if (!isWhole || words > RING_WORDS) {
      this.clear(sequence);
      return;
    }
    let begin = this.end;
    // A batch lies in one piece.
    if ((begin % RING_WORDS) + words > RING_WORDS) begin += RING_WORDS - (begin % RING_WORDS);
    while (this.oldest < this.next && !this.isClearOf(begin + words)) {
      const at = placeOf(this.oldest);
      this.from = this.rows[at * Row.words + Row.sequence]!;
      this.facts[at] = undefined;
      this.words[at] = undefined;
      this.oldest += 1;
    }
    this.i32.set(events, begin % RING_WORDS);
    this.i32.set(commands, (begin % RING_WORDS) + events.length);
    const row = [sequence, endFill, time, begin, events.length, commands.length];
    this.rows.set(row, placeOf(this.next) * Row.words);
    this.end = begin + words;
    this.next += 1;
  }

  /** Oldest first. Each is valid until the next add(). */
  all(): readonly AppliedBatch[] {
    return Array.from({ length: this.next - this.oldest }, (_, i) => this.batch(this.oldest + i));
  }

  /** Discards all batches: events are incomplete, so no earlier cursor can be resumed from. */
  clear(batch: number): void {
    this.oldest = this.next;
    this.facts.fill(undefined);
    this.words.fill(undefined);
    this.from = batch;
  }

  /** True where the oldest batch, and its row, are not written over by a batch that ends at `end`. */
  private isClearOf(end: number): boolean {
    const begin = this.rows[placeOf(this.oldest) * Row.words + Row.begin]!;
    return begin + RING_WORDS >= end && this.next - this.oldest < RECENT_BATCHES_MAX;
  }

  private batch(number: number): AppliedBatch {
    const { rows } = this;
    const at = placeOf(number) * Row.words;
    const eventsAt = rows[at + Row.begin]! % RING_WORDS;
    const eventWords = rows[at + Row.eventWords]!;
    const commandsAt = eventsAt + eventWords;
    const commandsEnd = commandsAt + rows[at + Row.commandWords]!;
    return {
      sequence: rows[at + Row.sequence]!,
      endFill: rows[at + Row.endFill]!,
      time: rows[at + Row.time]!,
      events: this.i32.subarray(eventsAt, commandsAt),
      eventsF: this.f64.subarray(eventsAt / 2, commandsAt / 2),
      commands: this.i32.subarray(commandsAt, commandsEnd),
      commandsF: this.f64.subarray(commandsAt / 2, commandsEnd / 2),
      isWhole: true,
    };
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
    for (let number = this.oldest; number < this.next; number += 1) {
      const batch = this.batch(number);
      if (number > this.oldest && this.factsOf(number, batch).hasTerms) {
        // Earlier trades would get the fee that their market has now.
        from = this.rows[placeOf(number - 1) * Row.words + Row.sequence]!;
        events = [];
      }
      const words = this.isReadable(number, batch) ? this.wordsOf(number, batch) : undefined;
      if (words?.has(user.address[0]!) === true) feed.flushed(batch);
      // A worker may have used rows again meanwhile.
      if (words !== undefined && this.isReadable(number, batch)) continue;
      from = batch.sequence;
      events = [];
    }
    return { from, events };
  }

  private wordsOf(number: number, batch: AppliedBatch): ReadonlySet<number> {
    const known = this.words[placeOf(number)];
    if (known !== undefined) return known;
    const words = new Set<number>();
    const probe = {
      isEmpty: false,
      hasBalances: true,
      find: (from: Int32Array, at: number) => void words.add(from[at]!),
      append: () => undefined,
    };
    for (const feed of [new UserFeed(this.names, probe), new BalanceFeed(this.names, probe)]) {
      feed.flushed(batch);
    }
    this.words[placeOf(number)] = words;
    return words;
  }

  private isReadable(number: number, batch: AppliedBatch): boolean {
    const { tables } = this.names;
    const { firstClosed, firstFill } = this.factsOf(number, batch);
    const hasFills = firstFill >= fillCount(tables) - tables.capacities.trades;
    return hasFills && firstClosed >= closedCount(tables) - closedInMemory(tables);
  }

  private factsOf(number: number, batch: AppliedBatch): Facts {
    const facts = this.facts[placeOf(number)] ?? factsOf(batch);
    this.facts[placeOf(number)] = facts;
    return facts;
  }
}

function placeOf(number: number): number {
  return number % RECENT_BATCHES_MAX;
}

function emptyPlaces(): undefined[] {
  return new Array<undefined>(RECENT_BATCHES_MAX).fill(undefined);
}

function factsOf({ events, eventsF }: AppliedBatch): Facts {
  let [firstFill, firstClosed] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let hasTerms = false;
  for (let at = 0; at < events.length; at += eventWords(events, at)) {
    const kind = events[at];
    const sequence = eventsF[at / 2 + Event.sequence]!;
    if (kind === EventKind.fill) firstFill = Math.min(firstFill, sequence);
    if (kind === EventKind.closed) firstClosed = Math.min(firstClosed, sequence);
    if (kind === EventKind.market && events[at + Event.isNew] === 0) hasTerms = true;
  }
  return { firstFill, firstClosed, hasTerms };
}
