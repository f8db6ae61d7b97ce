/**
 * The role of this node in a cluster, and the ways from one to another:
 *
 *   following -> claiming -> leading      nobody has led for CLUSTER_SILENCE_MS
 *   claiming -> following                 another one was faster, or the log does not answer
 *   leading -> leaving -> following       an operator hands the lead over: all that was taken is committed
 *   leading -> over                       another one leads: the node starts again, from what its log has
 *
 * Only the log decides who leads: a claim is an append that one node alone can win, and one that has lost the lead
 * cannot append any more. Silence decides no more than when somebody tries.
 *
 * Thread: the I/O thread. Not here: how the log does it (storage/cluster), what a node does once it leads (onLead).
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { stateDigest } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { ClusterLog } from '../../storage/cluster/cluster-log.ts';
import {
  type Announcement,
  type LogWriter,
  NO_TAIL,
  type ReplicatedLog,
  type Space,
  type Subscription,
  type Tail,
} from '../../storage/cluster/replicated-log.ts';
import { LogDamage, type LogEntry, WrongSequence } from '../../storage/log/log.ts';
import type { ClusterFacts } from '../admin/progress.ts';
import type { Log } from '../common/logger.ts';
import type { Sequencer } from '../orders/sequencer.ts';
import { type Announced, type Announcements, announcedOf } from './announced.ts';
import { type Beat, decodeBeat, encodeBeat, type Handover, smallerTables } from './beat.ts';
import type { ClusterClock } from './cluster-clock.ts';
import { RecordFeed } from './record-feed.ts';
import { Silence } from './silence.ts';

export interface RolesOptions {
  readonly node: string;
  /** How other nodes reach this one. */
  readonly advertise: string;
  /** Where it answers their calls. */
  readonly peers: string;
  /** Announced of its node.key. */
  readonly key: string;
  /** Name of the cluster, with which its keys begin. */
  readonly venue: string;
  readonly announcements: Announcements;
  /** False: a replica, which never leads. */
  readonly mayLead: boolean;
  /** Whether this node has in common with its cluster what a leader has to. */
  readonly isMember: () => boolean;
  readonly silenceMs: number;
  readonly replicated: ReplicatedLog;
  readonly log: ClusterLog;
  /** Recovered; nobody but the sequencer writes them. */
  readonly tables: Tables;
  readonly sequencer: Pick<Sequencer, 'apply' | 'follow' | 'idle'>;
  readonly clock: ClusterClock;
  /** Unix milliseconds of this machine. */
  readonly wall: () => number;
  /** The record with which this node begins its epoch, behind the newest one of the tables. */
  readonly epochRecord: (handover: Handover | undefined) => LogEntry;
  /** This node leads from now on: orders are taken. @param handover of the lead before, where it was handed over */
  readonly onLead: (handover: Handover | undefined) => void;
  /** It leads no more, and follows. */
  readonly onFollow: () => void;
  /** Why nothing is taken, as far as the shared log is concerned; undefined = it is. */
  readonly onProblem: (problem: string | undefined) => void;
  /** Requests that were taken, and are not with the sequencer yet. */
  readonly waiting: () => number;
  /** Another node leads than before, or none, by the newest beat. */
  readonly onLeader: () => void;
  /** Who leads has said that it leaves, and who leads next, if it names one. */
  readonly onNext: (leader: Omit<Leader, 'advertise'> | undefined) => void;
  /** The node has to start again: another one leads. */
  readonly onOver: (why: Error) => void;
  /** The node cannot go on. */
  readonly onFatal: (error: Error) => void;
  readonly print: Log;
}

/** Whether a beat is the last one of its leader, and what it says then. */
type Leaving = Pick<Beat, 'handover' | 'leaves' | 'next' | 'nextPeers' | 'tail'>;

export type Role = 'following' | 'claiming' | 'leading' | 'leaving' | 'over';

