/** Progress line of a recording: messages, messages a second, size of the file. */
import type { Progress } from './progress.ts';

const RATE_MS = 1_000;
const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const COUNT = new Intl.NumberFormat('en');

export class MessageProgress {
  private readonly progress: Progress;
  private readonly what: string;
  private readonly now: () => number;
  /** Time of the newest rate in milliseconds of `now`; `before` is the number of messages then. */
  private since: number;
  private before = 0;
  private rate: number | undefined;

  constructor(progress: Progress, what: string, now: () => number = () => performance.now()) {
    this.progress = progress;
    this.what = what;
    this.now = now;
    this.since = now();
  }

  show(messages: number, bytes: number): void {
    const ms = this.now() - this.since;
    if (ms >= RATE_MS) {
      this.rate = (1_000 * (messages - this.before)) / ms;
      this.since += ms;
      this.before = messages;
    }
    const { rate } = this;
    this.progress.line(() => {
      const shownRate = rate === undefined ? '' : `, ${COUNT.format(Math.round(rate))} a second`;
      return `${this.what}: ${COUNT.format(messages)} messages${shownRate}, ${sizeText(bytes)}`;
    });
  }
}

/** Size with one decimal, such as 1.2 MB. */
export function sizeText(bytes: number): string {
  let unit = 0;
  let size = bytes;
  for (; size >= 1_000 && unit < UNITS.length - 1; unit++) size /= 1_000;
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}
