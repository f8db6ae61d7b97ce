/**
 * A start under way, and what it has opened: every phase gets the options of the node from it, and waits that
 * have an end.
 *
 * Thread: the I/O thread.
 */
import { withDeadline } from '../common/with-deadline.ts';
import type { NodeOptions } from './running-node.ts';

/** Longest wait for one thing at the end, and for the node's own first commands. */
const WAIT_MS_MAX = 60_000;
/** The same at the start, where a store may have to be read from a slow disk. */
export const OPEN_MS_MAX = 600_000;
/** What is derived may have to be made again from all of the log, or from all fills. */
export const DERIVE_MS_MAX = 6 * 3_600_000;

/**
 * What was started has to be started again: another node of its cluster took the lead from it meanwhile, or has given
 * it what DATA_DIR holds now.
 */
export class StartOver extends Error {
  constructor() {
    super('the start begins again');
  }
}

export class Start {
  options: NodeOptions;
  private readonly closers: (() => void | Promise<void>)[] = [];
  private closing: Promise<void> | undefined;
  isGivenUp = false;

  constructor(options: NodeOptions) {
    this.options = options;
  }

  wait<T>(what: string, promise: Promise<T>, msMax = WAIT_MS_MAX): Promise<T> {
    return withDeadline(promise, { what, msMax, log: (line) => this.options.log('info', line) });
  }

  /** For what changes nothing, and may be left where it is. */
  waitOrStop<T>(what: string, promise: Promise<T>, msMax: number): Promise<T> {
    const { log, signal } = this.options;
    return withDeadline(promise, { what, msMax, log: (line) => log('info', line), signal });
  }

  /** From here on the settings are these. */
  settle(config: NodeOptions['config']): void {
    this.options = { ...this.options, config };
  }

  giveUp(): void {
    this.isGivenUp = true;
  }

  /** To be closed before all that was opened earlier. */
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
