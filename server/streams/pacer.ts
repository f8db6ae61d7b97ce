/**
 * Shares the time of the I/O thread among the stream connections with work: messages to read, names to look up, books
 * to send. A slice is bounded by a number of pieces and by time. Callers have slices one after another, however many
 * connections each has. The thread serves other work between two slices.
 *
 * Thread: the I/O thread. Non-goals: content and amount of the work.
 */

export interface Paced {
  /** Identity of the caller. Connections of one caller share its time. */
  readonly caller: object;
  /** Does one piece. Returns false if there is nothing to do at present. */
  step(): boolean;
}

/** Most pieces take some 10 us. */
const PIECES_PER_SLICE = 32;
const SLICE_MS = 0.5;
/** Pause that leaves two thirds of the thread to other work. */
const REST_MS = 1;

/** Counter of the event-loop iterations in which it is called. */
export class Turns {
  private turn = 0;
  private isKnown = false;
  private readonly end = (): void => {
    this.turn += 1;
    this.isKnown = false;
  };

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
  /** Iteration of the current slice, which ends with it. */
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
