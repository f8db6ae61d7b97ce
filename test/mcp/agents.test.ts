/** Tools with the key of an agent, within the bound that the owner of the wallet has set. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, type PreviewAnswer } from '../../client/client.ts';
import { clientVenue } from '../../server/mcp/client-venue.ts';
import { ToolServer } from '../../server/mcp/tool-server.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { Agent, type Answer, NEWEST, signedBy } from './agent.ts';

const CASH_PER_DAY = '50';
const DAY_SECONDS = 86_400;

const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
const node = await TestNode.start(dataDir, { LEDGER: 'on', FAUCET: '1000', MCP: 'on' });
const url = `http://127.0.0.1:${node.port}`;
const [owner, trader] = [await Trader.join(node, 'owner'), await Trader.join(node, 'its agent')];
const ownerClient = await NodeClient.connect(url, { wallet: owner.wallet });
const agentOf = owner.address;
const client = await NodeClient.connect(url, { wallet: trader.wallet, agentOf });
const markets = 'all' as const;
const end = Math.floor(Date.now() / 1_000) + DAY_SECONDS;
const bounds = {
  agent: trader.address,
  cashPerDay: CASH_PER_DAY,
  maxOrderSize: '100',
  markets,
  end,
};

const TERMS = { market: 'market-1', outcome: 'No', side: 'BUY', price: '0.5' };

async function placing(preview: Answer): Promise<object> {
  const { item } = await client.orders.signPreviewed(preview as unknown as PreviewAnswer);
  return { preview_id: preview.preview_id, signed_order: JSON.parse(item) };
}

test('an agent trades for the wallet of its owner within its bound, until it is revoked', async () => {
  const agent = await Agent.overHttp(node, NEWEST, signedBy(trader), `?wallet=${agentOf}`);
  assert.equal((await agent.refused('balance')).code, 'WALLET_FOREIGN');
  await ownerClient.authorizeAgent(bounds);
  const balance = await agent.call('balance');
  assert.equal(balance.wallet, agentOf);
  assert.equal((balance.agent as Answer).left_today, CASH_PER_DAY);

  // The owner that names its own wallet is no agent of it.
  const own = await Agent.overHttp(node, NEWEST, signedBy(owner), `?wallet=${agentOf}`);
  assert.equal((await own.call('balance')).agent, undefined);
  await own.close();

  const large = await agent.call('preview', { ...TERMS, size: '101' });
  assert.equal((large.reason as Answer).code, 'AGENT_ORDER_SIZE');
  const first = await agent.call(
    'place',
    await placing(await agent.call('preview', { ...TERMS, size: '99' })),
  );
  assert.equal(first.status, 'live');
  const rest = { ...TERMS, price: '0.1' };
  const dear = await agent.call('preview', { ...rest, size: '5.1' });
  assert.equal((dear.reason as Answer).code, 'AGENT_CASH');
  assert.match(String(dear.next), /^Call balance/);
  const within = await agent.call('preview', { ...rest, size: '5' });
  assert.equal((await agent.call('place', await placing(within))).status, 'live');
  const { orders } = await agent.call('open_orders');
  assert.deepEqual(
    (orders as readonly Answer[]).map(({ outcome, size }) => [outcome, size]).toSorted(),
    [
      ['No', '5'],
      ['No', '99'],
    ],
  );
  assert.equal(((await agent.call('balance')).agent as Answer).left_today, '0');
  assert.equal((await ownerClient.balance()).free, '950');

  const late = await agent.call('preview', {
    ...rest,
    market: 'market-2',
    side: 'SELL',
    size: '5',
  });
  assert.equal(late.would_be, 'refused');
  await ownerClient.revokeAgent({ agent: trader.address });
  assert.equal((await agent.refused('open_orders')).code, 'WALLET_FOREIGN');
  assert.equal((await ownerClient.balance()).free, '1000');
  await agent.close();
});

test('a preview and an idempotency key of one wallet place nothing for another wallet', async () => {
  await ownerClient.authorizeAgent(bounds);
  const forOwner = await Agent.overHttp(node, NEWEST, signedBy(trader), `?wallet=${agentOf}`);
  const forItself = await Agent.overHttp(node, NEWEST, signedBy(trader));
  const seen = await forOwner.call('preview', { ...TERMS, size: '5' });
  const sent = { ...(await placing(seen)), idempotency_key: 'one wallet' };
  const itsClient = await NodeClient.connect(url, { wallet: trader.wallet });
  const { item } = await itsClient.orders.signPreviewed(seen as unknown as PreviewAnswer);
  for (const agent of [forOwner, forItself]) {
    const signed_order = JSON.parse(item) as object;
    const refused = await agent.refused('place', { preview_id: seen.preview_id, signed_order });
    assert.deepEqual(
      [refused.code, refused.detail],
      ['PREVIEW_DIFFERS', 'signed_order.order.maker'],
    );
  }
  assert.equal((await forOwner.call('place', sent)).status, 'live');
  assert.equal((await forItself.refused('place', sent)).code, 'IDEMPOTENCY_KEY_USED');
  const anyCase = await Agent.overHttp(
    node,
    NEWEST,
    signedBy(trader),
    `?wallet=${agentOf.toLowerCase()}`,
  );
  assert.equal((await anyCase.call('place', sent)).repeated, true);
  await ownerClient.revokeAgent({ agent: trader.address });
  itsClient.close();
  await Promise.all([forOwner, forItself, anyCase].map((agent) => agent.close()));
});

test('a tool server that signs with the key of an agent spends the cash of a day and no more', async () => {
  await ownerClient.authorizeAgent(bounds);
  const privateKey = trader.wallet.exportKey();
  const venue = await clientVenue(url, { privateKey, agentOf, isReadOnly: false });
  const tools = new ToolServer(() => 0);
  const call = async (name: string, args: Record<string, unknown>): Promise<Answer> => {
    const answer = await tools.call(venue, name, args);
    return JSON.parse(answer?.text ?? 'null') as Answer;
  };
  const buying = { ...TERMS, size: '20', without_preview: true };
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      call('place', { ...buying, idempotency_key: `order ${i}` }),
    ),
  );
  const placed = answers.filter(({ status }) => status === 'live');
  assert.equal(placed.length, 5);
  assert(answers.every(({ code, status }) => status === 'live' || code === 'AGENT_CASH'));
  const [{ order_id } = { order_id: '' }] = placed;
  const wider = await call('replace', { ...buying, order_id, size: '20.01' });
  assert.equal(wider.code, 'AGENT_CASH');
  assert.deepEqual((wider.canceled as Answer).order_ids, [order_id]);
  assert.equal(((await call('balance', {})).agent as Answer).left_today, '10');
  await ownerClient.revokeAgent({ agent: trader.address });
  const ended = await call('place', buying);
  assert.equal(ended.code, 'WALLET_FOREIGN');
  assert.match(String(ended.next), /^Tell the user/);
  client.close();
  ownerClient.close();
});
