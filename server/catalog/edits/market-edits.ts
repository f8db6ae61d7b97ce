/**
 * Edits and imports of the catalog by the operator of a running node, one after another. Each is done when the
 * node serves the generation that has it, and its engine has the markets of it.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImportOptions } from '../catalog-command.ts';
import { runThread } from '../threads.ts';
import type { Edit } from './edit.ts';
import type { EditResult, EditSetup } from './edit-thread.ts';
import type { ImportResult, ImportSetup } from './import-thread.ts';

interface MarketEditsOptions extends Omit<EditSetup, 'edit'> {
  readonly imports: Pick<ImportSetup, 'capacities' | 'ownConditions'>;
  readonly served: () => number;
}

const POLL_MS = 10;
/** A generation of many thousand markets is loaded in a few seconds. */
const SERVED_MS_MAX = 30_000;
const NOT_SERVED = 'it is stored, and the node does not serve it';

export class MarketEdits {
  private readonly options: MarketEditsOptions;
  private last: Promise<unknown> = Promise.resolve();

  constructor(options: MarketEditsOptions) {
    this.options = options;
  }

  /** Resolves with the result once it is served, or with a `failure`. */
  make(edit: Edit): Promise<EditResult> {
    return this.inTurn(() => this.run(edit));
  }

  importFile(file: Uint8Array, options: ImportOptions): Promise<ImportResult> {
    return this.inTurn(() => this.runImport(file, options));
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const made = this.last.then(work);
    this.last = made;
    return made;
  }

  async close(): Promise<void> {
    await this.last;
  }

  private async run(edit: Edit): Promise<EditResult> {
    const { dataDir, durability, memory } = this.options;
    const setup = { dataDir, durability, memory };
    let result = { failure: 'the thread of the edit ended early' } as EditResult;
    const thread = runThread('catalog edit', { ...setup, edit }, (message: EditResult) => {
      result = message;
    });
    const error = await thread.ended;
    if (error !== undefined) return { failure: error.message };
    if (!('generation' in result) || result.generation === 0) return result;
    return (await this.isServed(result.generation)) ? result : { failure: NOT_SERVED };
  }

  private async runImport(file: Uint8Array, options: ImportOptions): Promise<ImportResult> {
    const { dataDir, durability, imports } = this.options;
    const setup: ImportSetup = { dataDir, durability, ...imports, file, options };
    const refused = (problem: string): ImportResult => ({
      done: false,
      report: [],
      problems: [problem],
      generation: 0,
    });
    let result = refused('the thread of the import ended early');
    const thread = runThread('catalog import', setup, (message: ImportResult) => {
      result = message;
    });
    const error = await thread.ended;
    if (error !== undefined) return refused(error.message);
    if (await this.isServed(result.generation)) return result;
    return { ...result, problems: [...result.problems, NOT_SERVED] };
  }

  private async isServed(generation: number): Promise<boolean> {
    const end = performance.now() + SERVED_MS_MAX;
    while (this.options.served() < generation) {
      if (performance.now() > end) return false;
      await sleep(POLL_MS);
    }
    return true;
  }
}