/** The node that leads, by the newest beat. */
export interface Leader {
  readonly node: string;
  readonly advertise: string;
  readonly peers: string;
  readonly epoch: number;
}

/** Parts of CLUSTER_SILENCE_MS: between two looks, and between two beats. */
const LOOKS = 15;
const BEATS = 5;
/** The same: so long a beat waits for the answer to the one before, which a member of the log that hangs does not give. */
const UNANSWERED = 3;
/** Multiples of it: so long a leader whose appends get no answer waits before it gives them up. */
const PATIENCE = 8;
/** The same: a process that did not run for so long stood still. */
const STALL = 2;
/** Close enough to the leader to be of use. */
const READY_MS = 100;
const SETTLE_LOOK_MS = 10;
const UPKEEP_MS = 10_000;
const RUN_BYTES = 8;
/** Characters of who asks for a handover: they have room in a note. */
const ASKED_MAX = 200;
/** So long requests that have begun may take to come, where the lead is handed over. */
const GRACE_MS = 20;
/** Multiples of it: a start waits no longer for somebody to lead. */
const SETTLE = 4;

export class Roles {
  role: Role = 'following';
  leader: Leader | undefined;
  private readonly o: RolesOptions;
  private feed: RecordFeed;
  private readonly silence: Silence;
  private readonly subscriptions: Subscription[] = [];
  private readonly announcement: Announcement;
  private following: Subscription;
  private readonly timer: NodeJS.Timeout;
  private beats: NodeJS.Timeout | undefined;
  private writer: LogWriter | undefined;
  /** The newest one that is known, of a beat or of the tail. */
  private epoch = 0;
  /** The newest beat that has come here, as it is in the log and read, and when. */
  private newest: Buffer | undefined;
  private newestBeat: Beat | undefined;
  private beatAt = performance.now();
  private hasBadBeat = false;
  /** Whether the newest beat was the last one of a leader that leaves. */
  private hasLeft = false;
  /** Whether this node leads after such a one. */
  private afterLeave = false;
  /** The end of the lead before, where the last beat of its leader says that it was handed over. */
  private handover: Handover | undefined;
  /** What the leader has left to this node, with its last beat. */
  private left: Tail | undefined;
  /** Beats of the leader that this process has seen. */
  private seen = 0;
  private count = 0;
  /** When the heartbeat was sent whose answer the next one waits for. */
  private beatSent = -Infinity;
  /** Why the shared log takes no more records. */
  private fullness: string | undefined;
  private problem: string | undefined;
  /** When the newest beat that the log has taken was sent. */
  private taken = 0;
  /** Why the shared log delivers nothing. */
  private silentLog: string | undefined;
  /** True while the shared log has nothing and this node has records. */
  private isLogEmpty = false;
  /** When this process was last seen to run, and how often it had stood still; up to which of them it has caught up. */
  private ranAt = performance.now();
  private stalls = 0;
  private stallsOver = 0;
  private isNear = false;
  private space: Space | undefined;
  private upkeep: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | undefined;
  private isClosing = false;

  constructor(options: RolesOptions) {
    this.o = options;
    const { advertise, clock, log, mayLead, node, peers, replicated, sequencer, silenceMs } =
      options;
    sequencer.follow(true);
    const at = { sequence: log.last, digest: log.digest };
    this.feed = new RecordFeed(at, sequencer, clock);
    // How far the log reaches is not known before its first beat.
    this.feed.reaches(undefined);
    this.silence = new Silence(silenceMs / 2);
    this.following = this.follow();
    const run = randomBytes(RUN_BYTES).toString('hex');
    const announced: Announced = {
      advertise,
      mayLead,
      peers,
      key: options.key,
      run,
      last: log.last,
    };
    this.announcement = replicated.announce(node, Buffer.from(JSON.stringify(announced)), {
      // A process at this address has ended, or this one could not listen there.
      mayReplace: (found) => (announcedOf(found)?.advertise ?? advertise) === advertise,
      onTaken: (found) => this.onTaken(found),
    });
    this.subscriptions.push(
      this.announcement,
      replicated.watchBeat(
        (beat) => this.onBeat(beat),
        (problem) => this.onSilentLog(problem),
      ),
    );
    this.timer = setInterval(() => this.look(), silenceMs / LOOKS);
  }

