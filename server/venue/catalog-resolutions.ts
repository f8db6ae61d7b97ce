/**
 * Makes the catalog say which markets have resolved. The engine resolves first; where the node ended before the
 * catalog said so, or the catalog could not be written, or an import brought back what says otherwise, a loaded
 * generation lacks it. Then it is written, again and again until it is there.
 *
 * Thread: the I/O thread. Not here: what is lacking, which the thread that loads a generation finds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { VenueMarkets } from './venue-markets.ts';

interface ResolutionsParts {
  readonly venue: Pick<VenueMarkets, 'make'>;
  /** False: another node of the cluster writes what is lacking. */
  readonly leads: () => boolean;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

const AGAIN_MS_FIRST = 250;
const AGAIN_MS_MAX = 60_000;

export class CatalogResolutions {
  private readonly o: ResolutionsParts;
  private readonly waiting = new Set<string>();
  private running: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(parts: ResolutionsParts) {
    this.o = parts;
  }

  /** @param conditions of markets that have resolved and of which the catalog does not say so */
  add(conditions: Iterable<string>): void {
    for (const condition of conditions) this.waiting.add(condition);
    if (this.waiting.size > 0) this.running ??= this.run();
  }

  /** Ends after the edit that is under way; the next start goes on. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { leads, log, now, venue } = this.o;
    const { signal } = this.closing;
    let againMs = AGAIN_MS_FIRST;
    while (this.waiting.size > 0 && !signal.aborted) {
      const conditions = [...this.waiting];
      const at = new Date(now()).toISOString();
      const result = await venue.make({ kind: 'resolved', conditions, at });
      if ('event' in result) {
        for (const condition of conditions) this.waiting.delete(condition);
        log(`the catalog says now that ${conditions.length} markets have resolved`);
        continue;
      }
      const reason = 'failure' in result ? result.failure : result.detail;
      log(`the catalog does not say that ${conditions.length} markets have resolved: ${reason}`);
      await sleep(againMs, undefined, { signal }).catch(() => undefined);
      if (!leads()) this.waiting.clear();
      againMs = Math.min(2 * againMs, AGAIN_MS_MAX);
    }
    this.running = undefined;
  }
}
