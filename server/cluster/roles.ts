/**
 * The role of this node in a cluster: timers, the subscriptions to the shared log and the tail writer, run as the
 * transitions of role-machine.ts ask for it.
 *
 * Thread: the I/O thread. Not here: when a role changes (role-machine.ts), how the log decides
 * (storage/replicated-log), and the work of a leader (onLead).
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { stateDigest } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { LogEntry } from '../../storage/log/log.ts';
import type { ClusterLog } from '../../storage/replicated-log/cluster-log.ts';
import type {
  Announcement,
  LogWriter,
  ReplicatedLog,
  Space,
  Subscription,
} from '../../storage/replicated-log/replicated-log.ts';
import type { ClusterFacts } from '../admin/progress.ts';
import type { Log } from '../common/logger.ts';
import type { Sequencer } from '../orders/intake/sequencer.ts';
import { type Announced, type Announcements, announcedOf } from './announced.ts';
import type { ClusterClock } from './cluster-clock.ts';
import { decodeHeartbeat, encodeHeartbeat, type Handover, type Heartbeat } from './heartbeat.ts';
import { RecordFeed } from './record-feed.ts';
import { HEARTBEATS, initialState, isUnconfirmed, TICKS, transition } from './role-machine.ts';
import type {
  Leader,
  Role,
  RoleEffect,
  RoleEvent,
  RoleHeartbeat,
  RoleRules,
  RoleState,
} from './role-state.ts';

export interface RoleCalls {
  /** Orders are accepted from here on. @param handover of the lead before, where it was handed over */
  readonly onLead: (handover: Handover | undefined) => void;
  readonly onFollow: () => void;
  /** @param problem reason why the shared log lets no orders in; `undefined` once it does */
  readonly onProblem: (problem: string | undefined) => void;
  /** The newest heartbeat is of another leader than before, or there is none. */
  readonly onLeader: () => void;
  /** The leader gives up the lead. @param next its successor, where one is named */
  readonly onNext: (next: Omit<Leader, 'advertise'> | undefined) => void;
  /** Another node leads: this one has to restart. */
  readonly onOver: (why: Error) => void;
  readonly onFatal: (error: Error) => void;
}

export interface RolesOptions {
  readonly rules: RoleRules;
  /** Announced digest of node.key. */
  readonly key: string;
  readonly announcements: Announcements;
  readonly isMember: () => boolean;
  readonly replicated: ReplicatedLog;
  readonly log: ClusterLog;
  /** Recovered; written by the sequencer only. */
  readonly tables: Tables;
  readonly sequencer: Pick<Sequencer, 'apply' | 'follow' | 'idle'>;
  readonly clock: ClusterClock;
  /** Unix milliseconds of this machine. */
  readonly wall: () => number;
  /** Returns the first record of an epoch, after the newest one of the tables. */
  readonly epochRecord: (handover: Handover | undefined) => LogEntry;
  /** Number of accepted requests that the sequencer does not have yet. */
  readonly waiting: () => number;
  readonly calls: RoleCalls;
  readonly print: Log;
}

/**
 * PATIENCE, SETTLE: multiples of CLUSTER_SILENCE_MS that a leader waits for an append, and a start
 * for a leader. STALL: a process that did not run for 1 / STALL of it had a stall.
 */
const PATIENCE = 8;
const STALL = 2;
const SETTLE = 4;
/** A follower that is behind by less has joined. */
const NEAR_MS = 100;
const SETTLE_LOOK_MS = 10;
const UPKEEP_MS = 10_000;
const RUN_BYTES = 8;
/** Longest name of a requester of a handover, in characters: the control record has room for it. */
const REQUESTER_MAX = 200;
/** Longest time that the body of a request may take to arrive while the lead is handed over. */
const GRACE_MS = 20;

export class Roles {
  private state: RoleState = initialState(performance.now());
  private readonly options: RolesOptions;
  private feed: RecordFeed;
  private readonly announcement: Announcement;
  private following: Subscription;
  private readonly heartbeats: Subscription;
  private readonly ticks: NodeJS.Timeout;
  private leaderTimers: NodeJS.Timeout[] = [];
  private writer: LogWriter | undefined;
  private claimed: LogWriter | undefined;
  private isNear = false;
  /** Newest asynchronous step of a claim, and of the end. */
  private claimStep: Promise<void> = Promise.resolve();
  private lastStep: Promise<void> = Promise.resolve();
  private endHandover: (error?: Error) => void = () => undefined;
  private space: Space | undefined;
  private ranAt = performance.now();

