/**
 * Shares the time of the I/O thread among the stream connections that have work: messages to read,
 * names to look up, books to send. A slice of work is bounded by a number of pieces and by time.
 * Callers have turns one after another, however many connections each has. Between two slices the
 * thread serves all other work for a while.
 *
 * Thread: the I/O thread. Non-goals: what the work is, and how much of it may be requested.
 */

/** One connection as the pacer sees it. */
export interface Paced {
  /** Identifies the caller; connections of one caller share its turns. */
  readonly caller: object;
  /** Does one piece; false when there is nothing to do at present. */
  step(): boolean;
}

/** Most pieces take some 10 us. */
const PIECES_PER_SLICE = 32;
const SLICE_MS = 0.5;
/** So that the requests of stream clients use at most a third of the thread. */
const REST_MS = 1;

/** Numbers the turns of the event loop in which it is called. */
export class Turns {
  private turn = 0;
  private isKnown = false;
  private readonly end = (): void => {
    this.turn += 1;
    this.isKnown = false;
  };

  /** The number of the current turn. */
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
  /** Connections with work, by caller, in the order of arrival. */
  private readonly ready = new Map<object, Set<Paced>>();
  private isRunning = false;
  private isResting = false;
  /** The turn of the current slice, which ends with that turn. */
  private turn = -1;
  private pieces = 0;
  private spentMs = 0;

  /** @param clock milliseconds, with fractions */
  constructor(clock: () => number, turns: Turns) {
    this.clock = clock;
    this.turns = turns;
  }

  /** Works for a connection: now if there is time, else in its turn. */
  go(paced: Paced): void {
    const others = this.ready.get(paced.caller);
    if (others === undefined) this.ready.set(paced.caller, new Set([paced]));
    else others.add(paced);
    if (!this.isRunning && !this.isResting) this.run();
  }

  /** Removes a connection that has ended. */
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

  /** Does one piece for the next connection, and puts it behind the others. */
  private stepNext(): void {
    const [caller, connections] = this.ready.entries().next().value!;
    const [paced] = connections as Iterable<Paced> as [Paced];
    this.ready.delete(caller);
    connections.delete(paced);
    const hasMore = paced.step();
    // The step may have added other connections of the caller.
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
