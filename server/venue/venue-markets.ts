/**
 * Edits of the catalog by the operator of a node that runs, one after another. An edit is done when the node serves
 * the generation that has it, and its engine has the markets of it.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startThread } from '../../storage/files/thread.ts';
import type { Edit } from './edit.ts';
import type { EditResult, EditSetup } from './edit-thread.ts';

interface VenueParts extends Pick<EditSetup, 'dataDir' | 'durability' | 'memory'> {
  /** The number of the generation from which answers are made. */
  readonly served: () => number;
}

const POLL_MS = 10;
/** A generation of many thousand markets is loaded in a few seconds. */
const SERVED_MS_MAX = 30_000;

export class VenueMarkets {
  private readonly o: VenueParts;
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: VenueParts) {
    this.o = parts;
  }

  /** Resolves with the result once it is served; what follows from a fault is in `failure`. */
  make(edit: Edit): Promise<EditResult> {
    const made = this.last.then(() => this.run(edit));
    this.last = made;
    return made;
  }

  /** Resolves once no edit is under way. */
  async close(): Promise<void> {
    await this.last;
  }

  private async run(edit: Edit): Promise<EditResult> {
    const { dataDir, durability, memory, served } = this.o;
    const result = await resultOf({ dataDir, durability, memory, edit });
    if (!('generation' in result) || result.generation === 0) return result;
    const end = performance.now() + SERVED_MS_MAX;
    while (served() < result.generation) {
      if (performance.now() > end)
        return { failure: 'it is stored, and the node does not serve it' };
      await sleep(POLL_MS);
    }
    return result;
  }
}

function resultOf(setup: EditSetup): Promise<EditResult> {
  const thread = startThread(new URL('./edit-thread', import.meta.url), {
    workerData: setup,
    name: 'catalog edit',
  });
  return new Promise((resolve) => {
    let result: EditResult = { failure: 'the thread of the edit ended early' };
    thread.on('message', (message: EditResult) => {
      result = message;
    });
    thread.on('error', ({ message }) => {
      result = { failure: message };
    });
    thread.on('exit', () => resolve(result));
  });
}
