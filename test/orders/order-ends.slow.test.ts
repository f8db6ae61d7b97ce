/**
 * Every end of an order, driven through a node as its README lists them: the answer and the final
 * state, also on disk and after restarts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { EndReason, Status } from '../../engine/tables/codes.ts';
import { Flag, Order } from '../../engine/tables/layout.ts';
import { StoredClosedOrders } from '../../storage/projection/closed-orders.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  type MarketTerms,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { MICRO, type Result, type Signed, seconds, type Terms, Trader } from '../common/traders.ts';

interface Way {
  readonly answer: string;
  readonly status: string;
  readonly sizeMatched: string;
  readonly reason: string;
  readonly event: string;
}

const readme = readFileSync(join(ROOT, 'server/orders/README.md'), 'utf8');
const [table = ''] = readme.slice(readme.indexOf('| how it ends |')).split('\n\n');
const ways = new Map<string, Way>(
  table
    .split('\n')
    .slice(2)
    .map((line) => {
      const [how, answer, status, sizeMatched, reason, event] = line.split(' | ').map(trimmed);
      return [how ?? '', { answer, status, sizeMatched, reason, event } as Way];
    }),
);

function trimmed(cell: string): string {
  return cell.replaceAll(/^\| | \|$/g, '');
}

useCompiledNodes();
const dataDir = temporaryDirectory();
const catalog: MarketTerms[] = [1, 2, 3, 4, 5, 6].map((id) => ({ id }));
const [coin, closing, coarse, own, aging, ending] = await withMarkets(dataDir, catalog);
assert(coin && closing && coarse && own && aging && ending);
let node = await TestNode.start(dataDir, { SELF_TRADE: 'cancel-taker' });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

interface Ended {
  readonly order: Signed;
  readonly trader: Trader;
  readonly answer: Result;
  /** Shares. */
  readonly size: number;
  readonly matched: number;
}
/** Ended orders by the row of the table. */
const ended = new Map<string, Ended[]>();

/** Places an order that will end in this way after `matched` shares have matched. */
async function place(
  how: string,
  trader: Trader,
  terms: Partial<Terms> & Pick<Terms, 'side' | 'ticks'>,
  matched: number,
): Promise<Signed> {
  const size = terms.shares ?? 10;
  const order = trader.sign({ market: coin!, shares: size, ...terms });
  const [answer] = await trader.post(node, [order]);
  assert(answer);
  ended.set(how, [...(ended.get(how) ?? []), { order, trader, answer, size, matched }]);
  return order;
}

async function trade(terms: Partial<Terms> & Pick<Terms, 'side' | 'ticks'>): Promise<void> {
  await bob.place(node, { market: coin!, shares: 5, type: 'FAK', ...terms });
}

async function sale(ticks: number, shares: number, market = coin!): Promise<void> {
  await bob.place(node, { market, side: 'SELL', ticks, shares });
}

test('orders end in every way of one policy and one catalog', async () => {
  const market = aging;
  // Far enough ahead that a slow machine has placed and filled them before.
  const signed = { expiration: seconds(12) };
  const gtd = { market, side: 'BUY', type: 'GTD', signed } as const;
  await place('expired', alice, { ...gtd, ticks: 40 }, 5);
  await trade({ market, side: 'SELL', ticks: 40 });
  await place('expired', alice, { ...gtd, ticks: 30 }, 0);

  await sale(60, 10);
  await place('filled at once', alice, { side: 'BUY', ticks: 61 }, 10);
  await place('filled while it rests', alice, { side: 'SELL', ticks: 62 }, 10);
  await trade({ side: 'BUY', ticks: 62, shares: 10 });
  await sale(63, 6);
  const fak = { side: 'BUY', ticks: 63, type: 'FAK' } as const;
  await place('fill-and-kill, and the rest finds nobody', alice, fak, 6);

  const whole = await place('cancelled by its owner', alice, { side: 'BUY', ticks: 20 }, 0);
  const after = 'cancelled by its owner after a partial fill';
  const part = await place(after, alice, { side: 'BUY', ticks: 21 }, 5);
  await trade({ side: 'SELL', ticks: 21 });
  await alice.cancel(node, '/orders', [whole.id, part.id]);

  await place('fill-or-kill, and there is not enough', alice, { ...fak, type: 'FOK' }, 0);
  await place('fill-and-kill, and there is nothing', alice, fak, 0);
  await place('refused by any other rule', alice, { side: 'BUY', ticks: 0 }, 0);

  const changes = [
    ['its market is closed or archived', closing!],
    ['a coarser tick leaves it off the grid', coarse!],
    ['the end of its market comes', ending!],
  ] as const;
  for (const [how, changed] of changes) {
    await place(how, alice, { market: changed, side: 'BUY', ticks: 33 }, 5);
    await trade({ market: changed, side: 'SELL', ticks: 33 });
    await place(how, alice, { market: changed, side: 'SELL', ticks: 77 }, 0);
  }
  await withMarkets(dataDir, [
    ...[{ id: 1 }, { id: 2, closed: true }, { id: 3, tick: 0.1 }, { id: 4 }],
    { id: 6, end: Date.now() + 2_000 },
  ]);
  const gone = [...ended].flatMap(([how, orders]) =>
    ways.get(how)?.answer === 'error' ? [] : orders,
  );
  await until(async () => {
    const known = await alice.post(
      node,
      gone.map(({ order }) => order),
    );
    return known.every(({ status }) => status !== 'live');
  });
});

