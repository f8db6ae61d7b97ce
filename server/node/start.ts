/**
 * Start in progress: options of the node, waits with a deadline, and the list of services to close.
 *
 * Thread: I/O.
 */
import { withDeadline } from '../common/with-deadline.ts';
import type { NodeOptions } from './running-node.ts';

/** Longest wait for one step of a stop, and for internal commands of a start. */
const WAIT_MS_MAX = 60_000;
/** Longest wait for a store, which may be read from a slow disk. */
export const OPEN_MS_MAX = 600_000;
/** Longest wait for projections, which may be made again from the whole log. */
export const DERIVE_MS_MAX = 6 * 3_600_000;

/** The start has to begin again: another node took the lead, or DATA_DIR now holds a peer copy. */
export class Resync extends Error {
  constructor() {
    super('the start begins again');
  }
}

export class Start {
  options: NodeOptions;
  private readonly closers: (() => void | Promise<void>)[] = [];
  private closing: Promise<void> | undefined;
  needsResync = false;

  constructor(options: NodeOptions) {
    this.options = options;
  }

  wait<T>(what: string, promise: Promise<T>, msMax = WAIT_MS_MAX): Promise<T> {
    return withDeadline(promise, { what, msMax, log: (line) => this.options.log('info', line) });
  }

  /** Waits for a step that changes nothing; the signal ends the wait. */
  waitOrStop<T>(what: string, promise: Promise<T>, msMax: number): Promise<T> {
    const { log, signal } = this.options;
    return withDeadline(promise, { what, msMax, log: (line) => log('info', line), signal });
  }

  settle(config: NodeOptions['config']): void {
    this.options = { ...this.options, config };
  }

  requestResync(): void {
    this.needsResync = true;
  }

  /** Adds a function for close(), which calls the newest first. */
  onClose(close: () => void | Promise<void>): void {
    this.closers.push(close);
  }

  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    for (const closeOne of this.closers.splice(0).reverse()) await closeOne();
  }
}