  facts(): Omit<ClusterFacts, 'clockSkewMs' | 'forwarded'> {
    const { feed, leader } = this;
    const leads = this.role === 'leading';
    return {
      node: this.o.node,
      role: leads ? 'leader' : 'follower',
      leader: leads || this.seen > 1 ? leader : undefined,
      applied: leads ? this.writer!.last : feed.applied,
      behindMs: leads ? 0 : feed.behindMs(),
      isStale: this.isStale(),
      space: this.space,
    };
  }

  /** Whether it waits until an operator begins the shared log. */
  waitsForBegin(): boolean {
    return this.isLogEmpty;
  }

  /** Whether what is read here may be older than CLUSTER_SILENCE_MS; looked at anew by each call. */
  isStale(): boolean {
    const { silenceMs } = this.o;
    if (this.role === 'leading' || this.role === 'leaving') {
      return performance.now() - this.taken > silenceMs;
    }
    this.noticeStall();
    if (this.role === 'over' || this.isLogEmpty) return true;
    return !this.hasJoined() || this.feed.behindMs() > silenceMs;
  }

  /** Why records do not come, where the shared log or a value of it is the reason. */
  get logProblem(): string | undefined {
    return this.silentLog;
  }

  /** Whether beats of the leader have come until now. */
  get leaderIsHeard(): boolean {
    return this.leader !== undefined && this.silence.ms < this.o.silenceMs;
  }

  /** Resolves once this node leads, or is close to who does; and after a while where nobody leads. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + SETTLE * this.o.silenceMs;
    const isOpen = (): boolean =>
      (this.role === 'following' || this.role === 'claiming') && !this.isLogEmpty;
    const isTaken = (): boolean => this.announcement.state === 'taken' && !this.isClosing;
    while (isOpen() && (isTaken() || (!this.hasJoined() && performance.now() < end))) {
      await sleep(SETTLE_LOOK_MS);
      signal?.throwIfAborted();
    }
  }

  /**
   * Gives the lead to another node, and follows; what clients send meanwhile waits. Rejects where this node does not
   * lead, or where it has lost the lead meanwhile.
   */
  async handOver(next: string, asked: Omit<Handover, 'from'>): Promise<void> {
    const { announcements, clock, log, node, onFollow, sequencer, silenceMs } = this.o;
    const by = asked.by.slice(0, ASKED_MAX);
    const handover: Handover = { ...asked, by, from: node };
    const peers = (await announcements.all(silenceMs)).get(next)?.peers;
    if (this.role !== 'leading') throw new Error('this node does not lead');
    this.expect(next, peers);
    // Its own last beat does not come back here.
    this.hasLeft = true;
    // From now on nothing is taken.
    this.role = 'leaving';
    clearInterval(this.beats);
    clearInterval(this.upkeep);
    try {
      const patience = sleep(PATIENCE * silenceMs, 'late', { ref: false });
      if ((await Promise.race([this.finish(), patience])) === 'late') {
        throw new Error('what is under way takes too long');
      }
      const { tail } = this.writer!;
      await this.beat({ leaves: true, next, nextPeers: peers, tail, handover });
    } catch (error) {
      this.lost(error as Error);
      throw error;
    }
    log.lead(undefined);
    this.writer?.end('another node leads');
    this.writer = undefined;
    await log.whenDurable();
    // It may have ended meanwhile, for another reason.
    if (this.role !== 'leaving' || this.isClosing) throw new Error('this node ends');
    this.leader = undefined;
    this.o.onLeader();
    this.silence.end();
    this.feed = new RecordFeed({ sequence: log.last, digest: log.digest }, sequencer, clock);
    this.feed.reaches(log.last);
    this.role = 'following';
    this.following = this.follow();
    // Why it took no orders concerned the leader alone.
    this.fullness = undefined;
    this.pauseFor(undefined);
    onFollow();
    this.o.print('info', `this node leads no more: ${next} shall lead`);
  }

