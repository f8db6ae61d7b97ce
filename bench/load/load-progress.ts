/**
 * Output of a load run while it goes on, and at its end.
 * Thread: the tool's only one.
 * Non-goals: deciding anything.
 */
import type { Ledger } from './load-ledger.ts';

const PERIOD_TERMINAL_MS = 200;
const PERIOD_FILE_MS = 2000;

export class Progress {
  readonly #ledger: Ledger;
  readonly #orders: number;
  readonly #write: (text: string) => void;
  readonly #latenciesMs: number[] = [];
  #sendingMs = 0;
  #sendingSince: number | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;
  #open = false;

  constructor(ledger: Ledger, orders: number, write: (text: string) => void) {
    this.#ledger = ledger;
    this.#orders = orders;
    this.#write = write;
  }

  /** Rates count the time between these two only, not the signing. */
  startSending(): void {
    this.#sendingSince = performance.now();
  }

  stopSending(): void {
    if (this.#sendingSince !== undefined) {
      this.#sendingMs += performance.now() - this.#sendingSince;
    }
    this.#sendingSince = undefined;
  }

  signing(signed: number): void {
    if (this.#due()) this.#show(`signing: ${signed} of ${this.#orders} orders`);
  }

  answered(latencyMs: number): void {
    this.#latenciesMs.push(latencyMs);
    if (this.#due()) this.#show(this.summary());
  }

  /** Prints a line of its own. */
  say(line: string): void {
    if (this.#open) this.#write('\n');
    this.#open = false;
    this.#write(`${line}\n`);
  }

  summary(): string {
    const { settled, taken, matched, killed } = this.#ledger.counts;
    const refused = settled - taken - killed;
    const pending = this.#sendingSince === undefined ? 0 : performance.now() - this.#sendingSince;
    const seconds = Math.max(0.001, (this.#sendingMs + pending) / 1000);
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    return (
      `${settled} of ${this.#orders} orders, ${taken} accepted, ${matched} filled at once, ` +
      `${killed} killed, ${refused} refused; ${Math.round(sorted.length / seconds)} requests/s, ` +
      `${Math.round(settled / seconds)} orders/s, ` +
      `p50 ${percentile(sorted, 50).toFixed(1)} ms, p99 ${percentile(sorted, 99).toFixed(1)} ms`
    );
  }

  #due(): boolean {
    const period = process.stdout.isTTY ? PERIOD_TERMINAL_MS : PERIOD_FILE_MS;
    const now = performance.now();
    if (now - this.#shownAt < period) return false;
    this.#shownAt = now;
    return true;
  }

  #show(line: string): void {
    if (process.stdout.isTTY) {
      this.#write(`\r\x1b[K${line}`);
      this.#open = true;
    } else {
      this.#write(`${line}\n`);
    }
  }
}

/** Nearest rank; 0 for an empty sample. */
function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}