  constructor(options: RolesOptions) {
    this.options = options;
    const { log, replicated, rules, sequencer } = options;
    sequencer.follow(true);
    this.feed = this.newFeed();
    // The end of the log is unknown before the first heartbeat.
    this.feed.reaches(undefined);
    const { advertise, mayLead, node, peers, silenceMs } = rules;
    const run = randomBytes(RUN_BYTES).toString('hex');
    const { key } = options;
    const announced: Announced = { advertise, mayLead, peers, key, run, last: log.last };
    this.announcement = replicated.announce(node, Buffer.from(JSON.stringify(announced)), {
      // A process at this address has ended, or this one could not listen there.
      mayReplace: (found) => (announcedOf(found)?.advertise ?? advertise) === advertise,
      onTaken: (found) => this.refuseName(found),
    });
    this.following = this.follow();
    this.heartbeats = replicated.watchHeartbeats(
      (bytes) => {
        this.noticeStall();
        this.dispatch({ type: 'heartbeat', bytes, heartbeat: decodeHeartbeat(bytes) });
      },
      (problem) => this.dispatch({ type: 'log-problem', problem }),
    );
    this.ticks = setInterval(() => {
      this.noticeStall();
      this.dispatch({ type: 'tick' });
    }, silenceMs / TICKS);
  }

  get role(): Role {
    return this.state.role;
  }

  get leader(): Leader | undefined {
    return this.state.leader;
  }

  facts(): Omit<ClusterFacts, 'clockSkewMs' | 'forwarded'> {
    const { feed, leader } = this;
    const leads = this.role === 'leading';
    return {
      node: this.options.rules.node,
      role: leads ? 'leader' : 'follower',
      leader: leads || this.state.received > 1 ? leader : undefined,
      applied: leads ? this.writer!.last : feed.applied,
      behindMs: leads ? 0 : feed.behindMs(),
      isStale: this.isStale(),
      space: this.space,
    };
  }

  waitsForBegin(): boolean {
    return this.state.isLogEmpty;
  }

  /** Reads of this node may be older than CLUSTER_SILENCE_MS. Measured by each call. */
  isStale(): boolean {
    const { silenceMs } = this.options.rules;
    const { role } = this.state;
    if (role === 'leading' || role === 'handing-over') {
      return isUnconfirmed(this.state, silenceMs, performance.now());
    }
    this.noticeStall();
    if (role === 'over' || this.state.isLogEmpty) return true;
    return !this.hasJoined() || this.feed.behindMs() > silenceMs;
  }

  get logProblem(): string | undefined {
    return this.state.logProblem;
  }

  get seesLeader(): boolean {
    return this.leader !== undefined && this.state.silentMs < this.options.rules.silenceMs;
  }

  /** Resolves once this node leads or is close to the leader; without a leader, after a while. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + SETTLE * this.options.rules.silenceMs;
    const isOpen = (): boolean =>
      (this.role === 'following' || this.role === 'claiming') && !this.state.isLogEmpty;
    const isTaken = (): boolean => this.announcement.state === 'taken' && !this.state.isClosing;
    while (isOpen() && (isTaken() || (!this.hasJoined() && performance.now() < end))) {
      await sleep(SETTLE_LOOK_MS);
      signal?.throwIfAborted();
    }
  }

  /**
   * Hands the lead over, and follows; requests of clients wait meanwhile. Rejects where this node does not lead, or
   * loses the lead meanwhile.
   */
  async handOver(next: string, request: Omit<Handover, 'from'>): Promise<void> {
    const { node, silenceMs } = this.options.rules;
    const by = request.by.slice(0, REQUESTER_MAX);
    const { isAudited, reasons } = request;
    const nextPeers = (await this.options.announcements.all(silenceMs)).get(next)?.peers;
    const { isClosing, role } = this.state;
    if (role !== 'leading' || isClosing) throw new Error('this node does not lead');
    const handover: Handover = { by, from: node, isAudited, reasons };
    await new Promise<void>((resolve, reject) => {
      this.endHandover = (error) => (error === undefined ? resolve() : reject(error));
      this.dispatch({ type: 'handover', outgoing: { next, nextPeers, handover } });
    });
  }

  /** This node cannot append any more. */
  lost(why: Error): void {
    this.dispatch({ type: 'lost', why });
  }

  /** Receives no more records; received ones may still be applied. */
  async stopFollowing(): Promise<void> {
    clearInterval(this.ticks);
    this.dispatch({ type: 'closing' });
    while (this.state.claim !== undefined) await this.claimStep;
    await this.following.stop();
  }

  /** To be called once nothing is under way. A leader says that it gives up the lead. */
  async close(): Promise<void> {
    this.dispatch({ type: 'close' });
    await this.lastStep;
    await Promise.all([this.announcement.stop(), this.heartbeats.stop()]);
  }

