/**
 * Batches that have a ticket and are not journaled yet, and the commands in them. There is room in memory for
 * what so many of them do, and for no more.
 *
 * Thread: the I/O thread.
 */
import {
  BATCH_COMMANDS_MAX,
  UNJOURNALED_BATCHES_MAX,
  UNJOURNALED_COMMANDS_MAX,
} from '../../engine/tables/capacities.ts';
import { commandsMax, type Request } from './slot-requests.ts';

/** A batch on its way. */
export interface Ticket {
  readonly number: number;
  readonly slot: number;
  /** For which it counts. */
  readonly commands: number;
  readonly requests: readonly Request[];
  /** When each of them came, by the meters' clock. */
  readonly times: readonly number[];
  finished: boolean;
  /** Of its events, where its slot had no room for them. */
  large: Int32Array | undefined;
}

export class Unjournaled {
  batches = 0;
  private commands = 0;

  /** Whether there is room for one more batch, whatever it holds. */
  get hasRoom(): boolean {
    return (
      this.batches < UNJOURNALED_BATCHES_MAX &&
      this.commands + BATCH_COMMANDS_MAX <= UNJOURNALED_COMMANDS_MAX
    );
  }

  /** A batch has its ticket; returns how many commands it counts for. */
  enter(requests: readonly Request[]): number {
    let held = 0;
    for (const request of requests) held += commandsMax(request);
    const commands = Math.min(held, BATCH_COMMANDS_MAX);
    this.batches += 1;
    this.commands += commands;
    return commands;
  }

  /** It is journaled, or never will be. */
  leave(commands: number): void {
    this.batches -= 1;
    this.commands -= commands;
  }
}
