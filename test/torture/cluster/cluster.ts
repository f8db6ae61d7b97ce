/**
 * A cluster on a real etcd under load, and faults one after the other (faults.ts). After each, no
 * acknowledged order, cancel or key is lost, and none was applied twice. All nodes have equal
 * books, those of the load, and one order of events explains all reads (history.ts).
 */
import assert from 'node:assert/strict';
import { NO_ETCD } from '../../../bench/common/etcd.ts';
import type { MarketTerms } from '../../common/node-harness.ts';
import { Random } from '../../common/random.ts';
import { type Done, Pace, type PartOptions, seedOf, withRoundSeed } from '../part.ts';
import { FAULTS, type Fault, type FaultPlace } from './faults.ts';
import { History } from './history.ts';
import { ClusterLoad } from './load.ts';
import { Observer } from './observer.ts';
import { ClusterStage } from './stage.ts';

export const ALL_CLUSTER_FAULTS = FAULTS.reduce((sum, { times }) => sum + times, 0);
/** Faults of one cluster, before another one is made. */
const ROUND_FAULTS = 12;
const WARM_ORDERS = 30;
/** Markets, the first for the cancels. */
const MARKETS: readonly MarketTerms[] = [
  { id: 1 },
  { id: 2, tick: 0.001 },
  { id: 3, tick: 0.1, negRisk: true },
  { id: 4, tick: 0.0001, minSize: 1 },
];

interface Sums {
  orders: number;
  recovered: number;
  cancels: number;
  keys: number;
  revoked: number;
  reads: number;
  stale: number;
}

export async function cluster(options: PartOptions): Promise<Done> {
  if (NO_ETCD !== undefined) return { count: options.goal, text: `not run: ${NO_ETCD}` };
  const pace = new Pace(options, 'faults');
  const sums: Sums = {
    orders: 0,
    recovered: 0,
    cancels: 0,
    keys: 0,
    revoked: 0,
    reads: 0,
    stale: 0,
  };
  const tookMs = new Map<string, number[]>();
  let more = true;
  for (let round = 0; more; round++) {
    await withRoundSeed('cluster', seedOf(options.seed, round), async (seed) => {
      const run = new ClusterRun(seed, options, sums, tookMs);
      await run.all((done) => {
        more = pace.goesOn(done);
        return more;
      });
    });
  }
  const { cancels, keys, orders, reads, recovered, revoked, stale } = sums;
  const times = [...tookMs].map(([name, ms]) => `${name} ${timesText(ms)}`);
  return pace.done(
    `${orders} orders acknowledged (${recovered} of them after a lost answer), ${cancels} cancels, ` +
      `${keys} keys and ${revoked} revoked ones, ${reads} books read, ${stale} answers that said stale; ` +
      `orders were taken again after, ms: ${times.join('; ')}`,
  );
}

/**
 * Possible faults, each as often as its table says, shuffled by a fixed seed: a round has those
 * after the ones of the round before, whose seed is one less.
 */
function deckOf(only: readonly string[] | undefined, hasNetwork: boolean): readonly Fault[] {
  const possible = FAULTS.filter(
    ({ name, needsNetwork }) =>
      (only === undefined || only.includes(name)) && (hasNetwork || needsNetwork !== true),
  );
  const names = new Set(FAULTS.map(({ name }) => name));
  assert(possible.length > 0, `faults: ${[...names].join(', ')}`);
  const left = possible.flatMap((fault) => Array.from({ length: fault.times }, () => fault));
  const random = new Random(0);
  const draw = (): Fault => left.splice(random.below(left.length), 1)[0]!;
  return Array.from({ length: left.length }, draw);
}

function timesText(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b);
  return `p50 ${sorted[sorted.length >> 1]}, worst ${sorted.at(-1)} of ${ms.length}`;
}

class ClusterRun {
  private readonly seed: number;
  private readonly o: PartOptions;
  private readonly sums: Sums;
  private readonly tookMs: Map<string, number[]>;

  constructor(seed: number, o: PartOptions, sums: Sums, tookMs: Map<string, number[]>) {
    this.seed = seed;
    this.o = o;
    this.sums = sums;
    this.tookMs = tookMs;
  }

  async all(goesOn: (done: number) => boolean): Promise<void> {
    const { say } = this.o;
    const random = new Random(this.seed);
    const stage = await ClusterStage.open(MARKETS);
    if (!stage.network.isOwn)
      say('no namespaces can be made here: on loopback, without partitions');
    const history = new History();
    const observers: Observer[] = [];
    try {
      await stage.level();
      const load = await ClusterLoad.open(stage, history, this.seed);
      await stage.level();
      observers.push(...stage.nodes.map((_, i) => new Observer(i, stage, load, history)));
      const deck = deckOf(this.o.only, stage.network.isOwn);
      for (let i = 0; i < ROUND_FAULTS; i++) {
        const fault = deck[(this.seed * ROUND_FAULTS + i) % deck.length]!;
        await this.fault(fault, { stage, load, random }, history);
        if (!goesOn(1)) break;
      }
      await Promise.all(observers.map((observer) => observer.stop()));
      load.close();
      await stage.end();
      this.sums.orders += load.acknowledged;
      this.sums.recovered += load.recovered;
      this.sums.cancels += load.cancelled;
      this.sums.keys += load.keys.live.length;
      this.sums.revoked += load.keys.revoked.length;
      this.sums.reads += history.reads;
      for (const { stale } of observers) this.sums.stale += stale;
    } catch (error) {
      say(`what nodes and etcd have written: ${stage.keepLogs()}`);
      throw error;
    } finally {
      await Promise.all(observers.map((observer) => observer.stop()));
      await stage.close();
    }
  }

  private async fault({ name, run }: Fault, place: FaultPlace, history: History): Promise<void> {
    const { load, random, stage } = place;
    const startedAt = performance.now();
    load.start();
    const warm = load.acknowledged + WARM_ORDERS + random.below(WARM_ORDERS);
    while (load.acknowledged < warm) await load.goOn();
    const text = await run(place).catch(async (error: unknown) => {
      // A load that has failed is the cause.
      await load.goOn();
      throw error;
    });
    const [, ms] = /orders after (\d+) ms/.exec(text) ?? [];
    const tookMs = this.tookMs.get(name) ?? [];
    this.tookMs.set(name, [...tookMs, Number(ms)]);
    await stage.repair();
    await load.stop();
    const sequence = await stage.level();
    history.check();
    const problems = [...history.problems];
    for (const [i, address] of stage.addresses.entries()) {
      problems.push(...(await load.compare(address)).map((line) => `n${i}: ${line}`));
    }
    assert.equal(problems.length, 0, `after ${name}, ${text}:\n${problems.join('\n')}`);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    this.o.say(`${name}: ${text}; all well at batch ${sequence}, ${seconds} s`);
  }
}