  private dispatch(event: RoleEvent): void {
    const { feed, options } = this;
    const isEligible = options.isMember() && this.announcement.state === 'published';
    const { applied, at } = feed;
    const observed = { now: performance.now(), received: at.sequence, applied, isEligible };
    const { effects, state } = transition(options.rules, this.state, event, observed);
    this.state = state;
    for (const effect of effects) this.run(effect);
  }

  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a case for each effect.
  private run(effect: RoleEffect): void {
    const { calls, clock, print, replicated, rules, wall } = this.options;
    const { silenceMs } = rules;
    switch (effect.type) {
      case 'claim-read-tail':
        this.claim(async () => ({ type: 'claim-tail', tail: await replicated.tail(silenceMs) }));
        break;
      case 'claim-await-applied':
        this.claim(() => this.caughtUp(effect.sequence));
        break;
      case 'claim-read-heartbeat':
        this.claim(() => this.readHeartbeat());
        break;
      case 'claim-write':
        this.claim(() => this.writeClaim(effect));
        break;
      case 'lead':
        // The time without a leader before this node started is unknown.
        if (effect.isFirst) clock.reach(wall());
        this.lead();
        break;
      case 'serve':
        this.options.sequencer.follow(false);
        calls.onLead(effect.handover);
        break;
      case 'send-heartbeat': {
        const sent = this.send(effect.heartbeat, effect.sentAt);
        if (effect.heartbeat.leaves) this.lastStep = sent;
        break;
      }
      case 'stop-timers':
        for (const timer of this.leaderTimers.splice(0)) clearInterval(timer);
        break;
      case 'drain':
        void failureOf(this.drain()).then((error) => this.dispatch({ type: 'drained', error }));
        break;
      case 'end-writer':
        this.writer?.end(effect.why);
        this.claimed?.end(effect.why);
        break;
      case 'release-writer':
        void this.releaseWriter();
        break;
      case 'follow':
        this.feed = this.newFeed();
        this.following = this.follow();
        break;
      case 'followed':
        calls.onFollow();
        break;
      case 'handover-ended':
        this.endHandover(effect.error);
        break;
      case 'reaches':
        this.feed.reaches(effect.sequence, effect.since);
        break;
      case 'catch-up':
        void this.catchUp(effect.stalls);
        break;
      case 'leader-changed':
        calls.onLeader();
        break;
      case 'next-leader':
        calls.onNext(effect.next);
        break;
      case 'problem':
        calls.onProblem(effect.problem);
        break;
      case 'print':
        print(effect.level, effect.text);
        break;
      case 'over':
        calls.onOver(effect.why);
        break;
      case 'fatal':
        calls.onFatal(effect.error);
        break;
    }
  }

  private newFeed(): RecordFeed {
    const { clock, log, sequencer } = this.options;
    return new RecordFeed({ sequence: log.last, digest: log.digest }, sequencer, clock);
  }

  private follow(): Subscription {
    return this.options.replicated.follow(this.feed.at, {
      take: (entry) => this.feed.take(entry),
      onProblem: (problem) => this.dispatch({ type: 'log-problem', problem }),
      onEmpty: (isEmpty) => this.dispatch({ type: 'log-empty', isEmpty }),
      onEnd: (error) => this.options.calls.onFatal(error),
    });
  }

  private noticeStall(): void {
    const now = performance.now();
    const since = this.ranAt;
    this.ranAt = now;
    if (now - since >= this.options.rules.silenceMs / STALL)
      this.dispatch({ type: 'stalled', since });
  }

  private async catchUp(stalls: number): Promise<void> {
    const { replicated, rules } = this.options;
    while (this.state.isStalled && this.state.stalls === stalls && !this.state.isClosing) {
      const tail = await replicated.tail(rules.silenceMs).catch(() => undefined);
      if (tail !== undefined) {
        const { sequence } = tail;
        await this.feed.whenApplied(sequence);
        this.dispatch({ type: 'caught-up', stalls, sequence });
        return;
      }
      await sleep(SETTLE_LOOK_MS, undefined, { ref: false });
    }
  }

  private hasJoined(): boolean {
    this.isNear ||= this.state.received > 1 && this.feed.behindMs() < NEAR_MS;
    return this.isNear;
  }

  private refuseName(found: Buffer): void {
    const { calls, rules } = this.options;
    const address = announcedOf(found)?.advertise ?? 'another address';
    calls.onFatal(
      new Error(`NODE_ID=${rules.node}: another node with this name runs at ${address}`),
    );
  }

  private claim(step: () => Promise<RoleEvent>): void {
    this.claimStep = step()
      .catch((error: Error): RoleEvent => ({ type: 'claim-failed', error }))
      .then((event) => this.dispatch(event));
  }