  /** A connection takes as long as a claim: it begins before that. */
  private expect(next: string | undefined, peers: string | undefined): void {
    const isKnown = next !== undefined && peers !== undefined && next !== this.o.node;
    this.o.onNext(isKnown ? { node: next, peers, epoch: this.epoch + 1 } : undefined);
  }

  /** Resolves once all that was taken is in the log, and nothing more is taken. */
  private async finish(): Promise<void> {
    const { log, sequencer, waiting } = this.o;
    // What is not with the sequencer yet, because its body is still being read.
    await sleep(GRACE_MS);
    while (waiting() > 0) await sleep(1);
    await sequencer.idle();
    sequencer.follow(true);
    // A step of its own may have come in between.
    await sequencer.idle();
    await log.whenDurable();
  }

  /** Whether it has been close to who leads since it started. */
  private hasJoined(): boolean {
    this.isNear ||= this.seen > 1 && this.feed.behindMs() < READY_MS;
    return this.isNear;
  }

  /** This node cannot append any more. */
  lost(why: Error): void {
    if (this.role === 'over' || this.isClosing) return;
    this.role = 'over';
    clearInterval(this.beats);
    clearInterval(this.upkeep);
    this.o.onOver(why);
  }

  /** No record comes any more; those that came may still be applied. */
  async stopFollowing(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    await this.claiming;
    await this.following.stop();
  }

  /** Once nothing is under way any more. A leader says that it leaves. */
  async close(): Promise<void> {
    clearInterval(this.beats);
    clearInterval(this.upkeep);
    if (this.role === 'leading') await this.beat({ leaves: true }).catch(() => undefined);
    this.writer?.end('the node closes');
    await Promise.all(this.subscriptions.map((subscription) => subscription.stop()));
  }

  private follow(): Subscription {
    const { replicated } = this.o;
    return replicated.follow(this.feed.at, {
      take: (entry) => this.feed.take(entry),
      onProblem: (problem) => this.onSilentLog(problem),
      onEmpty: (isEmpty) => this.onEmptyLog(isEmpty),
      onEnd: (error) => this.o.onFatal(error),
    });
  }

  /**
   * After a time in which this process stood still, what it has may be as old as that, and so may be heartbeats that came
   * meanwhile. It is current again once it has what the log had afterwards.
   */
  private noticeStall(): void {
    const now = performance.now();
    const since = this.ranAt;
    this.ranAt = now;
    if (now - since < this.o.silenceMs / STALL) return;
    this.stalls += 1;
    this.feed.reaches(undefined, since);
    if (this.stalls === this.stallsOver + 1) void this.catchUp();
  }

  private async catchUp(): Promise<void> {
    const { replicated, silenceMs } = this.o;
    let goal: number | undefined;
    let { stalls } = this;
    while (!this.isClosing && (this.role === 'following' || this.role === 'claiming')) {
      if (goal === undefined || stalls !== this.stalls) {
        stalls = this.stalls;
        goal = (await replicated.tail(silenceMs).catch(() => undefined))?.sequence;
      }
      // A record that has come late is in no read before it is applied.
      if (goal !== undefined && stalls === this.stalls && this.feed.applied >= goal) {
        this.feed.reaches(goal);
        break;
      }
      await sleep(SETTLE_LOOK_MS, undefined, { ref: false });
    }
    this.stallsOver = this.stalls;
  }

