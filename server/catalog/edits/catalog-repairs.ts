/**
 * Writes into the stored catalog what the engine has and the catalog lacks: ends, resolutions, proposals,
 * and the order of outcomes. The engine goes first, so a kill, a failed write or an import may leave a
 * difference. Each repair is tried until it is written.
 *
 * Thread: the I/O thread. Non-goals: finding differences, which the thread that loads a generation does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReachedEnd } from '../market-registry.ts';
import type { EditResult } from './edit-thread.ts';
import type { MarketEdits } from './market-edits.ts';

interface CatalogRepairsOptions {
  readonly edits: Pick<MarketEdits, 'make'>;
  readonly leads: () => boolean;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

const AGAIN_MS_FIRST = 250;
const AGAIN_MS_MAX = 60_000;

export class CatalogRepairs {
  private readonly options: CatalogRepairsOptions;
  private readonly waiting = new Set<string>();
  private readonly waitingEnds = new Map<string, number>();
  private isMisaligned = false;
  private running: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(parts: CatalogRepairsOptions) {
    this.options = parts;
  }

  /** @param conditions of markets whose resolution or proposal the catalog does not state */
  add(conditions: Iterable<string>): void {
    for (const condition of conditions) this.waiting.add(condition);
    this.begin();
  }

  /** @param ends of markets that the catalog does not state as closed */
  addEnds(ends: Iterable<ReachedEnd>): void {
    for (const { condition, end } of ends) this.waitingEnds.set(condition, end);
    this.begin();
  }

  /** Writes markets as they are registered: the stored catalog names them in another way. */
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
    const { leads, log } = this.options;
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

  /** Resolves with the reason where it could not be written, as do the methods below. */
  private writeNext(): Promise<string | undefined> {
    if (this.isMisaligned) return this.writeOrder();
    return this.waiting.size > 0 ? this.writeResolutions() : this.writeEnds();
  }

  private async writeOrder(): Promise<string | undefined> {
    const { log, edits } = this.options;
    const result = await edits.make({ kind: 'aligned' });
    if (!('event' in result))
      return `the catalog is not in the order of the engine: ${why(result)}`;
    this.isMisaligned = false;
    if (result.generation !== 0) log('the catalog names outcomes in the order of the engine now');
    return undefined;
  }

  private async writeResolutions(): Promise<string | undefined> {
    const { log, now, edits } = this.options;
    const conditions = [...this.waiting];
    const at = new Date(now()).toISOString();
    const result = await edits.make({ kind: 'resolutions', conditions, at });
    if (!('event' in result)) {
      return `the catalog does not say how ${conditions.length} markets resolve: ${why(result)}`;
    }
    for (const condition of conditions) this.waiting.delete(condition);
    if (result.generation !== 0)
      log(`the catalog says now how ${conditions.length} markets resolve`);
    return undefined;
  }

  private async writeEnds(): Promise<string | undefined> {
    const { log, now, edits } = this.options;
    const ends = new Map(this.waitingEnds);
    const at = new Date(now()).toISOString();
    const result = await edits.make({ kind: 'ended', ends, at });
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
