/**
 * Transitions of a node's role in a cluster:
 *
 *   following -> claiming -> leading           no heartbeat for CLUSTER_SILENCE_MS, or a handover to this node
 *   claiming -> following                      another node was faster, or the log does not answer
 *   leading -> handing-over -> following       all that was accepted is committed
 *   any -> over                                another node leads: this one restarts from its files
 *   any -> closed                              the node ends
 *
 * Only the log decides who leads: a claim is an append that one node alone can win, and a node that lost the lead
 * cannot append any more. The heartbeat timeout decides only when a node tries.
 *
 * Pure: `transition` reads no clock and starts nothing. roles.ts makes the events and runs the effects.
 */
import assert from 'node:assert/strict';
import { LogDamage, WrongSequence } from '../../storage/log/log.ts';
import { NO_TAIL, type Tail } from '../../storage/replicated-log/replicated-log.ts';
import { type Heartbeat, smallerTables } from './heartbeat.ts';
import type {
  Observed,
  OutgoingHandover,
  RoleEffect,
  RoleEvent,
  RoleHeartbeat,
  RoleRules,
  RoleState,
} from './role-state.ts';

/** Fractions of CLUSTER_SILENCE_MS. */
export const HEARTBEATS = 5;
export const TICKS = 15;
/** Longest wait of a heartbeat for the answer to the one before. A member of the log that hangs never answers. */
const UNANSWERED = 3;
/** Longest time between two ticks that counts as silence of the leader. */
const TICK_MAX = 2;

export interface Transition {
  readonly state: RoleState;
  readonly effects: readonly RoleEffect[];
}

export function initialState(now: number): RoleState {
  return {
    role: 'following',
    isClosing: false,
    leader: undefined,
    epoch: 0,
    newest: undefined,
    newestBytes: undefined,
    newestAt: now,
    isBadReported: false,
    received: 0,
    wasGivenUp: false,
    offered: undefined,
    silentMs: 0,
    measuredAt: now,
    logProblem: undefined,
    isLogEmpty: false,
    stalls: 0,
    isStalled: false,
    claim: undefined,
    handover: undefined,
    followsHandover: false,
    outgoing: undefined,
    sent: 0,
    unansweredSince: -Infinity,
    confirmedAt: 0,
    fullness: undefined,
    problem: undefined,
  };
}

export function transition(
  rules: RoleRules,
  state: RoleState,
  event: RoleEvent,
  observed: Observed,
): Transition {
  const step = new Step(rules, state, observed);
  step.take(event);
  return { state: step.state, effects: step.effects };
}

