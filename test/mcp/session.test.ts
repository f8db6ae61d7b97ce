/**
 * A scripted agent from the search of a market to a profit, with the official client package: over HTTP, where it signs
 * orders itself, and over standard input and output, where the tool server signs them.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, type PreviewAnswer } from '../../client/client.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { Agent, type Answer, BEFORE, NEWEST, signedBy } from './agent.ts';

const dataDir = temporaryDirectory();
const [first, second] = await withMarkets(dataDir, [
  { id: 1 },
  { id: 2, outcomes: ['Home', 'Away'] },
]);
assert(first && second);
const operator = await OperatorNode.start(dataDir, { LEDGER: 'on', FAUCET: '1000', MCP: 'on' });
const { node } = operator;
const maker = await Trader.join(node, 'maker');

interface Session {
  readonly agent: Agent;
  readonly market: typeof first & object;
  readonly question: string;
  readonly outcomes: readonly [string, string];
  /** Returns what place needs beside the id of a preview. */
  readonly signs: (preview: Answer) => Promise<object>;
}

/** Buys the second outcome by its name, sells some of it, and holds the rest until the market pays. */
async function tradesFromSearchToProfit(session: Session): Promise<void> {
  const { agent, market, outcomes, question, signs } = session;
  const [other, bought] = outcomes;
  const cashOf = async () => Number(((await agent.call('balance')).cash as Answer).total);
  const before = await cashOf();
  const found = await agent.call('search', { query: question });
  const [event] = found.events as readonly Answer[];
  const { markets } = await agent.call('event', { event: event?.event });
  const [row] = markets as readonly Answer[];
  const name = row?.market as string;
  const terms = await agent.call('market', { market: name });
  assert.deepEqual(
    (terms.outcomes as readonly Answer[]).map((each) => each.name),
    outcomes,
  );
  assert.equal(terms.accepting_orders, true);

  const order = { market: name, outcome: bought, side: 'BUY', size: 20, price: '0.4' };
  const seen = await agent.call('preview', order);
  assert.equal(seen.would_be, 'live');
  const placing = { preview_id: seen.preview_id, ...(await signs(seen)) };
  const placed = await agent.call('place', placing);
  assert.equal(placed.status, 'live');
  const again = await agent.call('place', placing);
  assert.equal(again.order_id, placed.order_id);
  assert.equal(again.repeated, true);
  const { orders } = await agent.call('open_orders', { market: name });
  assert.deepEqual(
    (orders as readonly Answer[]).map(({ order_id, outcome, size }) => [order_id, outcome, size]),
    [[placed.order_id, bought, '20']],
  );
  const { books } = await agent.call('book', { market: name, outcome: bought });
  assert.deepEqual((books as readonly Answer[])[0]?.bids, [['0.4', '20']]);

  // A second trader takes the other side: it buys the other outcome.
  await maker.place(node, { market, outcome: 0, side: 'BUY', ticks: 60, shares: 20 });
  const isHeld = async (shares: number): Promise<boolean> => {
    const { positions } = await agent.call('positions', { market: name });
    const [held] = positions as readonly Answer[];
    return held?.outcome === bought && held.shares === shares;
  };
  await until(() => isHeld(20));
  await maker.place(node, { market, outcome: 1, side: 'BUY', ticks: 50, shares: 5 });
  const sale = await agent.call('preview', {
    market: name,
    outcome: bought?.toLowerCase(),
    side: 'SELL',
    size: '5',
  });
  assert.equal(sale.would_be, 'matched');
  const sold = await agent.call('place', { preview_id: sale.preview_id, ...(await signs(sale)) });
  assert.deepEqual([sold.status, sold.received], ['matched', '2.5']);
  await until(() => isHeld(15));
  const history = await agent.call('price_history', { market: name, outcome: other });
  assert.equal((history.prices as readonly Answer[]).at(-1)?.price, 0.6);
  const condition = market.conditionId;
  await operator.done('POST /admin/markets/resolve', { condition, payout: [0, 1] });
  await until(
    async () => (await agent.call('resolve_status', { market: name })).status === 'resolved',
  );
  const { payouts } = await agent.call('resolve_status', { market: name });
  assert.deepEqual(payouts, [
    { outcome: other, pays: '0' },
    { outcome: bought, pays: '1' },
  ]);
  // 20 x 0.4 paid, 5 x 0.5 and 15 x 1 received.
  await until(async () => (await cashOf()) === before - 8 + 2.5 + 15);
  const { entries } = await agent.call('statement', { limit: 2 });
  assert.equal((entries as readonly Answer[]).length, 2);
  const board = await agent.call('leaderboard', { period: 'all' });
  assert((board.wallets as readonly unknown[]).length > 0);
  const traded = await agent.call('trades', { market: name, limit: 1 });
  const behind = await agent.call('trades', { market: name, limit: 1, next: traded.next });
  assert.deepEqual(
    [traded, behind].map(({ trades }) => (trades as readonly Answer[]).map(({ size }) => size)),
    [[5], [20]],
  );
  const late = await agent.call('preview', order);
  assert.deepEqual([late.would_be, late.preview_id], ['refused', undefined]);
  assert.match(String(late.next), /^Call resolve_status/);
}

test('an agent that signs its orders itself trades from search to profit over HTTP', async () => {
  const trader = await Trader.join(node, 'signing agent');
  const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, {
    wallet: trader.wallet,
  });
  for (const version of [BEFORE, NEWEST] as const) {
    const agent = await Agent.overHttp(node, version, signedBy(trader));
    assert.equal(agent.version, version);
    if (version === NEWEST) {
      await tradesFromSearchToProfit({
        agent,
        market: first,
        question: 'Event 1',
        outcomes: ['Yes', 'No'],
        async signs(preview) {
          const signed = await client.orders.signPreviewed(preview as unknown as PreviewAnswer);
          return { signed_order: JSON.parse(signed.item) };
        },
      });
    }
    const { status } = await agent.call('time');
    assert.equal(status, 'ok');
    await agent.close();
  }
  client.close();
});

test('an agent whose tool server signs for it trades from search to profit over a pipe', async () => {
  const trader = await Trader.join(node, 'piped agent');
  const env = { PRIVATE_KEY: trader.wallet.exportKey() };
  const agent = await Agent.overStdio(node, BEFORE, env);
  assert.equal(agent.version, BEFORE);
  await tradesFromSearchToProfit({
    agent,
    market: second,
    question: 'Event 2',
    outcomes: ['Home', 'Away'],
    signs: async () => ({}),
  });
  await agent.close();
  const reader = await Agent.overStdio(node, NEWEST, env, ['--read-only']);
  assert.equal(reader.version, NEWEST);
  assert.equal((await reader.refused('cancel_all')).code, 'READ_ONLY');
  assert.equal((await reader.call('balance')).wallet, trader.address);
  await reader.close();
});
