/**
 * Requests that go through a worker and the engine together, and how many such batches may be under way. Memory
 * has room for the changes of so many batches that are not in the log yet, and for no more.
 *
 * Thread: the I/O thread.
 */
import {
  BATCH_COMMANDS_MAX,
  UNLOGGED_BATCHES_MAX,
  UNLOGGED_COMMANDS_MAX,
} from '../../engine/tables/capacities.ts';
import { commandsMax, type Request } from './slot-requests.ts';

export interface RequestBatch {
  readonly dispatchSequence: number;
  readonly slot: number;
  readonly requests: readonly Request[];
  /** When each of them came, by the meters' clock. */
  readonly times: readonly number[];
  isDone: boolean;
  /** Its events, where its slot has no room for them. */
  largeEvents: Int32Array | undefined;
}

export class UnloggedLimit {
  batches = 0;
  private commands = 0;

  /** Whether there is room for one more batch, whatever it contains. */
  get hasRoom(): boolean {
    return (
      this.batches < UNLOGGED_BATCHES_MAX &&
      this.commands + BATCH_COMMANDS_MAX <= UNLOGGED_COMMANDS_MAX
    );
  }

  /** The batch goes to a worker. */
  add(batch: RequestBatch): void {
    this.batches += 1;
    this.commands += commandsOf(batch);
  }

  /** The batch is in the log, or never will be. */
  remove(batch: RequestBatch): void {
    this.batches -= 1;
    this.commands -= commandsOf(batch);
  }
}

function commandsOf({ requests }: RequestBatch): number {
  let commands = 0;
  for (const request of requests) commands += commandsMax(request);
  return Math.min(commands, BATCH_COMMANDS_MAX);
}
