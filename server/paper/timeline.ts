/**
 * What happens in market time while a recording is played, one after another: its messages, orders that the network
 * delays, and expiries. At the same time messages come first, then expiries, then orders in the order in which they were sent.
 * Each is done before the time goes on, so a bot that steps gets the same fills in every run.
 *
 * Thread: the I/O thread.
 */
import type { PlayClock } from './play-clock.ts';

export interface Due {
  /** Unix milliseconds of market time. */
  readonly at: number;
  run(): Promise<void>;
}

export interface TimelineOptions {
  readonly clock: PlayClock;
  /** What the recording has next; undefined = it has ended. The same until it was run. */
  readonly message: () => Promise<Due | undefined>;
  /** When the next order expires, in unix milliseconds; 0 = none does. */
  readonly expiry: () => number;
  /** Lets go what has expired. */
  readonly expire: () => Promise<void>;
  /** The recording cannot be read any further. */
  readonly onError: (error: Error) => void;
}

/** How often a clock that runs looks whether an order that came meanwhile expires earlier. */
const LOOK_MS = 50;

export class Timeline {
  private readonly o: TimelineOptions;
  /** Sorted by time, then by arrival. */
  private readonly delayed: Due[] = [];
  private turn: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private hasEnded = false;

  constructor(options: TimelineOptions) {
    this.o = options;
  }

  /** All messages of the recording have been played. */
  get ended(): boolean {
    return this.hasEnded;
  }

  /** Lets a clock that has a speed run. */
  start(): void {
    if (this.o.clock.speed > 0) this.look();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.timer);
    this.o.clock.stop();
    await this.turn;
  }

  /** Runs it after so many milliseconds of market time. Time that stands goes on to there by itself. */
  after<T>(ms: number, run: () => Promise<T>): Promise<T> {
    const { clock } = this.o;
    return new Promise((resolve, reject) => {
      const at = clock.now() + ms;
      const due: Due = {
        at,
        run: () => run().then(resolve, reject),
      };
      const later = this.delayed.findIndex((other) => other.at > at);
      this.delayed.splice(later < 0 ? this.delayed.length : later, 0, due);
      if (clock.speed === 0) void this.advance(at);
      else this.look();
    });
  }

  /** Market time goes on to there; resolves when all that is due by then is done. */
  advance(to: number): Promise<void> {
    this.turn = this.turn.then(() => this.run(to)).catch(this.o.onError);
    return this.turn;
  }

  /** When the next message is due, in unix milliseconds; undefined = there is none. */
  async nextMessage(): Promise<number | undefined> {
    await this.turn;
    return (await this.o.message())?.at;
  }

  private async run(to: number): Promise<void> {
    const { clock } = this.o;
    for (;;) {
      const due = await this.next();
      if (this.isOver) return;
      if (due === undefined || due.at > to) break;
      clock.set(due.at);
      await due.run();
    }
    clock.set(to);
  }

  /** What is next of all, whenever that is. */
  private async next(): Promise<Due | undefined> {
    const { expire, expiry, message } = this.o;
    let next = await message();
    this.hasEnded = next === undefined;
    const expires = expiry();
    if (expires !== 0 && (next === undefined || expires < next.at))
      next = { at: expires, run: expire };
    const [order] = this.delayed;
    if (order === undefined || (next !== undefined && next.at <= order.at)) return next;
    return {
      at: order.at,
      run: () => {
        this.delayed.splice(this.delayed.indexOf(order), 1);
        return order.run();
      },
    };
  }

  /** Does what is due by now, and comes again for the next. */
  private look(): void {
    clearTimeout(this.timer);
    const { clock } = this.o;
    const looked = this.turn.then(async () => {
      for (let due = await this.next(); !this.isOver; due = await this.next()) {
        clock.release(due?.at ?? Number.POSITIVE_INFINITY);
        const wait = due === undefined ? LOOK_MS : clock.until(due.at);
        if (wait > 0) {
          clearTimeout(this.timer);
          this.timer = setTimeout(() => this.look(), Math.min(LOOK_MS, Math.ceil(wait)));
          return;
        }
        clock.set(due!.at);
        await due!.run();
      }
    });
    this.turn = looked.catch(this.o.onError);
  }
}