  /** Nobody leads while the log has nothing, and what a leader before has announced counts for nothing. */
  private onEmptyLog(isEmpty: boolean): void {
    this.isLogEmpty = isEmpty;
    this.silence.end();
    if (!isEmpty) return;
    this.feed.reaches(undefined, this.beatAt);
    this.leader = undefined;
    this.o.onLeader();
  }

  /** Beats are not delivered where the log does not answer: that is no silence of the leader. */
  private onSilentLog(problem: string | undefined): void {
    this.silence.end();
    this.silentLog = problem;
    // It takes seconds until a log that does not answer is noticed.
    if (problem !== undefined) this.feed.reaches(undefined, this.beatAt);
  }

  private onBeat(value: Buffer): void {
    const { node } = this.o;
    this.noticeStall();
    const beat = this.beatIn(value);
    if (beat === undefined || this.isOlder(beat)) return;
    this.newest = value;
    this.newestBeat = beat;
    this.beatAt = performance.now();
    if (this.role === 'leading' || this.role === 'leaving' || this.role === 'over') return;
    // Its own, with which it has left.
    if (beat.node === node && beat.next !== undefined) return;
    this.epoch = beat.epoch;
    const isSame = beat.epoch === this.leader?.epoch;
    // The first one of all may be of a leader that ended yesterday.
    this.seen = isSame || this.seen > 1 ? this.seen + 1 : 1;
    if (!isSame) {
      // The last beat of who led before has not come here.
      if (beat.afterLeave && !this.hasLeft) this.expect(undefined, undefined);
      const { advertise, epoch, node: name, peers } = beat;
      this.leader = { node: name, advertise, peers, epoch };
      this.o.onLeader();
    }
    this.hasLeft = beat.leaves;
    if (beat.node === node && beat.leaves !== true) return;
    if (this.stalls === this.stallsOver) this.feed.reaches(beat.sequence);
    // Whoever waits for an answer of that node still gets it.
    if (beat.leaves) this.leader = undefined;
    if (beat.leaves) this.expect(beat.next, beat.nextPeers);
    if (beat.leaves && (beat.next ?? node) === node) {
      this.left = beat.tail;
      this.silence.ms = Infinity;
      this.look();
    } else this.silence.end();
    const smaller =
      this.seen < 2 ? undefined : smallerTables(this.o.tables.capacities, beat.capacities);
    if (smaller === undefined) return;
    this.o.onFatal(
      new Error(
        `the tables of this node are smaller than those of its leader, ${beat.node}: ${smaller}`,
      ),
    );
  }

  /** Undefined: it cannot be read, which is said once. */
  private beatIn(value: Buffer): Beat | undefined {
    const beat = decodeBeat(value);
    if (beat === undefined && !this.hasBadBeat) {
      const key = `${this.o.venue}/leader`;
      this.o.print('warn', `etcd: ${key} has a value that cannot be read: it counts for nothing`);
    }
    this.hasBadBeat = beat === undefined;
    return beat;
  }

  /** Another process has the name of this node. */
  private onTaken(found: Buffer): void {
    const { node, onFatal } = this.o;
    const address = announcedOf(found)?.advertise ?? 'another address';
    onFatal(new Error(`NODE_ID=${node}: another node with this name runs at ${address}`));
  }

  /** A beat that was read may have overtaken some that are watched. */
  private isOlder({ count, epoch }: Beat): boolean {
    const { epoch: newestEpoch, count: newest = 0 } = this.newestBeat ?? {};
    return epoch < this.epoch || (epoch === newestEpoch && count < newest);
  }

  private look(): void {
    const { isMember, mayLead, silenceMs } = this.o;
    this.noticeStall();
    if (this.role === 'leading') {
      this.judgeLog();
      return;
    }
    if (this.role !== 'following' || this.silence.look() < silenceMs) return;
    if (this.silentLog !== undefined || this.isLogEmpty || !mayLead || !isMember()) return;
    // The name of this node may be that of another one, which leads or may lead.
    if (this.announcement.state !== 'published') return;
    this.role = 'claiming';
    this.claiming = this.claim().finally(() => {
      this.claiming = undefined;
    });
  }

