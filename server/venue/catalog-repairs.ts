/**
 * Makes the stored catalog say what the engine has: which markets have ended, have resolved or are proposed, and the
 * order of their outcomes. The engine goes first; where the node ended before the catalog said so, or the catalog could not be written, or an
 * import brought back what says otherwise, a loaded generation lacks it. A directory of an earlier release, or an
 * import beside a registration, may name outcomes in another order. Each is written, again and again until it is there.
 *
 * Thread: the I/O thread. Not here: what is lacking, which the thread that loads a generation finds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReachedEnd } from '../catalog/market-registry.ts';
import type { EditResult } from './edit-thread.ts';
import type { VenueMarkets } from './venue-markets.ts';

interface RepairParts {
  readonly venue: Pick<VenueMarkets, 'make'>;
  /** False: another node of the cluster writes what is lacking. */
  readonly leads: () => boolean;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

const AGAIN_MS_FIRST = 250;
const AGAIN_MS_MAX = 60_000;

export class CatalogRepairs {
  private readonly o: RepairParts;
  private readonly waiting = new Set<string>();
  private readonly waitingEnds = new Map<string, number>();
  private isMisaligned = false;
  private running: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(parts: RepairParts) {
    this.o = parts;
  }

  /** @param conditions of markets of whose resolution the catalog does not say what the engine does */
  add(conditions: Iterable<string>): void {
    for (const condition of conditions) this.waiting.add(condition);
    this.begin();
  }

  /** @param ends of markets of which the catalog does not say that they are closed */
  addEnds(ends: Iterable<ReachedEnd>): void {
    for (const { condition, end } of ends) this.waitingEnds.set(condition, end);
    this.begin();
  }

  /** The stored catalog names markets in another way than they are registered. */
  align(): void {
    this.isMisaligned = true;
    this.begin();
  }

  /** Ends after the edit that is under way; the next start goes on. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private begin(): void {
    if (this.isLacking()) this.running ??= this.run();
  }

  private isLacking(): boolean {
    return this.isMisaligned || this.waiting.size + this.waitingEnds.size > 0;
  }

  private async run(): Promise<void> {
    const { leads, log } = this.o;
    const { signal } = this.closing;
    let againMs = AGAIN_MS_FIRST;
    while (this.isLacking() && !signal.aborted) {
      const problem = await this.writeNext();
      if (problem === undefined) continue;
      log(problem);
      await sleep(againMs, undefined, { signal }).catch(() => undefined);
      if (!leads()) {
        this.waiting.clear();
        this.waitingEnds.clear();
        this.isMisaligned = false;
      }
      againMs = Math.min(2 * againMs, AGAIN_MS_MAX);
    }
    this.running = undefined;
  }

  /** Resolves with why it is not written, as do those below. */
  private writeNext(): Promise<string | undefined> {
    if (this.isMisaligned) return this.writeOrder();
    return this.waiting.size > 0 ? this.writeResolutions() : this.writeEnds();
  }

  private async writeOrder(): Promise<string | undefined> {
    const { log, venue } = this.o;
    const result = await venue.make({ kind: 'aligned' });
    if (!('event' in result))
      return `the catalog is not in the order of the engine: ${why(result)}`;
    this.isMisaligned = false;
    if (result.generation !== 0) log('the catalog names outcomes in the order of the engine now');
    return undefined;
  }

  private async writeResolutions(): Promise<string | undefined> {
    const { log, now, venue } = this.o;
    const conditions = [...this.waiting];
    const at = new Date(now()).toISOString();
    const result = await venue.make({ kind: 'resolutions', conditions, at });
    if (!('event' in result)) {
      return `the catalog does not say how ${conditions.length} markets resolve: ${why(result)}`;
    }
    for (const condition of conditions) this.waiting.delete(condition);
    if (result.generation !== 0)
      log(`the catalog says now how ${conditions.length} markets resolve`);
    return undefined;
  }

  private async writeEnds(): Promise<string | undefined> {
    const { log, now, venue } = this.o;
    const ends = new Map(this.waitingEnds);
    const at = new Date(now()).toISOString();
    const result = await venue.make({ kind: 'ended', ends, at });
    if (!('event' in result)) {
      return `the catalog does not say that ${ends.size} markets have ended: ${why(result)}`;
    }
    for (const condition of ends.keys()) this.waitingEnds.delete(condition);
    log(`the catalog says now that ${ends.size} markets have ended`);
    return undefined;
  }
}

function why(result: Exclude<EditResult, { readonly event: string }>): string {
  return 'failure' in result ? result.failure : result.detail;
}