  private async caughtUp(sequence: number): Promise<RoleEvent> {
    const patience = sleep(this.options.rules.silenceMs, undefined, { ref: false });
    await Promise.race([this.feed.whenApplied(sequence), patience]);
    return { type: 'claim-caught-up' };
  }

  private async readHeartbeat(): Promise<RoleEvent> {
    const bytes = await this.options.replicated.lastHeartbeat(this.options.rules.silenceMs);
    const heartbeat = bytes && decodeHeartbeat(bytes);
    return { type: 'claim-heartbeat', bytes, heartbeat };
  }

  private async writeClaim({
    handover,
    heartbeat,
    seen,
    tail,
  }: Extract<RoleEffect, { type: 'claim-write' }>): Promise<RoleEvent> {
    const { epochRecord, replicated, rules, tables } = this.options;
    const { node, silenceMs } = rules;
    assert(tail.sequence === 0 || stateDigest(tables) === tail.digest, 'a digest was compared');
    const record = epochRecord(handover);
    const first = this.encode(tail.epoch + 1, record.sequence, heartbeat);
    const patienceMs = PATIENCE * silenceMs;
    const writer = await replicated.claim(tail, record, {
      node,
      patienceMs,
      heartbeat: first,
      seen,
    });
    this.claimed = writer;
    const { sequence } = record;
    const stopped = this.following.stop();
    void this.feed.take(record);
    await Promise.all([stopped, this.feed.whenApplied(sequence)]);
    return { type: 'claim-applied', sequence, epoch: writer.epoch, stored: this.options.log.last };
  }

  private lead(): void {
    const { log, replicated, rules } = this.options;
    const writer = this.claimed!;
    this.claimed = undefined;
    this.writer = writer;
    this.isNear = true;
    writer.onRoom = (problem) => this.dispatch({ type: 'room', problem });
    log.lead(writer);
    const heartbeatMs = rules.silenceMs / HEARTBEATS;
    this.leaderTimers = [
      setInterval(() => this.dispatch({ type: 'heartbeat-due' }), heartbeatMs),
      setInterval(() => void this.maintainLog(), UPKEEP_MS),
    ];
    // Each member of the log needs a connection: later there may be no file for one.
    replicated.space(rules.silenceMs).then(
      (space) => (this.space = space),
      () => undefined,
    );
  }

  private async maintainLog(): Promise<void> {
    const { print, replicated, rules } = this.options;
    try {
      this.space = await replicated.space(rules.silenceMs);
      // The lead may have been handed over meanwhile.
      if (this.writer !== undefined) await replicated.trim(this.writer.last);
    } catch (error) {
      print('warn', `the log of the cluster could not be trimmed: ${(error as Error).message}`);
    }
  }

  private async send(heartbeat: RoleHeartbeat, sentAt: number): Promise<void> {
    const writer = this.writer!;
    const { epoch, last, tail } = writer;
    const isHandover = heartbeat.next !== undefined;
    const bytes = this.encode(epoch, last, isHandover ? { ...heartbeat, tail } : heartbeat);
    const error = await failureOf(writer.heartbeat(bytes, this.options.rules.silenceMs));
    this.dispatch({ type: 'heartbeat-answered', isLast: heartbeat.leaves, sentAt, error });
  }

  private encode(
    epoch: number,
    sequence: number,
    heartbeat: RoleHeartbeat & Pick<Heartbeat, 'tail'>,
  ): Buffer {
    const { advertise, capacities, node, peers } = this.options.rules;
    const own = { node, epoch, advertise, peers, sequence, capacities };
    return encodeHeartbeat({ ...own, ...heartbeat });
  }

  private async drain(): Promise<void> {
    const { rules } = this.options;
    const patience = sleep(PATIENCE * rules.silenceMs, 'late', { ref: false });
    if ((await Promise.race([this.finish(), patience])) === 'late') {
      throw new Error('what is under way takes too long');
    }
  }

  private async finish(): Promise<void> {
    const { log, sequencer, waiting } = this.options;
    await sleep(GRACE_MS);
    while (waiting() > 0) await sleep(1);
    await sequencer.idle();
    sequencer.follow(true);
    // An internal command may have come in between.
    await sequencer.idle();
    await log.whenDurable();
  }

  private async releaseWriter(): Promise<void> {
    const { log } = this.options;
    log.lead(undefined);
    this.writer?.end('another node leads');
    this.writer = undefined;
    const error = await failureOf(log.whenDurable());
    this.dispatch({ type: 'durable', stored: log.last, error });
  }
}

function failureOf(work: Promise<void>): Promise<Error | undefined> {
  return work.then(
    () => undefined,
    (error: Error) => error,
  );
}