  private async claim(): Promise<void> {
    const { onFatal, print } = this.o;
    try {
      const writer = await this.takeOver();
      if (writer !== undefined) {
        this.lead(writer);
        return;
      }
    } catch (error) {
      if (error instanceof LogDamage) onFatal(error);
      // Another one was faster: that is as good.
      else if (!(error instanceof WrongSequence))
        print('warn', `not leading: ${(error as Error).message}`);
    }
    if (this.role === 'claiming') this.role = 'following';
    this.silence.end();
  }

  /** The writer of a new epoch whose first record is applied; undefined = somebody leads after all. */
  private async takeOver(): Promise<LogWriter | undefined> {
    const { feed } = this;
    const { log, node, replicated, silenceMs, tables } = this.o;
    // What this node has now is in the tail that is read after it; what comes meanwhile may not be.
    const own = feed.at.sequence;
    const left = this.leftTail();
    const tail = left ?? (await replicated.tail(silenceMs));
    refuseOther(tail, own);
    // Somebody has just begun: its beats come.
    if (tail.epoch > this.epoch) {
      this.epoch = tail.epoch;
      return undefined;
    }
    const expected = Math.max(tail.sequence, own);
    await Promise.race([feed.whenApplied(expected), sleep(silenceMs, undefined, { ref: false })]);
    // No leader is presumed dead where it has announced that it leaves.
    const seen = left === undefined ? await this.lastBeat() : undefined;
    if (seen === 'newer') return undefined;
    if (this.silence.ms < silenceMs || !this.isClaiming()) return undefined;
    // Whoever is behind leaves the lead to somebody else, or tries again; and somebody leads who writes meanwhile.
    if (feed.applied !== expected || feed.at.sequence !== expected) return undefined;
    assert(tail.sequence === 0 || stateDigest(tables) === tail.digest, 'a digest was compared');
    this.handover = this.newestBeat?.leaves === true ? this.newestBeat.handover : undefined;
    const record = this.o.epochRecord(this.handover);
    const patienceMs = PATIENCE * silenceMs;
    this.taken = performance.now();
    this.afterLeave = this.hasLeft;
    const beat = this.beatOf(tail.epoch + 1, record.sequence, { leaves: false });
    // A beat that comes between that look and the claim lets its leader show itself as current.
    const writer = await replicated.claim(tail, record, { node, patienceMs, beat, seen });
    const stopped = this.following.stop();
    feed.take(record);
    await Promise.all([stopped, feed.whenApplied(record.sequence)]);
    // A record of another writer may have been taken, and not be in the tables yet.
    const isLast = log.last === record.sequence && feed.at.sequence === record.sequence;
    if (isLast && this.isClaiming()) return writer;
    // Yet another one has claimed since, or the node ends.
    writer.end('this node does not lead after all');
    this.lost(new WrongSequence(record.sequence, log.last));
    return undefined;
  }

  /** The node may have ended meanwhile, or has to start again for another reason. */
  private isClaiming(): boolean {
    return this.role === 'claiming' && !this.isClosing;
  }

  /** The tail that the last beat of a leader that leaves has named; once, and unless more has come since. */
  private leftTail(): Tail | undefined {
    const { left } = this;
    this.left = undefined;
    return left === undefined || left.sequence < this.feed.at.sequence ? undefined : left;
  }

  /**
   * The last beat that is in the log; newer: it has not come here yet, so its leader runs. One that the log took late
   * may lie behind the newest of all.
   */
  private async lastBeat(): Promise<Buffer | 'newer' | undefined> {
    const { replicated, silenceMs } = this.o;
    const beat = await replicated.lastBeat(silenceMs);
    if (beat === undefined || this.newest?.equals(beat)) return beat;
    const read = this.beatIn(beat);
    // Nobody who leads has put there what cannot be read.
    if (read === undefined || this.isOlder(read)) return beat;
    this.onBeat(beat);
    return 'newer';
  }

