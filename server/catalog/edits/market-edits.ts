/**
 * Edits of the catalog by the operator of a running node, one after another. An edit is done when the
 * node serves the generation that has it, and its engine has the markets of it.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runThread } from '../threads.ts';
import type { Edit } from './edit.ts';
import type { EditResult, EditSetup } from './edit-thread.ts';

interface MarketEditsOptions extends Omit<EditSetup, 'edit'> {
  readonly served: () => number;
}

const POLL_MS = 10;
/** A generation of many thousand markets is loaded in a few seconds. */
const SERVED_MS_MAX = 30_000;

export class MarketEdits {
  private readonly options: MarketEditsOptions;
  private last: Promise<unknown> = Promise.resolve();

  constructor(options: MarketEditsOptions) {
    this.options = options;
  }

  /** Resolves with the result once it is served, or with a `failure`. */
  make(edit: Edit): Promise<EditResult> {
    const made = this.last.then(() => this.run(edit));
    this.last = made;
    return made;
  }

  async close(): Promise<void> {
    await this.last;
  }

  private async run(edit: Edit): Promise<EditResult> {
    const { served, ...setup } = this.options;
    let result = { failure: 'the thread of the edit ended early' } as EditResult;
    const thread = runThread('catalog edit', { ...setup, edit }, (message: EditResult) => {
      result = message;
    });
    const error = await thread.ended;
    if (error !== undefined) return { failure: error.message };
    if (!('generation' in result) || result.generation === 0) return result;
    const end = performance.now() + SERVED_MS_MAX;
    while (served() < result.generation) {
      if (performance.now() > end) {
        return { failure: 'it is stored, and the node does not serve it' };
      }
      await sleep(POLL_MS);
    }
    return result;
  }
}
