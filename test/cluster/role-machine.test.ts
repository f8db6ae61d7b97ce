/**
 * Roles of several nodes by drawn schedules of events, without timers: the leader and records of
 * each epoch, handovers, restarts and ends.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Handover, Heartbeat } from '../../server/cluster/heartbeat.ts';
import { initialState, isUnconfirmed, transition } from '../../server/cluster/role-machine.ts';
import type {
  HeartbeatOrder,
  OutgoingHandover,
  RoleEffect,
  RoleEvent,
  RoleRules,
  RoleState,
} from '../../server/cluster/role-state.ts';
import { WrongSequence } from '../../storage/log/log.ts';
import { NO_TAIL, type Tail } from '../../storage/replicated-log/replicated-log.ts';
import { Random } from '../common/random.ts';
import { seeded, TIGHT } from '../storage/stored-exchange.ts';

const SILENCE_MS = 120;
const NODES = 3;
const STEPS = 60_000;
/** Percent of the steps in which something fails or an operator acts. */
const FAILING = 12;
/** Percent of the transitions that are made twice. */
const REPEATED = 4;
/** Steps without faults in which a node must begin to lead. */
const QUIET_STEPS = 20_000;
const HANDOVER: Handover = { from: 'n0', by: 'an operator', reasons: [], isAudited: true };

function encode(heartbeat: Heartbeat): Buffer {
  return Buffer.from(JSON.stringify(heartbeat));
}

function decode(bytes: Buffer): Heartbeat {
  return JSON.parse(bytes.toString()) as Heartbeat;
}

/** The shared log: its tail, its newest heartbeat, and the writer of each epoch. */
class SharedLog {
  now = 0;
  tail: Tail = NO_TAIL;
  bytes: Buffer | undefined;
  readonly leaders = new Map<number, string>();
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  append(node: string, epoch: number): void {
    const { bytes, digest, link, sequence } = this.tail;
    const next = sequence + 1;
    this.tail = { sequence: next, digest, link, bytes, epoch, writer: `${node}.${epoch}` };
  }
}

interface Lead {
  readonly epoch: number;
  readonly writer: string;
  hasEnded: boolean;
}

type Pending = () => void;

class DrawnNode {
  readonly name: string;
  state: RoleState;
  received = 0;
  applied = 0;
  stored = 0;
  isEligible = true;
  isDead = false;
  /** True while the subscription to records delivers. */
  isFollowing = true;
  lead: Lead | undefined;
  claimed: { readonly lead: Lead; readonly sequence: number } | undefined;
  pending: Pending[] = [];
  handovers = 0;
  handoversEnded = 0;
  wasClosed = false;
  overs = 0;
  private readonly log: SharedLog;
  private readonly rules: RoleRules;

  constructor(name: string, log: SharedLog, mayLead: boolean, records: number) {
    this.name = name;
    this.log = log;
    this.state = initialState(log.now);
    this.received = records;
    this.applied = records;
    this.stored = records;
    this.rules = {
      node: name,
      advertise: `http://${name}`,
      peers: `peers://${name}:1`,
      venue: 'test',
      mayLead,
      silenceMs: SILENCE_MS,
      capacities: TIGHT,
    };
  }

  get leads(): boolean {
    return this.state.role === 'leading';
  }

  dispatch(event: RoleEvent): void {
    if (this.isDead) return;
    const { applied, isEligible, received, state } = this;
    const observed = { now: this.log.now, received, applied, isEligible };
    const isRepeated = this.log.random.chance(REPEATED);
    const before = isRepeated ? structuredClone(state) : undefined;
    const next = transition(this.rules, state, event, observed);
    if (isRepeated) {
      assert.deepEqual(structuredClone(state), before, 'a transition leaves its state as it is');
      assert.deepEqual(transition(this.rules, state, event, observed), next, 'and is repeatable');
    }
    this.state = next.state;
    for (const effect of next.effects) this.run(effect);
    if (this.wasClosed) assert(!this.leads || this.pending.length > 0, 'a closed node leads');
  }

  private later(work: () => RoleEvent): void {
    this.pending.push(() => this.dispatch(work()));
  }

