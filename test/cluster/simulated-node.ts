/**
 * A node of a simulated cluster: roles, sequencer and live tables, with its own log in memory and
 * the shared log over a network that the test breaks. It starts again by itself, like the process
 * of a node.
 */
import assert from 'node:assert/strict';
import { CommandBuffer, encodeControlRecord } from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { closedCount, engineTime, stateDigest } from '../../engine/reads.ts';
import { BATCH_COMMANDS_MAX } from '../../engine/tables/capacities.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import { Announcements } from '../../server/cluster/announced.ts';
import { ClusterClock } from '../../server/cluster/cluster-clock.ts';
import { epochRecord } from '../../server/cluster/epoch-record.ts';
import { Roles } from '../../server/cluster/roles.ts';
import { allocateSlots } from '../../server/orders/exchange-memory/slots.ts';
import { sendCommands } from '../../server/orders/intake/internal-commands.ts';
import { Sequencer } from '../../server/orders/intake/sequencer.ts';
import { Unreachable } from '../../storage/log/log.ts';
import { batchOf, replay } from '../../storage/recovery/replay.ts';
import { ClusterLog } from '../../storage/replicated-log/cluster-log.ts';
import { FakeLog, type FakeStore } from '../storage/fake-log.ts';
import { Faults, type MemoryCluster, MemoryLog } from '../storage/memory-log.ts';
import { TIGHT } from '../storage/stored-exchange.ts';
import { InlinePool } from './inline-pool.ts';

export const SILENCE_MS = 120;
const SETTINGS = {
  selfTrade: 0,
  openOrdersPerAccount: 0,
  walletsPerSigner: 0,
  openOrdersPerWallet: 0,
  exposurePerWallet: 0,
  ledger: false,
};
export const NOTE_KIND = 200;

interface Run {
  readonly roles: Roles;
  readonly sequencer: Sequencer;
  readonly pool: InlinePool;
  readonly faults: Faults;
  readonly replicated: MemoryLog;
  readonly log: ClusterLog;
}

export class SimulatedNode {
  readonly name: string;
  store: FakeStore = { entries: [] };
  readonly fatal: string[] = [];
  starts = 0;
  overs = 0;
  run: Run | undefined;
  /** Next leader of each handover, `undefined` where it is unknown. */
  readonly nexts: (string | undefined)[] = [];
  /** Reason of the shared log for refusing requests. */
  problem: string | undefined;
  /** True when it has everything that a leader needs. */
  isMember = true;
  /** Milliseconds by which its clock is wrong. */
  wallAhead = 0;
  private readonly cluster: MemoryCluster;
  private readonly mayLead: boolean;
  private readonly capacities;

  constructor(name: string, cluster: MemoryCluster, mayLead = true, capacities = TIGHT) {
    this.name = name;
    this.cluster = cluster;
    this.mayLead = mayLead;
    this.capacities = capacities;
  }

  get leads(): boolean {
    return this.run?.roles.role === 'leading';
  }

  start(): void {
    assert(this.run === undefined, `${this.name} runs`);
    this.starts += 1;
    const engine = new Engine(allocateEngine(this.capacities));
    for (const entry of this.store.entries) replay(engine, entry, batchOf(entry));
    const { t } = engine;
    const log = new ClusterLog(new FakeLog(this.store));
    const slots = allocateSlots(4, 4_096, BATCH_COMMANDS_MAX);
    const pool = new InlinePool(t, slots);
    const clock = new ClusterClock(engineTime(t));
    const faults = new Faults();
    const replicated = new MemoryLog(this.cluster, faults);
    // A leader trims its log each ten seconds. A node that starts behind what is left takes a copy, which is not simulated.
    replicated.trim = () => Promise.resolve();
    let roles: Roles | undefined;
    const onFatal = (error: Error): void => {
      if (pool.isDead) return;
      const wrote = roles !== undefined && /^(leading|handing)/.test(roles.role);
      if (wrote && log.failure !== undefined) roles!.lost(error);
      else this.fatal.push(`${this.name}: ${error.message}`);
    };
    const sequencer = new Sequencer({
      tables: t,
      slots,
      pool,
      log,
      workers: 2,
      prefetch: 2,
      queueMax: 1_000,
      now: clock.now,
      closedPersisted: () => closedCount(t),
      onFlushed: () => undefined,
      onFatal,
      warn: (line) => this.fatal.push(line),
      metrics: undefined,
    });
    roles = new Roles({
      rules: {
        node: this.name,
        advertise: `http://${this.name}`,
        peers: `peers://${this.name}:1`,
        venue: 'test',
        mayLead: this.mayLead,
        silenceMs: SILENCE_MS,
        capacities: t.capacities,
      },
      key: '',
      announcements: new Announcements(replicated, 'test', () => undefined),
      isMember: () => this.isMember,
      replicated,
      log,
      tables: t,
      sequencer,
      clock,
      wall: () => Date.now() + this.wallAhead,
      epochRecord: (handover) => epochRecord(t, SETTINGS, handover),
      waiting: () => 0,
      calls: {
        onLead: () => undefined,
        onFollow: () => undefined,
        onLeader: () => undefined,
        onNext: (next) => void this.nexts.push(next?.node),
        onProblem: (problem) => {
          this.problem = problem;
        },
        onOver: () => {
          this.overs += 1;
          this.kill();
          this.start();
        },
        onFatal,
      },
      print: () => undefined,
    });
    sequencer.begin();
    this.run = { roles, sequencer, pool, faults, replicated, log };
    const { digest } = log;
    assert.equal(stateDigest(t), digest);
  }

  /** Ends the run like kill -9; requests on their way may still arrive. */
  kill(): void {
    const { run } = this;
    if (run === undefined) return;
    this.run = undefined;
    // What it is about to write is not written.
    this.store = { entries: [...this.store.entries] };
    run.pool.isDead = true;
    void run.roles.stopFollowing();
    void run.roles.close();
    void run.replicated.close();
    run.faults.isCut = true;
  }

  /** Stops claims of the lead, but for a handover, until `looks` is called. */
  looksAway(): { looks(): void } {
    const { replicated } = this.run!;
    const tail = replicated.tail.bind(replicated);
    replicated.tail = () => Promise.reject(new Unreachable('the test says so'));
    return {
      looks: () => {
        replicated.tail = tail;
      },
    };
  }

  /**
   * Sends a number as a control record; returns the reason of a refusal, `undefined` once
   * acknowledged.
   */
  async record(number: number): Promise<string | undefined> {
    const { run } = this;
    if (run === undefined) return 'busy';
    const out = new CommandBuffer(16);
    encodeControlRecord(out, NOTE_KIND, Buffer.from(`${number}`.padStart(8)));
    const outcome = await sendCommands(run.sequencer, out.i32.slice(0, out.words));
    return typeof outcome === 'string' ? outcome : undefined;
  }
}