export function isUnconfirmed({ confirmedAt }: RoleState, silenceMs: number, now: number): boolean {
  return now - confirmedAt > silenceMs;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type EventOf<T extends RoleEvent['type']> = Extract<RoleEvent, { type: T }>;

/** One transition, on a copy of the state. */
class Step {
  readonly state: Writable<RoleState>;
  readonly effects: RoleEffect[] = [];
  private readonly rules: RoleRules;
  private readonly observed: Observed;

  constructor(rules: RoleRules, state: RoleState, observed: Observed) {
    this.rules = rules;
    this.state = { ...state };
    this.observed = observed;
  }

  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a case for each event.
  take(event: RoleEvent): void {
    const { state } = this;
    switch (event.type) {
      case 'tick':
        this.tick();
        break;
      case 'heartbeat':
        this.onHeartbeat(event.bytes, event.heartbeat);
        break;
      case 'log-problem':
        this.onLogProblem(event.problem);
        break;
      case 'log-empty':
        this.onLogEmpty(event.isEmpty);
        break;
      case 'stalled':
        this.onStall(event.since);
        break;
      case 'caught-up':
        this.onCaughtUp(event);
        break;
      case 'claim-tail':
        this.onClaimTail(event.tail);
        break;
      case 'claim-caught-up':
        this.onClaimCaughtUp();
        break;
      case 'claim-heartbeat':
        this.onClaimHeartbeat(event.bytes, event.heartbeat);
        break;
      case 'claim-applied':
        this.onClaimApplied(event);
        break;
      case 'claim-failed':
        this.endClaim(event.error);
        break;
      case 'heartbeat-due':
        this.onHeartbeatDue();
        break;
      case 'heartbeat-answered':
        if (event.isLast) this.onLastAnswered(event);
        else this.onHeartbeatAnswered(event);
        break;
      case 'room':
        state.fullness = event.problem;
        this.judgeLog();
        break;
      case 'handover':
        this.beginHandover(event.outgoing);
        break;
      case 'drained':
        this.onDrained(event.error);
        break;
      case 'durable':
        this.onDurable(event);
        break;
      case 'lost':
        this.lose(event.why);
        break;
      case 'closing':
        state.isClosing = true;
        break;
      case 'close':
        this.close();
        break;
    }
  }

  // Heartbeats of other nodes, and their absence.

  private tick(): void {
    const { state } = this;
    if (state.role === 'leading') {
      this.judgeLog();
      return;
    }
    if (state.role !== 'following') return;
    const { now } = this.observed;
    const stepMax = this.rules.silenceMs / TICK_MAX;
    state.silentMs += Math.min(stepMax, now - state.measuredAt);
    state.measuredAt = now;
    if (state.silentMs >= this.rules.silenceMs) this.beginClaim();
  }

  private endSilence(): void {
    this.state.silentMs = 0;
    this.state.measuredAt = this.observed.now;
  }

  private onHeartbeat(bytes: Buffer, heartbeat: Heartbeat | undefined): void {
    const { state } = this;
    const { node } = this.rules;
    this.reportUnreadable(heartbeat);
    if (heartbeat === undefined || this.isOvertaken(heartbeat)) return;
    state.newest = heartbeat;
    state.newestBytes = bytes;
    state.newestAt = this.observed.now;
    if (state.role !== 'following' && state.role !== 'claiming') return;
    const isOwn = heartbeat.node === node;
    // The last heartbeat of this node's own handover.
    if (isOwn && heartbeat.next !== undefined) return;
    this.followLeader(heartbeat);
    state.wasGivenUp = heartbeat.leaves;
    if (isOwn && !heartbeat.leaves) return;
    if (!state.isStalled) this.effects.push({ type: 'reaches', sequence: heartbeat.sequence });
    if (heartbeat.leaves) this.onGivenUp(heartbeat);
    else this.endSilence();
    this.compareTables(heartbeat);
  }

  private reportUnreadable(heartbeat: Heartbeat | undefined): void {
    const { state } = this;
    if (heartbeat === undefined && !state.isBadReported) {
      const key = `${this.rules.venue}/leader`;
      this.print('warn', `etcd: ${key} has a value that cannot be read: it counts for nothing`);
    }
    state.isBadReported = heartbeat === undefined;
  }

  /** A heartbeat that was read may overtake some that are watched. */
  private isOvertaken({ count, epoch }: Heartbeat): boolean {
    const { epoch: newestEpoch, count: newest = 0 } = this.state.newest ?? {};
    return epoch < this.state.epoch || (epoch === newestEpoch && count < newest);
  }

  private followLeader({ advertise, afterLeave, epoch, node, peers }: Heartbeat): void {
    const { state } = this;
    const isSame = epoch === state.leader?.epoch;
    state.epoch = epoch;
    state.received = isSame || state.received > 1 ? state.received + 1 : 1;
    if (isSame) return;
    // The last heartbeat of the leader before was not received here.
    if (afterLeave && !state.wasGivenUp) this.expectNext(undefined, undefined);
    state.leader = { node, advertise, peers, epoch };
    this.effects.push({ type: 'leader-changed' });
  }

  /** Requests that were sent to the leader that gives up are still answered: its connection stays. */
  private onGivenUp({ next, nextPeers, tail }: Heartbeat): void {
    const { state } = this;
    state.leader = undefined;
    this.expectNext(next, nextPeers);
    if (next !== undefined && next !== this.rules.node) {
      this.endSilence();
      return;
    }
    state.offered = tail;
    state.silentMs = Infinity;
    this.tick();
  }

  private compareTables({ capacities, node }: Heartbeat): void {
    if (this.state.received < 2) return;
    const smaller = smallerTables(this.rules.capacities, capacities);
    if (smaller === undefined) return;
    const error = `the tables of this node are smaller than those of its leader, ${node}: ${smaller}`;
    this.effects.push({ type: 'fatal', error: new Error(error) });
  }

  /** A connection takes as long as a claim, so it begins before that. */
  private expectNext(next: string | undefined, peers: string | undefined): void {
    const isOther = next !== undefined && peers !== undefined && next !== this.rules.node;
    const leader = isOther ? { node: next, peers, epoch: this.state.epoch + 1 } : undefined;
    this.effects.push({ type: 'next-leader', next: leader });
  }

  // The shared log, as far as it delivers.

  /** A log that does not answer delivers no heartbeats: the leader may be well. */
  private onLogProblem(problem: string | undefined): void {
    this.endSilence();
    this.state.logProblem = problem;
    if (problem !== undefined) this.unknownSinceHeartbeat();
  }

  /** An empty log has no leader, and announcements of an earlier one count for nothing. */
  private onLogEmpty(isEmpty: boolean): void {
    this.endSilence();
    this.state.isLogEmpty = isEmpty;
    if (!isEmpty) return;
    this.unknownSinceHeartbeat();
    this.state.leader = undefined;
    this.effects.push({ type: 'leader-changed' });
  }

  /** A log that stops to answer is noticed seconds later. */
  private unknownSinceHeartbeat(): void {
    const since = this.state.newestAt;
    this.effects.push({ type: 'reaches', sequence: undefined, since });
  }

  /**
   * After a stall the tables may be as old as the stall, and so may heartbeats that came meanwhile. The node is current
   * once it has applied the tail that was read afterwards.
   */
  private onStall(since: number): void {
    const { state } = this;
    const { isClosing, role, stalls } = state;
    if (isClosing || (role !== 'following' && role !== 'claiming')) return;
    state.stalls = stalls + 1;
    state.isStalled = true;
    this.effects.push(
      { type: 'reaches', sequence: undefined, since },
      { type: 'catch-up', stalls: state.stalls },
    );
  }

  /** A tail that was read before the newest stall says nothing about it. */
  private onCaughtUp({ sequence, stalls }: EventOf<'caught-up'>): void {
    const { state } = this;
    if (!state.isStalled || stalls !== state.stalls) return;
    state.isStalled = false;
    this.effects.push({ type: 'reaches', sequence });
  }

  // The claim.

  private beginClaim(): void {
    const { state } = this;
    const { isEligible, received } = this.observed;
    if (state.isClosing || state.logProblem !== undefined || state.isLogEmpty) return;
    if (!this.rules.mayLead || !isEligible) return;
    const { offered } = state;
    const isOffered = offered !== undefined && offered.sequence >= received;
    state.offered = undefined;
    state.role = 'claiming';
    // The tail that is read from now on has all that this node has received; not what is received meanwhile.
    state.claim = { phase: 'tail', own: received, isOffered };
    if (isOffered) this.onClaimTail(offered);
    else this.effects.push({ type: 'claim-read-tail' });
  }

  private onClaimTail(tail: Tail): void {
    const { claim, epoch } = this.state;
    if (claim?.phase !== 'tail') return;
    if (!this.isClaiming()) {
      this.endClaim();
      return;
    }
    const other = otherLog(tail, claim.own);
    // A newer epoch has just begun: its heartbeats come.
    const isOvertaken = tail.epoch > epoch;
    if (isOvertaken) this.state.epoch = tail.epoch;
    if (other !== undefined || isOvertaken) {
      this.endClaim(other);
      return;
    }
    const expected = Math.max(tail.sequence, claim.own);
    this.state.claim = { phase: 'catch-up', tail, expected, isOffered: claim.isOffered };
    this.effects.push({ type: 'claim-await-applied', sequence: expected });
  }

  private onClaimCaughtUp(): void {
    const { claim } = this.state;
    if (claim?.phase !== 'catch-up') return;
    this.state.claim = { ...claim, phase: 'heartbeat' };
    // The leader is known to have ended where it offered its tail.
    if (claim.isOffered) this.writeClaim(claim.tail, claim.expected, undefined);
    else this.effects.push({ type: 'claim-read-heartbeat' });
  }

  /**
   * The newest heartbeat in the log. A newer one than this node has received shows that its leader runs. One that the
   * log accepted late may be older.
   */
  private onClaimHeartbeat(bytes: Buffer | undefined, heartbeat: Heartbeat | undefined): void {
    const { claim, newestBytes } = this.state;
    if (claim?.phase !== 'heartbeat') return;
    if (bytes !== undefined && newestBytes?.equals(bytes) !== true) {
      // No leader puts a value there that cannot be read.
      this.reportUnreadable(heartbeat);
      if (heartbeat !== undefined && !this.isOvertaken(heartbeat)) {
        this.onHeartbeat(bytes, heartbeat);
        this.endClaim();
        return;
      }
    }
    this.writeClaim(claim.tail, claim.expected, bytes);
  }

  private writeClaim(tail: Tail, expected: number, seen: Buffer | undefined): void {
    const { state } = this;
    const { applied, now, received } = this.observed;
    const { newest, silentMs, wasGivenUp } = state;
    // A node that is behind leaves the lead to another one, or tries again. New records mean that somebody writes.
    const isLevel = applied === expected && received === expected;
    if (!this.isClaiming() || silentMs < this.rules.silenceMs || !isLevel) {
      this.endClaim();
      return;
    }
    state.handover = newest?.leaves === true ? newest.handover : undefined;
    state.followsHandover = wasGivenUp;
    state.confirmedAt = now;
    state.claim = { phase: 'write' };
    const { handover } = state;
    // A heartbeat after `seen` refuses the claim, and shows its leader as current.
    this.effects.push({
      type: 'claim-write',
      tail,
      seen,
      handover,
      heartbeat: this.nextHeartbeat(),
    });
  }

  private onClaimApplied({ epoch, sequence, stored }: EventOf<'claim-applied'>): void {
    const { state } = this;
    state.claim = undefined;
    // A record of another writer may have been received, and not be in the tables yet.
    const isLast = stored === sequence && this.observed.received === sequence;
    if (isLast && this.isClaiming()) {
      this.lead(epoch, sequence);
      return;
    }
    this.effects.push({ type: 'end-writer', why: 'this node does not lead after all' });
    this.lose(new WrongSequence(sequence, stored));
    this.endClaim();
  }

  private isClaiming(): boolean {
    return this.state.role === 'claiming' && !this.state.isClosing;
  }

  private endClaim(error?: Error): void {
    const { state } = this;
    state.claim = undefined;
    if (state.role === 'claiming') state.role = 'following';
    this.endSilence();
    if (error instanceof LogDamage) this.effects.push({ type: 'fatal', error });
    // Another node that was faster is as good.
    else if (error !== undefined && !(error instanceof WrongSequence)) {
      this.print('warn', `not leading: ${error.message}`);
    }
  }

  // The lead.

  private lead(epoch: number, sequence: number): void {
    const { state } = this;
    const { advertise, node, peers } = this.rules;
    state.role = 'leading';
    state.epoch = epoch;
    state.leader = { node, advertise, peers, epoch };
    state.isStalled = false;
    state.unansweredSince = -Infinity;
    this.effects.push({ type: 'lead', isFirst: state.received < 2, epoch });
    this.print('info', `this node leads, epoch ${epoch} from batch ${sequence}`);
    this.onHeartbeatDue();
    this.effects.push({ type: 'serve', handover: state.handover });
  }

  private nextHeartbeat(): RoleHeartbeat {
    const { state } = this;
    state.sent += 1;
    return { count: state.sent, afterLeave: state.followsHandover, leaves: false };
  }

  private giveUp(): void {
    const heartbeat = { ...this.nextHeartbeat(), leaves: true, ...this.state.outgoing };
    this.effects.push({ type: 'send-heartbeat', heartbeat, sentAt: this.observed.now });
  }

  private onHeartbeatDue(): void {
    const { state } = this;
    const { now } = this.observed;
    if (state.role !== 'leading') return;
    if (now - state.unansweredSince < this.rules.silenceMs / UNANSWERED) return;
    state.unansweredSince = now;
    this.effects.push({ type: 'send-heartbeat', heartbeat: this.nextHeartbeat(), sentAt: now });
  }

  private onHeartbeatAnswered({ error, sentAt }: EventOf<'heartbeat-answered'>): void {
    const { state } = this;
    if (state.unansweredSince === sentAt) state.unansweredSince = -Infinity;
    if (error === undefined) state.confirmedAt = Math.max(state.confirmedAt, sentAt);
    // A node that hands over learns of another leader from its last heartbeat.
    else if (error instanceof WrongSequence && state.role === 'leading') this.lose(error);
    this.judgeLog();
  }

  private judgeLog(): void {
    const { state } = this;
    if (state.role !== 'leading') return;
    const isSilent = isUnconfirmed(state, this.rules.silenceMs, this.observed.now);
    this.report(
      state.fullness ?? (isSilent ? 'the log of the cluster does not answer' : undefined),
    );
  }

  private report(problem: string | undefined): void {
    if (problem === this.state.problem) return;
    this.state.problem = problem;
    this.effects.push({ type: 'problem', problem });
  }

  // The handover.

  private beginHandover(outgoing: OutgoingHandover): void {
    const { state } = this;
    assert(state.role === 'leading' && !state.isClosing, 'only a leader hands over');
    // From here on nothing is accepted.
    state.role = 'handing-over';
    state.outgoing = outgoing;
    this.expectNext(outgoing.next, outgoing.nextPeers);
    // The last heartbeat of this node is not received here.
    state.wasGivenUp = true;
    this.effects.push({ type: 'stop-timers' }, { type: 'drain' });
  }

  private onDrained(error: Error | undefined): void {
    if (error !== undefined) {
      this.failHandover(error);
      return;
    }
    if (this.state.role !== 'handing-over') {
      this.endHandover(new Error('this node ends'));
      return;
    }
    this.giveUp();
  }

  private onLastAnswered({ error, sentAt }: EventOf<'heartbeat-answered'>): void {
    const { state } = this;
    if (state.outgoing === undefined) {
      state.role = 'closed';
      this.effects.push({ type: 'end-writer', why: 'the node closes' });
      return;
    }
    if (error !== undefined) {
      this.failHandover(error);
      return;
    }
    state.confirmedAt = Math.max(state.confirmedAt, sentAt);
    this.effects.push({ type: 'release-writer' });
  }

  private onDurable({ error, stored }: EventOf<'durable'>): void {
    const { state } = this;
    // The node may have ended meanwhile, for another reason.
    const hasEnded = state.role !== 'handing-over' || state.isClosing;
    if (error !== undefined || hasEnded) {
      // Without its files the node can neither lead nor follow.
      if (error !== undefined && !hasEnded) this.effects.push({ type: 'fatal', error });
      this.endHandover(error ?? new Error('this node ends'));
      return;
    }
    const { next } = state.outgoing!;
    state.role = 'following';
    state.leader = undefined;
    this.endSilence();
    this.effects.push(
      { type: 'leader-changed' },
      { type: 'follow' },
      { type: 'reaches', sequence: stored },
    );
    // A reason why a leader takes no orders does not concern a follower.
    state.fullness = undefined;
    this.report(undefined);
    this.effects.push({ type: 'followed' });
    this.print('info', `this node leads no more: ${next} shall lead`);
    this.endHandover();
  }

  private failHandover(error: Error): void {
    this.lose(error);
    this.endHandover(error);
  }

  private endHandover(error?: Error): void {
    this.state.outgoing = undefined;
    this.effects.push({ type: 'handover-ended', error });
  }

  // The end.

  private lose(why: Error): void {
    const { state } = this;
    if (state.role === 'over' || state.role === 'closed' || state.isClosing) return;
    state.role = 'over';
    state.isStalled = false;
    this.effects.push({ type: 'stop-timers' }, { type: 'over', why });
  }

  private close(): void {
    const { state } = this;
    state.isClosing = true;
    this.effects.push({ type: 'stop-timers' });
    if (state.role === 'leading') {
      this.giveUp();
      return;
    }
    if (state.role === 'following' || state.role === 'claiming') state.role = 'closed';
    this.effects.push({ type: 'end-writer', why: 'the node closes' });
  }

  private print(level: 'info' | 'warn', text: string): void {
    this.effects.push({ type: 'print', level, text });
  }
}

/** Reason why the log is not that of this node, which has records up to `own`; `undefined` where it is. */
function otherLog(tail: Tail, own: number): Error | undefined {
  if (tail.sequence >= own) return undefined;
  if (tail.epoch === NO_TAIL.epoch) return new Error('the log of the cluster is empty');
  return new LogDamage(
    `it ends with batch ${own}, but that of the cluster with batch ${tail.sequence}: it is not of this cluster`,
  );
}