  private run(effect: RoleEffect): void {
    const { log } = this;
    switch (effect.type) {
      case 'claim-read-tail':
        this.later(() => ({ type: 'claim-tail', tail: log.tail }));
        break;
      case 'claim-await-applied':
        this.later(() => ({ type: 'claim-caught-up' }));
        break;
      case 'claim-read-heartbeat':
        this.later(() => {
          const { bytes } = log;
          return { type: 'claim-heartbeat', bytes, heartbeat: bytes && decode(bytes) };
        });
        break;
      case 'claim-write':
        assert.equal(this.applied, effect.tail.sequence, 'a node that is behind claims');
        this.later(() => this.write(effect));
        break;
      case 'claim-apply':
        this.later(() => this.applyClaim());
        break;
      case 'lead':
        this.beginLead(effect.epoch);
        break;
      case 'send-heartbeat': {
        const { lead } = this;
        const sentAt = log.now;
        this.later(() => {
          const error = this.put(lead!, effect.heartbeat, { leaves: false });
          const type = 'heartbeat-answered';
          return error === undefined ? { type, sentAt } : { type, sentAt, error };
        });
        break;
      }
      case 'send-last': {
        const { lead } = this;
        const sentAt = log.now;
        this.later(() => {
          const error = this.put(lead!, effect.heartbeat, endOf(effect.outgoing, log.tail));
          const type = 'last-answered';
          return error === undefined ? { type, sentAt } : { type, sentAt, error };
        });
        break;
      }
      case 'drain':
        this.later(() => ({ type: 'drained' }));
        break;
      case 'release-writer':
        this.lead!.hasEnded = true;
        this.lead = undefined;
        this.later(() => ({ type: 'durable', stored: this.stored }));
        break;
      case 'end-writer':
        if (this.lead !== undefined) this.lead.hasEnded = true;
        if (this.claimed !== undefined) this.claimed.lead.hasEnded = true;
        break;
      case 'follow':
        this.received = this.stored;
        this.applied = this.stored;
        this.isFollowing = true;
        break;
      case 'handover-ended':
        this.handoversEnded += 1;
        break;
      case 'catch-up':
        this.catchUp();
        break;
      case 'over':
        this.overs += 1;
        break;
      case 'fatal':
        throw effect.error;
    }
  }

  /** Reads the tail after a stall, again and again until it is there. */
  catchUp(): void {
    const { stalls } = this.state;
    this.later(() => ({ type: 'caught-up', stalls, sequence: this.log.tail.sequence }));
  }

  private write(effect: Extract<RoleEffect, { type: 'claim-write' }>): RoleEvent {
    const { log } = this;
    const isSeen = effect.seen === undefined || log.bytes?.equals(effect.seen) === true;
    if (log.tail !== effect.tail || !isSeen) {
      return { type: 'claim-failed', error: new WrongSequence(0, 0) };
    }
    const epoch = effect.tail.epoch + 1;
    log.append(this.name, epoch);
    const { sequence, writer } = log.tail;
    const lead = { epoch, writer, hasEnded: false };
    log.bytes = this.heartbeat(epoch, sequence, effect.heartbeat, { leaves: false });
    this.claimed = { lead, sequence };
    return { type: 'claim-written' };
  }

  private applyClaim(): RoleEvent {
    const { lead, sequence } = this.claimed!;
    this.isFollowing = false;
    if (this.received === sequence - 1) this.received = sequence;
    this.applied = this.received;
    this.stored = this.received;
    return { type: 'claim-applied', sequence, epoch: lead.epoch, stored: this.stored };
  }

  private beginLead(epoch: number): void {
    const { lead, sequence } = this.claimed!;
    assert.equal(lead.epoch, epoch);
    assert(!this.log.leaders.has(epoch), `two nodes lead epoch ${epoch}`);
    this.log.leaders.set(epoch, this.name);
    assert.equal(this.applied, sequence, 'a leader has applied every record before its own');
    assert(this.rules.mayLead, 'a replica leads');
    assert(!this.wasClosed, 'a closed node leads');
    this.claimed = undefined;
    this.lead = lead;
  }

  append(): void {
    const { lead, log } = this;
    if (!this.leads || lead === undefined || lead.hasEnded) return;
    if (log.tail.writer !== lead.writer) {
      this.dispatch({ type: 'lost', why: new WrongSequence(0, 0) });
      return;
    }
    log.append(this.name, lead.epoch);
    this.received = log.tail.sequence;
    this.applied = this.received;
    this.stored = this.received;
  }

  receive(): void {
    if (!this.isFollowing || this.received >= this.log.tail.sequence) return;
    this.received += 1;
  }

  apply(): void {
    if (this.applied < this.received) this.applied += 1;
    this.stored = this.applied;
  }

  private put(lead: Lead, order: HeartbeatOrder, end: HeartbeatEnd): Error | undefined {
    const { log } = this;
    if (lead.hasEnded) return new Error('the writer has ended');
    if (log.tail.epoch !== lead.epoch) return new WrongSequence(0, 0);
    log.bytes = this.heartbeat(lead.epoch, log.tail.sequence, order, end);
    return undefined;
  }

