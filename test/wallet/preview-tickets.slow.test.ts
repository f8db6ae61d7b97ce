/**
 * Random tickets on quiet books of a whole node with a ledger: each preview equals what the ledger says after
 * the order of the preview was placed, to the micro-unit.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { fromMicro, NodeClient, toMicro, Wallet } from '../../client/client.ts';
import type { PreviewAnswer, PreviewBody } from '../../client/types.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random, rounds } from '../common/random.ts';

const TICKETS = rounds(400);
/** Tickets between two times at which the books are filled up again. */
const FILLED_EACH = 5;

const operator = await OperatorNode.start(temporaryDirectory(), {
  LEDGER: 'on',
  FAUCET: '100000',
});
const clients: NodeClient[] = [];
after(() => {
  for (const client of clients) client.close();
});

interface Market {
  readonly condition: string;
  readonly tokens: readonly string[];
  readonly grid: number;
}

/** A fee schedule, base fees, both, neither; fine and coarse ticks; three outcomes, and so a book for each. */
const TERMS: readonly (readonly [grid: number, outcomes: readonly string[], fees: object])[] = [
  [100, ['Yes', 'No'], { feeRate: '0.07', feeExponent: 1 }],
  [1_000, ['Yes', 'No'], { fee: 100 }],
  [10_000, ['Up', 'Down'], { feeRate: '0.25', feeExponent: 2, fee: 50 }],
  [10, ['Yes', 'No'], { fee: 1000 }],
  [100, ['Ann', 'Ben', 'Cat'], { fee: 37 }],
  [400, ['Yes', 'No'], {}],
];

async function join(name: string): Promise<NodeClient> {
  const wallet = Wallet.fromSeed(name);
  const client = await NodeClient.connect(`http://127.0.0.1:${operator.node.port}`, { wallet });
  clients.push(client);
  return client;
}

const makers = [await join('first maker of tickets'), await join('second maker of tickets')];
const taker = await join('taker of tickets');

async function made(number: number): Promise<Market> {
  const [grid, names, fees] = TERMS[number]!;
  const { condition, tokens } = await operator.done('POST /admin/markets', {
    question: `Ticket ${number}?`,
    outcomes: names,
    tick: String(1 / grid),
    minimum: '1',
    ...fees,
  });
  const market = { condition: String(condition), tokens: tokens as readonly string[], grid };
  for (const client of [...makers, taker]) await client.ledger.split(market.condition, '2000');
  return market;
}

const markets = await Promise.all(TERMS.map((_, number) => made(number)));

/** Offers of two makers around a price, on both sides and of each outcome, in shares of two decimals. */
async function fill(random: Random, { grid, tokens }: Market): Promise<void> {
  for (const client of makers) await client.orders.cancelAll();
  const middle = random.between(Math.ceil(grid / 5), Math.floor((4 * grid) / 5));
  for (let i = random.between(2, 12); i > 0; i--) {
    const outcome = tokens.length === 2 ? random.below(2) : 0;
    const away = random.between(1, Math.ceil(grid / 6));
    const side = random.pick(['BUY', 'SELL'] as const);
    const isBid = (side === 'BUY') === (outcome === 0);
    const tick = isBid ? middle - away : middle + away;
    const own = outcome === 0 ? tick : grid - tick;
    if (own < 1 || own >= grid) continue;
    await random.pick(makers).orders.post({
      tokenId: tokens[outcome]!,
      side,
      price: fromMicro(BigInt((own * 1_000_000) / grid)),
      size: fromMicro(BigInt(random.between(100, 6_000) * 10_000)),
      postOnly: true,
    });
  }
}

function ticket(random: Random, { grid, tokens }: Market): PreviewBody {
  const orderType = random.pick(['GTC', 'FOK', 'FAK', 'FAK'] as const);
  const isPriced = orderType === 'GTC' || random.chance(40);
  const price = fromMicro(BigInt((random.between(1, grid - 1) * 1_000_000) / grid));
  const isExact = random.chance(50);
  const micro = BigInt(isExact ? random.between(100, 9_000) * 10_000 : random.between(1e6, 9e7));
  return {
    tokenId: random.pick(tokens.length === 2 ? tokens : tokens.slice(0, 1)),
    side: random.pick(['BUY', 'SELL'] as const),
    orderType,
    ...(random.chance(50) ? { amount: fromMicro(micro) } : { size: fromMicro(micro) }),
    ...(isPriced && { price }),
  };
}

interface Held {
  readonly cash: bigint;
  readonly reserved: bigint;
  readonly shares: bigint;
  readonly sharesReserved: bigint;
}

async function held(tokenId: string): Promise<Held> {
  const { cash, positions } = await taker.ledger.balances();
  const position = positions.find((each) => each.tokenId === tokenId);
  return {
    cash: toMicro(cash.total),
    reserved: toMicro(cash.reserved),
    shares: toMicro(position?.total ?? '0'),
    sharesReserved: toMicro(position?.reserved ?? '0'),
  };
}

