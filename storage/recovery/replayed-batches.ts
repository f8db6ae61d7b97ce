/**
 * Newest batches that a recovery has applied, with their engine events: clients of streams resume in them after a
 * crash. As many as a running node has in memory.
 *
 * Thread: recovery-thread.ts.
 */
import type { EventBuffer } from '../../engine/events.ts';
import type { BatchRecord } from '../log/batch-record.ts';

export interface ReplayedBatch {
  readonly sequence: number;
  readonly endFill: number;
  readonly time: number;
  readonly events: Int32Array;
  readonly commands: Int32Array;
}

/** Every batch after `from` is included. */
export interface Replayed {
  readonly from: number;
  readonly batches: readonly ReplayedBatch[];
}

/** Bytes of all batches: some ten thousand orders. */
export const RECENT_BYTES_MAX = 2 ** 22;
export const RECENT_BATCHES_MAX = 4_096;

export class ReplayedBatches implements Replayed {
  from: number;
  readonly batches: ReplayedBatch[] = [];
  private readonly last: number;
  private bytes = 0;

  /** @param from the newest batch before all of them @param last the one with which the recovery ends */
  constructor(from: number, last: number) {
    this.from = from;
    this.last = last;
  }

  add({ endFill, i32, sequence, time }: BatchRecord, events: EventBuffer): void {
    if (sequence <= this.last - RECENT_BATCHES_MAX || events.overflowed) {
      this.batches.length = 0;
      this.bytes = 0;
      this.from = sequence;
      return;
    }
    // The next record reuses the memory of this one.
    const batch = {
      sequence,
      endFill,
      time,
      commands: i32.slice(),
      events: events.i32.slice(0, events.words),
    };
    this.batches.push(batch);
    this.bytes += bytesOf(batch);
    while (this.bytes > RECENT_BYTES_MAX) {
      const oldest = this.batches.shift()!;
      this.bytes -= bytesOf(oldest);
      this.from = oldest.sequence;
    }
  }
}

function bytesOf({ commands, events }: ReplayedBatch): number {
  return commands.byteLength + events.byteLength;
}