  private lead(writer: LogWriter): void {
    const { advertise, clock, log, node, onLead, peers, print, sequencer, silenceMs, wall } =
      this.o;
    // How long no node led before this one started is not known.
    if (this.seen < 2) clock.reach(wall());
    this.writer = writer;
    writer.onRoom = (problem) => {
      this.fullness = problem;
      this.judgeLog();
    };
    log.lead(writer);
    this.epoch = writer.epoch;
    this.leader = { node, advertise, peers, epoch: writer.epoch };
    this.role = 'leading';
    this.isNear = true;
    print('info', `this node leads, epoch ${writer.epoch} from batch ${writer.last}`);
    this.beats = setInterval(() => this.beatOnce(), silenceMs / BEATS);
    this.beatOnce();
    this.upkeep = setInterval(() => void this.lookAfterLog(), UPKEEP_MS);
    void this.lookAtSpace();
    sequencer.follow(false);
    onLead(this.handover);
  }

  private beatOnce(): void {
    const now = performance.now();
    if (now - this.beatSent < this.o.silenceMs / UNANSWERED) return;
    this.beatSent = now;
    this.beat({ leaves: false })
      .catch((error: Error) => {
        // Who leaves learns it from its last beat.
        if (error instanceof WrongSequence && this.role === 'leading') this.lost(error);
      })
      .finally(() => {
        if (this.beatSent === now) this.beatSent = -Infinity;
        this.judgeLog();
      });
  }

  /** Old records make room for new ones. */
  private async lookAfterLog(): Promise<void> {
    const { print, replicated, silenceMs } = this.o;
    try {
      this.space = await replicated.space(silenceMs);
      // It may have handed the lead over meanwhile.
      if (this.writer !== undefined) await replicated.trim(this.writer.last);
    } catch (error) {
      print('warn', `the log of the cluster could not be trimmed: ${(error as Error).message}`);
    }
  }

  /** It asks each member of the log, which needs a connection: later there may be no file for one. */
  private async lookAtSpace(): Promise<void> {
    const { replicated, silenceMs } = this.o;
    this.space = await replicated.space(silenceMs).catch(() => this.space);
  }

  /** Orders pause where the log does not answer, or is full. */
  private judgeLog(): void {
    if (this.role !== 'leading') return;
    const silent = this.isStale() ? 'the log of the cluster does not answer' : undefined;
    this.pauseFor(this.fullness ?? silent);
  }

  private pauseFor(problem: string | undefined): void {
    if (problem === this.problem) return;
    this.problem = problem;
    this.o.onProblem(problem);
  }

  private async beat(rest: Leaving): Promise<void> {
    const { epoch, last } = this.writer!;
    const sent = performance.now();
    await this.writer!.beat(this.beatOf(epoch, last, rest), this.o.silenceMs);
    this.taken = Math.max(this.taken, sent);
  }

  private beatOf(epoch: number, sequence: number, rest: Leaving): Buffer {
    const { advertise, node, peers, tables } = this.o;
    const { capacities } = tables;
    this.count += 1;
    const { afterLeave, count } = this;
    const own = { node, epoch, advertise, peers, sequence, capacities, count, afterLeave };
    return encodeBeat({ ...own, ...rest });
  }
}

/** Throws where this node has a record that the log of the cluster does not have. */
function refuseOther(tail: Tail, own: number): void {
  if (tail.sequence >= own) return;
  if (tail.epoch === NO_TAIL.epoch) throw new Error('the log of the cluster is empty');
  throw new LogDamage(
    `it ends with batch ${own}, but that of the cluster with batch ${tail.sequence}: it is not of this cluster`,
  );
}
