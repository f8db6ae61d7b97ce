/**
 * Kill -9 of a node in the middle of its resolutions. The directory then has each wallet before or
 * after its payout, and every sum. The next start continues by itself, and at the end every wallet
 * has its amounts by the naive ledger.
 */
import assert from 'node:assert/strict';
import { readConfig } from '../../server/config/config.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, SMALL_NODE, temporaryDirectory, until } from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { Random } from '../common/random.ts';
import { verified } from '../common/verified.ts';
import { type Done, Pace, type PartOptions, seedOf, withRoundSeed } from './part.ts';
import {
  addressOf,
  between,
  conditionOf,
  type Held,
  paidOf,
  ResolutionVenue,
  tokenOf,
  WALLETS,
} from './resolution-venue.ts';
import { recoverFrom } from './simulated-node.ts';

/** Markets of a data directory: the naive ledger takes the square of its orders. */
const MARKETS = 2;
const SEGMENT_BYTES = 1 << 18;
const SETTINGS = {
  LEDGER: 'on',
  ORDERS_MAX: '32768',
  ORDER_HISTORY: '32768',
  POSITIONS_MAX: '24576',
  LOG_SEGMENT_BYTES: String(SEGMENT_BYTES),
  IMAGE_BATCHES: '9',
};
const VECTORS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [3, 7],
  [1, 9_998],
];
/** Writes of the log in a life at most. */
const WRITES_MAX = 6;
const KILL_MS_MAX = 30;
const SAMPLE = 40;

interface Sums {
  between: number;
  kills: number;
  paid: number;
  markets: number;
  orders: number;
}

export async function resolutions(options: PartOptions): Promise<Done> {
  const pace = new Pace(options, 'kills in the middle of a resolution');
  const sums: Sums = { between: 0, kills: 0, paid: 0, markets: 0, orders: 0 };
  for (let more = true, rounds = 0; more; rounds += 1) {
    const before = sums.between;
    const isOver = (): boolean => pace.count + sums.between - before >= options.goal;
    await withRoundSeed('resolutions', seedOf(options.seed, rounds), (seed) =>
      runRound(seed, Math.min(MARKETS, options.goal), sums, isOver),
    );
    more = pace.goesOn(sums.between - before);
  }
  const { kills, markets, orders, paid } = sums;
  return pace.done(
    `of ${kills} kills in all, ${paid} wallets were paid by then; ${markets} markets with ` +
      `${WALLETS} wallets and ${orders} open orders came to their end`,
  );
}

async function runRound(
  seed: number,
  markets: number,
  sums: Sums,
  isOver: () => boolean,
): Promise<void> {
  useCompiledNodes();
  const random = new Random(seed);
  const configured = readConfig({ ...SMALL_NODE, ...SETTINGS }, [], 1);
  assert(configured.ok);
  const { capacities } = configured.config;
  const venue = new ResolutionVenue(random, markets, capacities);
  const dataDir = temporaryDirectory();
  await venue.store(dataDir, capacities);
  const recovered = async () => {
    const kept = { capacities, durability: 'flushed', segmentBytes: SEGMENT_BYTES } as const;
    return (await recoverFrom(dataDir, kept, true)).recovered.engine.t;
  };
  for (let market = 1; market <= markets && !isOver(); market++) {
    sums.orders += venue.openOrders(market);
    sums.markets += 1;
    const request = requestOf(random, market);
    const before = venue.held(market);
    venue.resolve(market, request.payout, false);
    const stage: Stage = { market, request, before, after: venue.held(market), random };
    for (let state: Found = 'before'; state === 'before' || (state === 'between' && !isOver()); ) {
      const isKnown = await life(dataDir, stage, state === 'before');
      const { isResolving, paid } = between(await recovered(), market, before, stage.after);
      state = isResolving ? 'between' : paid > 0 ? 'after' : 'before';
      assert(!isKnown || state !== 'before', 'what was answered is there');
      sums.kills += 1;
      sums.between += isResolving ? 1 : 0;
      sums.paid += isResolving ? paid : 0;
      await verified(dataDir, SETTINGS);
    }
    const operator = await OperatorNode.start(dataDir, SETTINGS);
    await checkEnd(operator, venue, stage);
    await operator.node.stop();
  }
  venue.compareAll(await recovered());
  await verified(dataDir, SETTINGS);
}

type Found = 'before' | 'between' | 'after';

/**
 * A life of the node that ends by SIGKILL: at a start, in a step of the resolution, or after it.
 * Returns true when the resolution was answered.
 *
 * @param asks true while no trace of the resolution was found: it is requested again, under the
 * same id
 */
