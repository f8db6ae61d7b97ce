/**
 * All connections of the streams: how many there may be, and the end of those that are silent or too
 * slow.
 *
 * Thread: the I/O thread.
 */
import { CloseCode, type Connection, type StreamLimits } from './connection.ts';

const MS = 1_000;
/** How often silent and slow connections, and those of revoked keys, are looked for. */
const LOOK_MS = 1_000;
/** Asking each socket what waits costs a tenth of a microsecond; not after every batch, then. */
const SLOW_MS = 50;

const TOO_MANY = '{"error":"too many stream connections"}';

export class Connections {
  private readonly limits: StreamLimits;
  private readonly elapsed: () => number;
  private readonly open = new Set<Connection>();
  private lookedAt = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(limits: StreamLimits, elapsed: () => number) {
    this.limits = limits;
    this.elapsed = elapsed;
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** Body of a refusal when one more is too many. */
  refusal(): string | undefined {
    return this.open.size >= this.limits.connectionsMax ? TOO_MANY : undefined;
  }

  /** Asks each socket what waits: not for every batch. */
  facts(): { readonly clients: number; readonly bytesHeld: number } {
    let bytesHeld = 0;
    for (const connection of this.open) bytesHeld += connection.waiting();
    return { clients: this.open.size, bytesHeld };
  }

  add(connection: Connection): void {
    this.open.add(connection);
  }

  delete(connection: Connection): void {
    this.open.delete(connection);
  }

  /** After something was published. */
  closeSlow(): void {
    const now = this.elapsed();
    if (now - this.lookedAt < SLOW_MS) return;
    this.lookedAt = now;
    for (const connection of this.open) connection.closeIfSlow();
  }

  endAll(code: number, reason: string): void {
    for (const connection of [...this.open]) connection.end(code, reason);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const { idleSeconds } = this.limits;
    const since = this.elapsed() - idleSeconds * MS;
    for (const connection of [...this.open]) {
      if (connection.closeIfSlow()) continue;
      const reason = connection.reasonToGo();
      if (reason !== undefined) connection.end(CloseCode.policy, reason);
      else if (connection.heardAt <= since) {
        connection.end(CloseCode.goingAway, `nothing was heard for ${idleSeconds} seconds`);
      }
    }
  }
}
