/**
 * All connections of the streams: their maximum number, shared state, and closing of silent or slow ones.
 *
 * Thread: the I/O thread.
 */
import { errorBody } from '../common/error-bodies.ts';
import { CloseCounts, type CloseName } from './closes.ts';
import type { Connection } from './connection.ts';
import { Pacer, Turns } from './pacer.ts';
import { Budgets, type StreamLimits } from './stream-bounds.ts';

const MS = 1_000;
/** Milliseconds between searches for silent and slow connections, and for those of revoked keys. */
const CHECK_MS = 1_000;
/**
 * Milliseconds between searches for slow connections after a batch. Reading the buffered bytes of each socket costs a
 * tenth of a microsecond.
 */
const SLOW_MS = 50;

const TOO_MANY = errorBody('TOO_MANY_CONNECTIONS');

export interface StreamFacts {
  readonly clients: number;
  readonly unreadBytes: number;
  readonly closes: ReadonlyMap<string, number>;
}

export class Connections {
  private readonly limits: StreamLimits;
  private readonly elapsed: () => number;
  readonly closes = new CloseCounts();
  readonly budgets: Budgets;
  readonly pacer: Pacer;
  private readonly open = new Set<Connection>();
  private slowCheckedAt = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(limits: StreamLimits, elapsed: () => number) {
    this.limits = limits;
    this.elapsed = elapsed;
    const turns = new Turns();
    this.budgets = new Budgets(limits, turns);
    this.pacer = new Pacer(elapsed, turns);
    this.timer = setInterval(() => this.check(), CHECK_MS);
    this.timer.unref();
  }

  /** Body of the reject if there are too many connections. */
  refusal(): string | undefined {
    return this.open.size >= this.limits.connectionsMax ? TOO_MANY : undefined;
  }

  /** Reads the buffered bytes of each socket; too slow for every batch. */
  facts(): StreamFacts {
    let unreadBytes = 0;
    for (const connection of this.open) unreadBytes += connection.waiting();
    return { clients: this.open.size, unreadBytes, closes: this.closes.all() };
  }

  add(connection: Connection): void {
    this.open.add(connection);
  }

  delete(connection: Connection): void {
    this.open.delete(connection);
  }

  closeSlow(): void {
    const now = this.elapsed();
    if (now - this.slowCheckedAt < SLOW_MS) return;
    this.slowCheckedAt = now;
    for (const connection of this.open) connection.closeIfSlow();
  }

  endAll(why: CloseName, reason: string): void {
    for (const connection of [...this.open]) connection.end(why, reason);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const { idleSeconds } = this.limits;
    const now = this.elapsed();
    const since = now - idleSeconds * MS;
    this.budgets.sweep(now);
    for (const connection of [...this.open]) {
      if (connection.closeIfSlow()) continue;
      const reason = connection.reasonToGo(now);
      if (reason !== undefined) connection.end(reason.why, reason.text);
      else if (connection.lastMessageAt <= since) {
        connection.end('silent', `nothing was heard for ${idleSeconds} seconds`);
      }
    }
  }
}
