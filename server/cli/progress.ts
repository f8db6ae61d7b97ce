/** Progress line of long work, on a terminal alone. */
import type { Output } from '../common/terminal.ts';

const PROGRESS_MS = 100;

export class Progress {
  private readonly output: Output;
  private shownAt = 0;
  private isShown = false;

  constructor(output: Output) {
    this.output = output;
  }

  readonly show = (what: string, done: number, total: number): void => {
    this.line(() => `${what}${total > 0 ? ` ${Math.floor((100 * done) / total)} %` : ''}`);
  };

  /** Shows a line. `textOf` is called only when it is shown. */
  line(textOf: () => string): void {
    const now = performance.now();
    if (!this.output.isTerminal || now - this.shownAt < PROGRESS_MS) return;
    this.shownAt = now;
    this.isShown = true;
    this.output.status(textOf());
  }

  clear(): void {
    if (this.isShown) this.output.status('');
    this.isShown = false;
  }
}