const NOTHING: Held = { cash: 0n, reserved: 0n, shares: 0n, sharesReserved: 0n };

/** Changes of the ledger of the taker, as a preview tells them. */
function foreseen(
  { cost, fee, feeIn, filled, rest, shares, total }: PreviewAnswer,
  isBuy: boolean,
) {
  const rests = rest.fate === 'rests';
  if (feeIn === 'collateral') {
    const paid = isBuy ? toMicro(cost) + toMicro(fee) : toMicro(cost) - toMicro(fee);
    assert.equal(toMicro(total), paid);
  } else assert.equal(toMicro(shares), toMicro(filled) - toMicro(fee));
  return {
    cash: isBuy ? -toMicro(total) : toMicro(total),
    reserved: isBuy && rests ? toMicro(rest.cost) : 0n,
    shares: isBuy ? toMicro(shares) : -toMicro(shares),
    sharesReserved: !isBuy && rests ? toMicro(rest.size) : 0n,
  };
}

interface Counts {
  readonly status: Record<PreviewAnswer['wouldBe'], number>;
  /** Tickets with a fee, by what it was paid in. */
  readonly paid: Record<PreviewAnswer['feeIn'], number>;
}

/** Previews a ticket, places its order, and compares the ledger of the taker with the preview. */
async function check(asked: PreviewBody, { paid, status }: Counts, what: string): Promise<void> {
  const seen = await taker.orders.preview(asked);
  status[seen.wouldBe] += 1;
  if (seen.order === null) {
    assert.notEqual(seen.reason, null, what);
    return;
  }
  const before = await held(asked.tokenId);
  const placed = await taker.orders.postPreviewed(seen);
  const isRefused = seen.wouldBe === 'unmatched' || seen.wouldBe === 'refused';
  assert.equal(placed.status, isRefused ? 'refused' : seen.wouldBe, `${what}: ${placed.reason}`);
  assert.equal(placed.code, seen.reason?.code, what);
  const now = await held(asked.tokenId);
  const isBuy = asked.side === 'BUY';
  const changed = {
    cash: now.cash - before.cash,
    reserved: now.reserved - before.reserved,
    shares: now.shares - before.shares,
    sharesReserved: now.sharesReserved - before.sharesReserved,
  };
  assert.deepEqual(changed, isRefused ? NOTHING : foreseen(seen, isBuy), what);
  if (isBuy && asked.amount !== undefined) {
    assert(changed.reserved - changed.cash <= toMicro(asked.amount), what);
  }
  if (seen.filled !== '0' && !isRefused && seen.fee !== '0') paid[seen.feeIn] += 1;
  if (seen.rest.fate === 'rests') await taker.orders.cancelAll();
}

/** Checks random tickets on some markets. */
async function checkMany(count: number, among: readonly Market[]): Promise<Counts> {
  const seed = freshSeed();
  console.log(`seed ${seed}`);
  const random = new Random(seed);
  const counts: Counts = {
    status: { matched: 0, live: 0, unmatched: 0, refused: 0, delayed: 0 },
    paid: { collateral: 0, shares: 0 },
  };
  for (let i = 0; i < count; i++) {
    const market = among[Math.floor(i / FILLED_EACH) % among.length]!;
    if (i % FILLED_EACH === 0) await fill(random, market);
    const asked = ticket(random, market);
    await check(asked, counts, `SEED=${seed}, ticket ${i}: ${JSON.stringify(asked)}`);
  }
  console.log(JSON.stringify(counts));
  assert.equal((await operator.done('GET /admin/ledger')).imbalance, '0');
  assert(counts.status.matched > count / 5, JSON.stringify(counts));
  return counts;
}

test(`${TICKETS} random tickets do to the ledger what their previews say`, async () => {
  const { paid } = await checkMany(TICKETS, markets);
  assert(paid.collateral > 0 && paid.shares > 0, 'both kinds of fees were paid');
});

test('previews of quiet books hold while orders of others stream into another book', async () => {
  const [busy, ...quiet] = markets;
  const other = await join('busy trader');
  const [tokenId = ''] = busy!.tokens;
  let isOver = false;
  let posted = 0;
  const stream = async (side: 'BUY' | 'SELL', price: string): Promise<void> => {
    while (!isOver) {
      await other.orders.post({ tokenId, side, price, size: '5' });
      posted += 1;
    }
  };
  await other.ledger.split(busy!.condition, '2000');
  const streams = [stream('BUY', '0.5'), stream('SELL', '0.5'), stream('BUY', '0.01')];
  try {
    await checkMany(rounds(80), quiet);
  } finally {
    isOver = true;
    await Promise.all(streams);
  }
  assert(posted > 40, `${posted} orders came meanwhile`);
});
