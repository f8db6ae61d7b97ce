/**
 * Writes into the stored catalog what the engine has and the catalog lacks: ends, resolutions, proposals,
 * and the order of outcomes. The engine goes first, so a kill, a failed write or an import may leave a
 * difference. Each repair is tried until it is written.
 *
 * Thread: the I/O thread. Non-goals: finding differences, which the thread that loads a generation does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backOffMs } from '../../common/back-off.ts';
import type { ReachedEnd } from '../market-registry.ts';
import type { Edit } from './edit.ts';
import type { EditResult } from './edit-thread.ts';
import type { MarketEdits } from './market-edits.ts';

interface CatalogRepairsOptions {
  readonly edits: Pick<MarketEdits, 'make'>;
  readonly leads: () => boolean;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** One edit, with the lines of the log that say that it is to be made, and that it was. */
interface Repair {
  readonly edit: Edit;
  readonly lack: string;
  readonly done: string;
  readonly forget: () => void;
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

  add(conditions: Iterable<string>): void {
    for (const condition of conditions) this.waiting.add(condition);
    this.begin();
  }

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
    let failures = 0;
    while (this.isLacking() && !signal.aborted) {
      const problem = await this.writeNext();
      if (problem === undefined) continue;
      log(problem);
      failures += 1;
      const againMs = backOffMs(failures, AGAIN_MS_FIRST, AGAIN_MS_MAX);
      await sleep(againMs, undefined, { signal }).catch(() => undefined);
      if (!leads()) {
        this.waiting.clear();
        this.waitingEnds.clear();
        this.isMisaligned = false;
      }
    }
    this.running = undefined;
  }

  /** Resolves with the reason where it could not be written. */
  private writeNext(): Promise<string | undefined> {
    const at = new Date(this.options.now()).toISOString();
    if (this.isMisaligned) {
      return this.write({
        edit: { kind: 'aligned' },
        lack: 'the catalog is not in the order of the engine',
        done: 'the catalog names outcomes in the order of the engine now',
        forget: () => {
          this.isMisaligned = false;
        },
      });
    }
    const conditions = [...this.waiting];
    if (conditions.length > 0) {
      return this.write({
        edit: { kind: 'resolutions', conditions, at },
        lack: `the catalog does not say how ${conditions.length} markets resolve`,
        done: `the catalog says now how ${conditions.length} markets resolve`,
        forget: () => conditions.forEach((condition) => void this.waiting.delete(condition)),
      });
    }
    const ends = new Map(this.waitingEnds);
    return this.write({
      edit: { kind: 'ended', ends, at },
      lack: `the catalog does not say that ${ends.size} markets have ended`,
      done: `the catalog says now that ${ends.size} markets have ended`,
      forget: () =>
        [...ends.keys()].forEach((condition) => void this.waitingEnds.delete(condition)),
    });
  }

  private async write({ done, edit, forget, lack }: Repair): Promise<string | undefined> {
    const result = await this.options.edits.make(edit);
    if (!('event' in result)) return `${lack}: ${why(result)}`;
    forget();
    if (result.generation !== 0 || edit.kind === 'ended') this.options.log(done);
    return undefined;
  }
}

function why(result: Exclude<EditResult, { readonly event: string }>): string {
  return 'failure' in result ? result.failure : result.detail;
}