  private heartbeat(
    epoch: number,
    sequence: number,
    { afterLeave, count }: HeartbeatOrder,
    end: HeartbeatEnd,
  ): Buffer {
    const { advertise, capacities, node, peers } = this.rules;
    const own = { node, epoch, advertise, peers, sequence, capacities, count, afterLeave };
    return encode({ ...own, ...end });
  }
}

type HeartbeatEnd = Pick<Heartbeat, 'handover' | 'leaves' | 'next' | 'nextPeers' | 'tail'>;

function endOf(outgoing: OutgoingHandover | undefined, tail: Tail): HeartbeatEnd {
  if (outgoing === undefined) return { leaves: true };
  const { handover, next, nextPeers } = outgoing;
  return { leaves: true, next, nextPeers, tail, handover };
}

class Stage {
  readonly log: SharedLog;
  readonly nodes: DrawnNode[];
  readonly ended: DrawnNode[] = [];
  isAppending = true;
  private readonly random: Random;
  private readonly heartbeats: Buffer[] = [];

  constructor(random: Random) {
    this.random = random;
    this.log = new SharedLog(random);
    this.nodes = Array.from({ length: NODES }, (_, i) => this.begin(`n${i}`, 0));
  }

  private begin(name: string, records: number): DrawnNode {
    return new DrawnNode(name, this.log, name !== 'n2', records);
  }

  restart(index: number): void {
    const node = this.nodes[index]!;
    node.isDead = true;
    this.ended.push(node);
    this.nodes[index] = this.begin(node.name, node.stored);
  }

  /** A process ends by itself, once its answers have come. */
  private replace(index: number): void {
    const node = this.nodes[index]!;
    while (node.pending.length > 0) node.pending.shift()!();
    assert.equal(node.handoversEnded, node.handovers, 'a handover of a node that restarts ends');
    this.restart(index);
  }

  quiet(): void {
    const { log, random } = this;
    const node = random.pick(this.nodes);
    const draw = random.below(9);
    if (draw === 0) log.now += random.below(SILENCE_MS / 15);
    else if (draw === 1) node.dispatch({ type: 'tick' });
    else if (draw === 2) node.dispatch({ type: 'heartbeat-due' });
    else if (draw === 3) this.deliver(node);
    else if (draw === 4) node.receive();
    else if (draw === 5) node.apply();
    else if (draw === 6 && this.isAppending) node.append();
    else node.pending.shift()?.();
    for (const [index, { state }] of this.nodes.entries()) {
      if (state.role === 'over' || state.role === 'closed') this.replace(index);
    }
  }

  failing(): void {
    const { log, random } = this;
    const index = random.below(NODES);
    const node = this.nodes[index]!;
    const draw = random.chance(FAILING) ? random.below(12) : Infinity;
    if (draw === 0) log.now += random.below(3 * SILENCE_MS);
    else if (draw === 1) this.lose(node);
    else if (draw === 2) this.handOver(node);
    else if (draw === 3) node.append();
    else if (draw === 4) node.dispatch({ type: 'stalled', since: log.now - SILENCE_MS });
    else if (draw === 5) {
      const problem = random.chance(30) ? 'no answer' : undefined;
      node.dispatch({ type: 'log-problem', problem });
    } else if (draw === 6) this.deliverOld(node);
    else if (draw === 7 && random.chance(10)) this.restart(index);
    else if (draw === 8 && random.chance(10)) this.close(node);
    else if (draw === 9) node.isEligible = random.chance(80);
    else if (draw === 10) {
      const problem = random.chance(30) ? 'full' : undefined;
      node.dispatch({ type: 'room', problem });
    } else if (draw === 11 && node.state.claim?.phase === 'apply') {
      log.append('another node', log.tail.epoch + 1);
    } else this.quiet();
  }

  /** Loses an answer: the request was lost, or was executed. */
  private lose(node: DrawnNode): void {
    const { claim } = node.state;
    const isWriting = claim?.phase === 'write' || claim?.phase === 'apply';
    // The tail writer makes an outcome certain; other reads fail.
    if (claim === undefined || isWriting) return;
    node.pending = [];
    node.dispatch({ type: 'claim-failed', error: new Error('no answer') });
    if (node.state.isStalled) node.catchUp();
  }

  private handOver(node: DrawnNode): void {
    if (!node.leads || node.state.isClosing) return;
    const next = this.random.pick(this.nodes).name;
    node.handovers += 1;
    const outgoing = { next, nextPeers: `peers://${next}:1`, handover: HANDOVER };
    node.dispatch({ type: 'handover', outgoing });
  }

