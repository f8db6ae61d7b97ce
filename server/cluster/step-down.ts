/**
 * Gives the lead of a node that cannot serve to one that can. Which reasons count: orders/intake/pauses.ts; the table:
 * docs/guides/a-cluster.md#a-leader-that-cannot-serve
 *
 * Thread: the I/O thread.
 */
import type { Log } from '../common/logger.ts';
import { barsLead, codesOf, PAUSES, type Pause } from '../orders/intake/pauses.ts';
import type { Handover } from './heartbeat.ts';
import { FRESH_MS, type WatchedNode } from './node-watch.ts';

export interface StepDownOptions {
  readonly node: string;
  readonly silenceMs: number;
  readonly leads: () => boolean;
  readonly pauses: () => readonly Pause[];
  readonly nodes: () => readonly WatchedNode[];
  readonly handOver: (next: string, asked: Omit<Handover, 'from'>) => Promise<void>;
  readonly print: Log;
}

/** Multiples of CLUSTER_SILENCE_MS between two attempts: a node that was named may not have come to lead. */
const AGAIN = 4;

export class StepDown {
  private readonly options: StepDownOptions;
  private triedAt = -Infinity;

  constructor(options: StepDownOptions) {
    this.options = options;
  }

  /** To be called periodically. */
  look(): void {
    const { handOver, leads, node, nodes, pauses, print, silenceMs } = this.options;
    if (!leads() || performance.now() - this.triedAt < AGAIN * silenceMs) return;
    const reasons = codesOf(pauses()).filter((reason) => PAUSES[reason].handsOver);
    if (reasons.length === 0) return;
    const next = nextLeader(nodes());
    if (next === undefined) return;
    this.triedAt = performance.now();
    print('warn', `this node hands the lead over to ${next}: ${reasons.join(', ')}`);
    handOver(next, { by: node, reasons, isAudited: false }).catch((error: Error) => {
      print('warn', `the lead was not handed over: ${error.message}`);
    });
  }
}

function nextLeader(nodes: readonly WatchedNode[]): string | undefined {
  const able = nodes.filter(
    ({ mayLead, silentMs, state }) =>
      mayLead && silentMs <= FRESH_MS && state?.leads === false && !state.reasons.some(barsLead),
  );
  return able.sort((a, b) => b.state!.applied - a.state!.applied)[0]?.node;
}
