/**
 * Order of events in market time while a recording is played: messages, delayed orders and expiries. At one time
 * messages come first, then expiries, then orders as they were sent. Each is done before time continues, so a bot
 * that steps gets the same fills in every run.
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
  /** Returns the next message; the same one until it has run; undefined at the end. */
  readonly message: () => Promise<Due | undefined>;
  /** Returns the next expiry in unix milliseconds; 0 = none. */
  readonly expiry: () => number;
  readonly expire: () => Promise<void>;
  readonly onError: (error: Error) => void;
}

/** Milliseconds after which a running clock checks for a new earliest expiry. */
const LOOK_MS = 50;

export class Timeline {
  private readonly options: TimelineOptions;
  /** Sorted by time, then by arrival. */
  private readonly delayed: Due[] = [];
  private turn: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private hasEnded = false;

  constructor(options: TimelineOptions) {
    this.options = options;
  }

  get ended(): boolean {
    return this.hasEnded;
  }

  start(): void {
    if (this.options.clock.speed > 0) this.look();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.timer);
    this.options.clock.stop();
    await this.turn;
  }

  /** Runs a function after milliseconds of market time. Time that stands is advanced to then. */
  after<T>(ms: number, run: () => Promise<T>): Promise<T> {
    const { clock } = this.options;
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

  /** Advances market time. Resolves when all that is due by then is done. */
  advance(to: number): Promise<void> {
    this.turn = this.turn.then(() => this.run(to)).catch(this.options.onError);
    return this.turn;
  }

  /** Returns the time of the next message in unix milliseconds; undefined at the end. */
  async nextMessage(): Promise<number | undefined> {
    await this.turn;
    return (await this.options.message())?.at;
  }

  private async run(to: number): Promise<void> {
    const { clock } = this.options;
    for (;;) {
      const due = await this.next();
      if (this.isOver) return;
      if (due === undefined || due.at > to) break;
      clock.set(due.at);
      await due.run();
    }
    clock.set(to);
  }

  private async next(): Promise<Due | undefined> {
    const { expire, expiry, message } = this.options;
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

  private look(): void {
    clearTimeout(this.timer);
    const { clock } = this.options;
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
    this.turn = looked.catch(this.options.onError);
  }
}
