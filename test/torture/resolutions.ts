/**
 * Kill -9 of a node in the middle of its resolutions. What lies on the disk then has each wallet before or after its
 * payout, and every sum; the next start goes on by itself; at the end everybody has what the naive ledger says.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../server/config/config.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, SMALL_NODE, temporaryDirectory, until } from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { Random } from '../common/random.ts';
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
import { verified } from './verified.ts';

const MARKETS = 8;
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
const SLOW_WRITE_MS = '4';
const KILL_MS_MAX = 40;
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
  const settings = random.chance(50)
    ? { ...SETTINGS, ...preloaded({ FAULT_WRITE_MS: SLOW_WRITE_MS }) }
    : SETTINGS;
  const recovered = async () => {
    const kept = { capacities, durability: 'flushed', segmentBytes: SEGMENT_BYTES } as const;
    return (await recoverFrom(dataDir, kept, true)).recovered.engine.t;
  };
  let operator = await OperatorNode.start(dataDir, settings);
  for (let market = 1; market <= markets && !isOver(); market++) {
    sums.orders += venue.openOrders(market);
    sums.markets += 1;
    const request = requestOf(random, market);
    const before = venue.held(market);
    venue.resolve(market, request.payout, false);
    const after = venue.held(market);
    const stage = { market, request, before, after, random };
    for (let state = 'before'; ; ) {
      const asked = state === 'before' ? operator.call(RESOLVE, request) : undefined;
      const answer = asked?.catch(() => undefined);
      await whileItResolves(operator, answer, stage);
      const isDone = state === 'after' || (state !== 'before' && random.chance(20));
      if (isDone) break;
      await operator.node.end('SIGKILL');
      const reply = await answer;
      const { isResolving, paid } = between(await recovered(), market, before, after);
      const isBegun = isResolving || paid > 0;
      assert(isBegun || reply?.status !== 200, 'what was answered is there');
      state = isResolving ? 'between' : isBegun ? 'after' : 'before';
      sums.kills += 1;
      sums.between += isResolving ? 1 : 0;
      sums.paid += isResolving ? paid : 0;
      await verified(dataDir, capacities);
      operator = await OperatorNode.start(dataDir, settings);
    }
    await checkEnd(operator, venue, stage);
  }
  await operator.node.stop();
  venue.compareAll(await recovered());
  await verified(dataDir, capacities);
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

/** Until the resolution has begun, and then for a moment; meanwhile whoever looks sees a wallet before or after. */
async function whileItResolves(
  operator: OperatorNode,
  answer: Promise<unknown> | undefined,
  stage: Stage,
): Promise<void> {
  const { random } = stage;
  let isAnswered = answer === undefined;
  void answer?.then(() => {
    isAnswered = true;
  });
  while (!isAnswered && !(await isPaying(operator))) await sleep(0);
  const end = performance.now() + random.below(KILL_MS_MAX);
  do {
    await lookAt(operator, random.between(1, WALLETS), stage);
  } while (performance.now() < end);
}

interface Balance {
  readonly cash: { readonly total: string; readonly reserved: string };
  readonly positions: readonly { readonly token_id: string; readonly total: string }[];
}

const micro = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  const sign = whole.startsWith('-') ? -1n : 1n;
  return sign * (BigInt(whole.replace('-', '')) * 1_000_000n + BigInt(fraction.padEnd(6, '0')));
};

/** Returns whether it has been paid. */
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

/** The resolution comes to its end, by itself; everybody is paid once, and nobody twice. */
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
