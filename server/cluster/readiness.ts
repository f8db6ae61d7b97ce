/**
 * Reasons why this node is not ready that come from its cluster: how far it is behind the log, the node that leads, the
 * clock. Rules: docs/protocol.md#readiness
 *
 * Thread: the I/O thread. Not here: reasons of the node's own disk and threads (orders/intake/write-gate.ts).
 */
import type { Log } from '../common/logger.ts';
import { PAUSES, type Pause, type PauseReason, stopsOrders } from '../orders/intake/pauses.ts';
import { type ClockSkew, clockSkew } from './clock-skew.ts';
import { HeartbeatTimeout } from './heartbeat-timeout.ts';
import { FRESH_MS, type NodeWatch } from './node-watch.ts';
import type { Leader } from './role-state.ts';

export interface ReadinessOptions {
  readonly watch: Pick<NodeWatch, 'find' | 'nodes'>;
  readonly leads: () => boolean;
  readonly leader: () => Leader | undefined;
  readonly seesLeader: () => boolean;
  readonly isStale: () => boolean;
  /** Reason why the cluster's log delivers nothing; `undefined` while it does. */
  readonly logProblem: () => string | undefined;
  /** Present where the log of the cluster is empty although this node has records. */
  readonly emptyLog: () => string | undefined;
  readonly print: Log;
}

/** A leader that is not reached for longer, beyond FRESH_MS, makes a node unready: a handover takes less. */
const UNREACHED_MS_MAX = 1_000;
/** A clock that was measured so long ago still counts: clocks do not become right while a node is busy. */
const CLOCK_MS_MAX = 5_000;
const SILENT_LOG = 'etcd: the log of the cluster does not answer this node';
const STEP_MS_MAX = 1_000;

export class Readiness {
  private readonly options: ReadinessOptions;
  private readonly unreached = new HeartbeatTimeout(STEP_MS_MAX);
  private skew: ClockSkew = { ms: 0, verdict: 'right', text: '' };
  private readonly reported = new Set<PauseReason>();
  private isStarting = true;

  constructor(options: ReadinessOptions) {
    this.options = options;
    this.unreached.ms = Infinity;
  }

  /** To be called periodically. */
  look(): void {
    const { print, watch } = this.options;
    if (this.options.leads() || this.leaderAnswers()) this.unreached.end();
    else this.unreached.look();
    const clocks = watch.nodes().flatMap(({ clock, silentMs }) => {
      return clock === undefined || silentMs > CLOCK_MS_MAX ? [] : [clock];
    });
    const skew = clockSkew(clocks);
    // A clock that most nodes have found wrong stays so when some of them are gone.
    const isKnown = skew.verdict !== 'unknown' || this.skew.verdict !== 'wrong';
    if (isKnown && skew.verdict === 'unknown' && this.skew.verdict === 'right')
      print('warn', skew.text);
    if (isKnown) this.skew = skew;
    this.report();
  }

  /** The start has waited for the cluster: from now on the log of the process has each reason. */
  started(): void {
    this.isStarting = false;
  }

  /** Milliseconds that the clock of this node is ahead of those of most nodes. */
  get skewMs(): number {
    return this.skew.ms;
  }

  pauses(): Pause[] {
    const { skew } = this;
    const found = [...this.ofLog(), ...this.ofLeader()];
    if (skew.verdict === 'wrong') found.push({ reason: 'clock-skew', detail: skew.text });
    return found;
  }

  private leaderAnswers(): boolean {
    const leader = this.options.leader();
    const row = leader && this.options.watch.find(leader.node);
    return row !== undefined && row.silentMs <= FRESH_MS;
  }

  private ofLog(): Pause[] {
    const { emptyLog, isStale, leads, logProblem } = this.options;
    if (!isStale()) return [];
    const detail = emptyLog();
    if (detail !== undefined) return [{ reason: 'empty-log', detail }];
    if (leads()) return [{ reason: 'etcd', detail: SILENT_LOG }];
    const problem = logProblem();
    if (problem !== undefined) return [{ reason: 'etcd', detail: `${SILENT_LOG}: ${problem}` }];
    return [{ reason: 'catch-up', detail: 'cluster: this node is behind the log of the cluster' }];
  }

  private ofLeader(): Pause[] {
    const { leader, seesLeader, leads, watch } = this.options;
    if (leads()) return [];
    const node = leader()?.node;
    if (this.unreached.ms > UNREACHED_MS_MAX) {
      if (node === undefined || !seesLeader())
        return [{ reason: 'no-leader', detail: 'cluster: no node leads' }];
      return [{ reason: 'unreachable', detail: `cluster: ${node}, which leads, does not answer` }];
    }
    const state = node === undefined ? undefined : watch.find(node)?.state;
    if (state?.leads !== true) return [];
    const codes = state.reasons.filter(stopsOrders);
    if (codes.length === 0) return [];
    const detail = `cluster: ${node}, which leads, is not ready: ${codes.join(', ')}`;
    return [{ reason: 'leader', detail }];
  }

  private report(): void {
    const { print } = this.options;
    if (this.isStarting) return;
    const now = this.pauses().filter(({ reason }) => reason !== 'etcd');
    for (const { detail, reason } of now) {
      if (!this.reported.has(reason)) print('warn', `${detail}; ${PAUSES[reason].begins}`);
      this.reported.add(reason);
    }
    for (const reason of this.reported) {
      if (now.some((one) => one.reason === reason)) continue;
      this.reported.delete(reason);
      print('info', PAUSES[reason].ends);
    }
  }
}