async function life(dataDir: string, stage: Stage, asks: boolean): Promise<boolean> {
  const { random, request } = stage;
  // A first start writes before it is asked for anything.
  const write = `${random.pick(['', '+'])}${random.between(1, WRITES_MAX) + (asks ? 2 : 0)}`;
  const isByWrite = random.chance(75);
  const faults = isByWrite ? preloaded({ FAULT_WRITE_KILLS: write }) : {};
  const operator = await OperatorNode.start(dataDir, { ...SETTINGS, ...faults }).catch(
    (error: Error) => {
      // It may be killed before it serves, where it goes on with what it found.
      assert(isByWrite && !/stopping|Error/.test(error.message), error.message);
    },
  );
  if (operator === undefined) return false;
  const answer = asks ? operator.call(RESOLVE, request).catch(() => undefined) : undefined;
  let isAnswered = !asks;
  void answer?.then(() => {
    isAnswered = true;
  });
  const most = isByWrite ? Number.POSITIVE_INFINITY : random.below(KILL_MS_MAX);
  let begunAt = Number.POSITIVE_INFINITY;
  while (!operator.node.hasEnded && performance.now() - begunAt < most) {
    try {
      const isBegun = isAnswered || (await isPaying(operator));
      if (isBegun) begunAt = Math.min(begunAt, performance.now());
      await lookAt(operator, random.between(1, WALLETS), stage);
      if (isAnswered && !(await isPaying(operator))) break;
    } catch (error) {
      // `fetch` says so where there is no node any more.
      if (!(error instanceof TypeError)) throw error;
    }
  }
  await operator.node.end('SIGKILL');
  return (await answer)?.status === 200;
}

const RESOLVE = 'POST /admin/markets/resolve';

interface Request {
  readonly condition: string;
  readonly payout: number[];
  readonly id: string;
}

interface Stage {
  readonly market: number;
  readonly request: Request;
  readonly before: readonly Held[];
  readonly after: readonly Held[];
  readonly random: Random;
}

function requestOf(random: Random, market: number): Request {
  const payout = random.pick(VECTORS);
  return { condition: conditionOf(market), payout, id: `${Date.now()}-resolve-${market}` };
}

const isPaying = async (operator: OperatorNode): Promise<boolean> =>
  Number((await operator.done('GET /admin/ledger')).resolving) > 0;

interface Balance {
  readonly cash: { readonly total: string; readonly reserved: string };
  readonly positions: readonly { readonly token_id: string; readonly total: string }[];
}

const micro = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  const sign = whole.startsWith('-') ? -1n : 1n;
  return sign * (BigInt(whole.replace('-', '')) * 1_000_000n + BigInt(fraction.padEnd(6, '0')));
};

/** Returns true once it has been paid. */
async function lookAt(
  operator: OperatorNode,
  wallet: number,
  { after, before, market }: Stage,
): Promise<boolean> {
  const query = `?wallet=${addressOf(wallet)}`;
  const told = await operator.done('GET /admin/ledger/balance', undefined, query);
  const { cash, positions } = told as unknown as Balance;
  const shares = [0, 1].map((outcome) => {
    const token = tokenOf(market, outcome);
    return micro(positions.find(({ token_id }) => token_id === token)?.total ?? '0');
  });
  const held = { cash: micro(cash.total), shares };
  return paidOf(held, before[wallet]!, after[wallet]!, `wallet ${wallet} over HTTP`) === 1;
}

/** Waits for the end of the resolution; checks that every wallet is paid exactly once. */
async function checkEnd(
  operator: OperatorNode,
  venue: ResolutionVenue,
  stage: Stage,
): Promise<void> {
  const { after, market, random, request } = stage;
  await until(async () => !(await isPaying(operator)));
  const again = await operator.done(RESOLVE, request);
  assert.deepEqual([again.repeated, again.payout], [true, request.payout]);
  const paid = { ...stage, before: after };
  for (let i = 0; i < SAMPLE; i++) await lookAt(operator, random.between(1, WALLETS), paid);
  const sums = await operator.done('GET /admin/ledger');
  const names = ['deposited', 'fees', 'rounding', 'collateral'];
  assert.deepEqual(
    names.map((name) => micro(String(sums[name]))),
    venue.sums(),
  );
  assert.equal(sums.imbalance, '0');
  await until(async () => {
    const { json } = await get(operator.node, `/clob/markets/${conditionOf(market)}`);
    return (json as { closed: boolean }).closed;
  });
}
