/**
 * Shares the time of the I/O thread among the stream connections that have something to do: messages to
 * read, names to look up, books to send. A slice of it is bounded, by pieces and by time; callers have
 * their turns one after another, whoever has more connections; and between two slices the thread is left
 * to everybody else for a while.
 *
 * Thread: the I/O thread. Not here: what the work is, and how much of it may be asked for.
 */

/** One connection, as it is worked for. */
export interface Paced {
  /** Stands for the caller; connections of one caller share its turns. */
  readonly caller: object;
  /** Does one piece; false when there is nothing to do for now. */
  step(): boolean;
}

/** Some 10 us each, most of them. */
const PIECES_PER_SLICE = 32;
const SLICE_MS = 0.5;
/** So that at most a third of the thread goes to what clients of the streams ask for. */
const REST_MS = 1;

/** Counts the turns of the event loop in which somebody asks. */
export class Turns {
  private turn = 0;
  private isKnown = false;
  private readonly end = (): void => {
    this.turn += 1;
    this.isKnown = false;
  };

  /** Of the turn that is under way. */
  current(): number {
    if (!this.isKnown) {
      this.isKnown = true;
      setImmediate(this.end);
    }
    return this.turn;
  }
}

export class Pacer {
  private readonly clock: () => number;
  private readonly turns: Turns;
  /** Connections with something to do, by caller; first come, first served. */
  private readonly ready = new Map<object, Set<Paced>>();
  private isRunning = false;
  private isResting = false;
  /** Of the slice at hand, which ends with its turn. */
  private turn = -1;
  private pieces = 0;
  private spentMs = 0;

  /** @param clock milliseconds, also fractions of them */
  constructor(clock: () => number, turns: Turns) {
    this.clock = clock;
    this.turns = turns;
  }

  /** Works for a connection, now where there is time, else in its turn. */
  go(paced: Paced): void {
    const others = this.ready.get(paced.caller);
    if (others === undefined) this.ready.set(paced.caller, new Set([paced]));
    else others.add(paced);
    if (!this.isRunning && !this.isResting) this.run();
  }

  /** A connection that has ended. */
  forget(paced: Paced): void {
    const others = this.ready.get(paced.caller);
    if (others?.delete(paced) === true && others.size === 0) this.ready.delete(paced.caller);
  }

  private run(): void {
    const turn = this.turns.current();
    if (turn !== this.turn) {
      this.turn = turn;
      this.pieces = 0;
      this.spentMs = 0;
    }
    this.isRunning = true;
    const startedAt = this.clock() - this.spentMs;
    try {
      while (this.ready.size > 0) {
        if (this.pieces === PIECES_PER_SLICE || this.spentMs >= SLICE_MS) {
          this.rest();
          return;
        }
        this.pieces += 1;
        this.stepNext();
        this.spentMs = this.clock() - startedAt;
      }
    } finally {
      this.isRunning = false;
    }
  }

  /** One piece for the connection whose turn it is, which goes behind the others then. */
  private stepNext(): void {
    const [caller, connections] = this.ready.entries().next().value!;
    const [paced] = connections as Iterable<Paced> as [Paced];
    this.ready.delete(caller);
    connections.delete(paced);
    const hasMore = paced.step();
    // The step may have brought work for others of the caller.
    const since = this.ready.get(caller);
    if (since !== undefined) for (const other of since) connections.add(other);
    if (hasMore) connections.add(paced);
    if (connections.size === 0) return;
    this.ready.delete(caller);
    this.ready.set(caller, connections);
  }

  private rest(): void {
    this.isResting = true;
    setTimeout(() => {
      this.isResting = false;
      this.run();
    }, REST_MS);
  }
}
