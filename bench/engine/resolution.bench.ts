/**
 * The turns of a resolution: a market with many holders, each with a resting order, ends step by step. Prints the
 * longest and the median turn of the engine, by the clock and by the time that the thread ran.
 *
 * Not measured: the log, the streams, the threads that follow.
 */
import { readFileSync } from 'node:fs';
import { audit } from '../../engine/audit.ts';
import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeFunds,
  encodeMarket,
  encodeOrder,
  encodeResolve,
  encodeResolveStep,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { EVENTS_MAX, EventBuffer } from '../../engine/events.ts';
import { nextResolving } from '../../engine/ledger/reads.ts';
import { openOrders } from '../../engine/reads.ts';
import { RESOLVE_STEP_MAX } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { allocateEngine } from '../../engine/tables/tables.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  TokenRow,
} from '../../engine/tables/units.ts';
import { Random } from '../random.ts';

const CASH = 10_000_000;
const SETS = 8_000_000;
const SHARES = 2_000_000;
const MARKET = 1 as MarketRow;
const GRID = 1_000;
const NO_KEY = new Int32Array(API_KEY_WORDS);

const NOBODY = new Int32Array(new SharedArrayBuffer(4));
const WAIT_MS = 0.05;

interface Turn {
  readonly what: string;
  readonly ms: number;
  readonly cpuMs: number;
}

class Venue {
  readonly engine: Engine;
  private readonly events = new EventBuffer(EVENTS_MAX);
  private readonly random = new Random('resolution');
  private time = 1;

  constructor(holders: number) {
    const capacities = {
      markets: 4,
      tokens: 8,
      accounts: holders + 1,
      orders: 2 * holders,
      levels: 4 * GRID,
      trades: 65_536,
      history: 32_768,
      positions: 2 * holders + 2,
      operatorIds: 16,
    };
    this.engine = new Engine(allocateEngine(capacities), this.events);
    const out = new CommandBuffer(1 << 10);
    encodeConfigure(out, 0, capacities.history, 0, 0, 0, true);
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: GRID,
      baseFeeBps: 0,
      minSize: 1 as MicroShares,
    } as const;
    encodeMarket(out, fields, this.key(ID_WORDS), [this.key(ID_WORDS), this.key(ID_WORDS)]);
    this.turn(out);
    for (let holder = 0; holder < holders; holder++) this.join(holder);
  }

  /** A wallet with shares of both outcomes and an order in the book. */
  private join(holder: number): void {
    const wallet = this.key(ADDRESS_WORDS);
    const id = (n: number) => ({ isOperator: true, ms: 1, key: Int32Array.of(holder, n, 0, 0) });
    const out = new CommandBuffer(1 << 8);
    encodeFunds(out, 'deposit', { id: id(1), wallet, amount: CASH });
    encodeFunds(out, 'split', { id: id(2), wallet, market: MARKET, amount: SETS });
    const isBid = holder % 2 === 0;
    const tick = isBid ? 1 + this.random.below(400) : 600 + this.random.below(399);
    encodeOrder(out, {
      token: 1 as TokenRow,
      side: isBid ? Side.buy : Side.sell,
      type: OrderType.GTC,
      postOnly: false,
      shares: SHARES as MicroShares,
      collateral: ((SHARES * tick) / GRID) as MicroCollateral,
      expiration: 0,
      feeRateBps: 0,
      signatureType: 0,
      precheck: 0,
      id: this.key(ID_WORDS),
      maker: wallet,
      signer: wallet,
      apiKey: NO_KEY,
    });
    this.turn(out);
  }

  /** One batch, as a worker applies it. */
  turn({ f64, i32, words }: CommandBuffer): void {
    const { engine } = this;
    engine.begin(this.time, 0);
    let at = 0;
    while (at < words) {
      const reason = engine.apply(i32, f64, at);
      if (reason !== 0) throw new Error(`a command was refused by rule ${reason}`);
      at += commandWords(i32, at);
    }
    engine.end();
    this.time += 1;
  }

  private key(words: number): Int32Array {
    return Int32Array.from({ length: words }, () => this.random.below(2 ** 32) | 0);
  }
}

/** Processor time of this thread. The clock would count other processes, the process its other threads. */
function threadMs(): number {
  // The kernel counts up to when a thread was put aside last.
  Atomics.wait(NOBODY, 0, 0, WAIT_MS);
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

/** The first market of a process that resolves: its code is cold. Returns how many turns it took. */
export function resolutionSuite(holders: number): number {
  const venue = new Venue(holders);
  const { t } = venue.engine;
  const turns: Turn[] = [];
  const timed = (what: string, encode: (out: CommandBuffer) => void): void => {
    const out = new CommandBuffer(1 << 8);
    encode(out);
    const before = threadMs();
    const start = performance.now();
    venue.turn(out);
    const ms = performance.now() - start;
    turns.push({ what, ms, cpuMs: threadMs() - before });
  };
  const id = { isOperator: true, ms: 1, key: Int32Array.of(-1, 0, 0, 0) };
  timed('resolve', (out) => encodeResolve(out, { id, market: MARKET, weights: [1, 0] }));
  while (nextResolving(t) !== 0) {
    const what = openOrders(t) === 0 ? 'pay' : 'orders';
    timed(what, (out) => encodeResolveStep(out, MARKET, RESOLVE_STEP_MAX));
  }
  audit(t);
  process.stdout.write(`resolution, ${holders} holders and orders, ${turns.length} turns\n`);
  for (const by of ['ms', 'cpuMs'] as const) {
    const order = turns.toSorted((a, b) => b[by] - a[by]);
    const median = order[order.length >> 1]![by];
    const longest = order.slice(0, 5);
    const shown = longest.map(
      (turn) => `${turn[by].toFixed(2)} (${turn.what} ${turns.indexOf(turn)})`,
    );
    process.stdout.write(`  ${by}: median ${median.toFixed(3)}, longest ${shown.join(', ')}\n`);
  }
  return turns.length;
}