  private close(node: DrawnNode): void {
    node.dispatch({ type: 'closing' });
    if (node.state.claim !== undefined) return;
    node.wasClosed = true;
    node.dispatch({ type: 'close' });
  }

  private deliver(node: DrawnNode): void {
    const { bytes } = this.log;
    if (bytes === undefined) return;
    if (this.heartbeats.at(-1)?.equals(bytes) !== true) this.heartbeats.push(bytes);
    node.dispatch({ type: 'heartbeat', bytes, heartbeat: decode(bytes) });
  }

  private deliverOld(node: DrawnNode): void {
    if (this.heartbeats.length === 0) return;
    const bytes = this.random.pick(this.heartbeats);
    const before = node.state;
    node.dispatch({ type: 'heartbeat', bytes, heartbeat: decode(bytes) });
    const { count, epoch } = decode(bytes);
    const { newest } = before;
    const isOld = epoch < before.epoch || (epoch === newest?.epoch && count < (newest?.count ?? 0));
    if (isOld) assert.equal(node.state.newest, newest, 'an overtaken heartbeat counts for nothing');
  }
}

test('every drawn schedule has one leader an epoch, with every earlier record', () =>
  seeded(async (random) => {
    const stage = new Stage(random);
    for (let step = 0; step < STEPS; step++) stage.failing();
    for (const node of stage.nodes) {
      node.isEligible = true;
      node.dispatch({ type: 'log-problem', problem: undefined });
      node.dispatch({ type: 'room', problem: undefined });
    }
    for (const [index, node] of stage.nodes.entries()) {
      if (node.state.isClosing) stage.restart(index);
    }
    stage.isAppending = false;
    const isWell = (): boolean => {
      const leader = stage.nodes.find(({ leads }) => leads);
      if (leader === undefined || leader.lead!.epoch !== stage.log.tail.epoch) return false;
      return stage.nodes.every(({ applied }) => applied === stage.log.tail.sequence);
    };
    let steps = 0;
    for (; steps < QUIET_STEPS && !isWell(); steps++) stage.quiet();
    assert(isWell(), 'a node leads and the others follow once nothing fails');
    while (stage.nodes.some(({ state }) => state.outgoing !== undefined)) stage.quiet();
    for (const { handovers, handoversEnded } of stage.nodes) {
      assert.equal(handoversEnded, handovers, 'each handover ends once');
    }
    for (const { handovers, handoversEnded } of stage.ended) {
      assert(handoversEnded <= handovers, 'no handover ends twice');
    }
  }));

test('a closed node does not lead after any step of its claim', () => {
  for (let steps = 0; steps < 6; steps++) {
    const log = new SharedLog(new Random(1));
    const node = new DrawnNode('n0', log, true, 0);
    log.now += SILENCE_MS / 2;
    node.dispatch({ type: 'tick' });
    log.now += SILENCE_MS / 2;
    node.dispatch({ type: 'tick' });
    assert.equal(node.state.role, 'claiming');
    for (let step = 0; step < steps; step++) node.pending.shift()?.();
    const led = node.leads;
    node.dispatch({ type: 'closing' });
    while (node.state.claim !== undefined) node.pending.shift()!();
    node.dispatch({ type: 'close' });
    while (node.pending.length > 0) node.pending.shift()!();
    assert.equal(node.state.role, 'closed', `after ${steps} steps`);
    assert.equal(log.leaders.size, led ? 1 : 0);
    if (led) assert(decode(log.bytes!).leaves, 'a leader that closes says so');
  }
});

test('a leader whose heartbeats the log does not accept pauses orders until one is accepted', () => {
  const log = new SharedLog(new Random(1));
  const node = new DrawnNode('n0', log, true, 0);
  for (let tick = 0; tick < 3; tick++) {
    log.now += SILENCE_MS / 2;
    node.dispatch({ type: 'tick' });
  }
  while (!node.leads) node.pending.shift()!();
  const { confirmedAt } = node.state;
  log.now += SILENCE_MS + 1;
  node.dispatch({ type: 'tick' });
  assert.equal(node.state.problem, 'the log of the cluster does not answer');
  assert(isUnconfirmed(node.state, SILENCE_MS, log.now));
  node.dispatch({ type: 'heartbeat-due' });
  while (node.pending.length > 0) node.pending.shift()!();
  assert(node.state.confirmedAt > confirmedAt);
  assert.equal(node.state.problem, undefined);
});