const AFTER_FILL = 'taker that meets its own account after a fill (`cancel-taker`, `cancel-both`)';
const MET = 'resting order of the same account (`cancel-maker`, `cancel-both`)';
const BEFORE = 'taker that meets its own account before any fill (not `cancel-maker`)';

test('orders end in every way of the self-trade policies', { skip: SHORT }, async () => {
  const market = own;
  const buy = { market, side: 'BUY', ticks: 50 } as const;
  const rest = { market, side: 'SELL', ticks: 50 } as const;
  await sale(49, 5, market);
  const open = alice.sign({ ...rest, shares: 10 });
  await alice.post(node, [open]);
  await place(AFTER_FILL, alice, buy, 5);
  await place(BEFORE, alice, buy, 0);
  await alice.cancel(node, '/order', { orderID: open.id });

  await node.stop();
  node = await TestNode.start(dataDir, { SELF_TRADE: 'cancel-maker' });
  await place(MET, alice, rest, 0);
  await sale(50, 10, market);
  await place('filled at once', alice, buy, 10);

  await node.stop();
  node = await TestNode.start(dataDir, { SELF_TRADE: 'cancel-both' });
  await place(MET, alice, rest, 5);
  await trade(buy);
  await sale(49, 5, market);
  await place(AFTER_FILL, alice, buy, 5);
  await place(MET, alice, rest, 0);
  await place(BEFORE, alice, buy, 0);
});

test('the table of the README is complete and agrees with itself', { skip: SHORT }, () => {
  assert.deepEqual([...ended.keys()].toSorted(), [...ways.keys()].toSorted());
  const reasons = new Set([...ways.values()].map(({ reason }) => reason));
  // A node without a ledger never resolves a market (test/engine/ledger.test.ts).
  const { none: _, resolved: _r, ...all } = EndReason;
  assert.deepEqual([...reasons].toSorted(), ['-', ...Object.keys(all)].toSorted());
  for (const { event, status } of ways.values()) {
    const expected = {
      matched: 'UPDATE, MATCHED',
      canceled: 'CANCELLATION, CANCELED',
      '-': 'none',
    }[status];
    assert.equal(event, expected);
  }
});

test('each order was answered as the table says, and has the status of the table', async () => {
  for (const [how, orders] of ended) {
    const way = ways.get(how);
    for (const { answer, order, trader } of orders) {
      assert.equal(answer.status, way?.answer, how);
      assert.equal(answer.orderID, way?.answer === 'error' ? '' : order.id, how);
      const [again] = await trader.post(node, [order]);
      if (way?.answer !== 'error') assert.equal(again?.status, way?.status, how);
      else assert.doesNotMatch(again?.errorMsg ?? '', /Duplicated/, how);
    }
  }
  await node.stop();
});

test('each order has its final state on disk: status, matched size, and reason', async () => {
  const derived = openDerivedTables(dataDir, { durability: 'flushed', readOnly: true });
  const closedOrders = new StoredClosedOrders(derived);
  for (const [how, orders] of ended) {
    const way = ways.get(how);
    for (const { matched, order, size } of orders) {
      const final = finalOf(closedOrders, order.id);
      if (way?.status === '-') {
        assert.equal(final, undefined, how);
        continue;
      }
      const { reason, status } = way!;
      assert.deepEqual(final, { status, reason, matched, size }, how);
      const extent = matched === size ? 'all' : matched === 0 ? 'none' : 'some';
      assert(way?.sizeMatched.split(' or ').includes(extent), `${how}: ${extent}`);
    }
  }
  await derived.root.close();
});

const REASONS = Object.keys(EndReason);

function finalOf(closedOrders: StoredClosedOrders, id: string) {
  const row = closedOrders.find(Buffer.from(id.slice(2), 'hex'));
  if (row === undefined) return undefined;
  const flags = row.readInt32LE(4 * Order.flags);
  const size = row.readDoubleLE(8 * Order.original) / MICRO;
  return {
    // An order that expired is canceled to clients.
    status: ((flags >>> Flag.statusShift) & 7) === Status.matched ? 'matched' : 'canceled',
    reason: REASONS[(flags >>> Flag.reasonShift) & 15],
    matched: size - row.readDoubleLE(8 * Order.remaining) / MICRO,
    size,
  };
}
