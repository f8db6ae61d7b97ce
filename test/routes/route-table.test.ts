/**
 * Every row of the route table on a whole node. An ordinary request is answered 200 in the shape of
 * the row, credentials are required where the row says so, other methods are refused.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { level1, level2, nonceOfBody } from '../../client/credentials.ts';
import { compileShape } from '../../server/common/schema.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import type { RouteRow } from '../../server/http/route.ts';
import { placesOf } from '../../server/routes/base-paths.ts';
import { ROUTE_TABLE, type RouteKey } from '../../server/routes/route-table.ts';
import { inviteDigest } from '../../server/wallet/invitations.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { depositWalletByEthers } from '../common/ethers.ts';
import {
  type Reply,
  send,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { bodyOf, CHAIN_ID, seconds, Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }], {
  tags: [{ id: '1', label: 'Tag', slug: 'tag' }],
  series: [{ id: '1', slug: 'series', title: 'Series' }],
});
assert(market);
// The requests of the table are heartbeats too, and a slow machine takes long for all of them.
const BEACON = PROFILE_TABLE.beaconWalletFactory.polymarket;
const settings = {
  APP: 'on',
  LEDGER: 'on',
  FAUCET: '1000',
  HEARTBEAT_SECONDS: '3600',
  FAULTS: 'on',
  MCP: 'on',
  RELAYER: 'on',
  BEACON_WALLET_FACTORY: BEACON,
};
const operator = await OperatorNode.start(dataDir, settings);
const { node } = operator;
const CODE = 'ab'.repeat(16);
await operator.done('POST /admin/invites', { digests: [inviteDigest(CODE).toString('hex')] });
const season = { startSum: '1000', id: 'first' };
await until(async () => {
  return (await operator.done('POST /admin/seasons/end', season)).state === 'ended';
});
await until(async () => (await send(node, 'GET', '/seasons/1')).status === 200);
const alice = await Trader.join(node, 'alice');
/** Id of the creation of alice's deposit wallet. */
const created = `${depositWalletByEthers(BEACON, alice.address).wallet.toLowerCase()}-create`;
const sets = (name: string): string =>
  JSON.stringify({
    conditionId: market.conditionId,
    amount: '50000000',
    id: `${Date.now()}-${name}`,
  });
await alice.ask(node, 'POST', '/split', sets('first'));
const [token = '', other = ''] = market.tokenIds;
const resting = await alice.place(node, { market, side: 'BUY', ticks: 40, shares: 10 });
await alice.place(node, { market, side: 'SELL', ticks: 60, shares: 10 });
await alice.place(node, { market, side: 'BUY', ticks: 60, shares: 5 });
await alice.place(node, { market, outcome: 1, side: 'BUY', ticks: 30, shares: 7 });

/**
 * Another API key of alice's, and two read-only ones, because deleted keys differ from the one that
 * asks.
 */
const issued = [
  await send(
    node,
    'POST',
    '/auth/api-key',
    level1('SERVICE', alice.wallet, CHAIN_ID, seconds(), '1'),
  ),
  await alice.call(node, 'POST', '/auth/readonly-api-key'),
  await alice.call(node, 'POST', '/auth/readonly-api-key'),
];
const [second, deleted, reader] = issued.map(({ json }) => (json as { apiKey: string }).apiKey);

/** Agent of alice's wallet. */
const AGENT = { agent: `0x${'a9'.repeat(20)}` };

interface Example {
  /** The path's parameters in order, and the query string. */
  readonly at?: readonly string[];
  readonly query?: string;
  readonly body?: () => string;
}

const items = () => JSON.stringify([{ token_id: token }, { token_id: other }]);

/** An ordinary request of every route. A new row needs one. */
const EXAMPLES: Readonly<Record<RouteKey, Example>> = {
  'GET /': {},
  'GET /ok': {},
  'GET /health': {},
  'GET /healthz': {},
  'GET /ready': {},
  'GET /gamma/status': {},
  'GET /status': {},
  'GET /time': {},
  'GET /version': {},
  'GET /exchange-info': {},
  'GET /rate-limits': {},
  'POST /auth/api-key': {},
  'POST /invites/redeem': { body: () => JSON.stringify({ code: CODE, name: 'alice' }) },
  'GET /auth/derive-api-key': {},
  'GET /auth/api-keys': {},
  'DELETE /auth/api-key': { query: `apiKey=${second}` },
  'DELETE /auth/derive-api-key': { query: `apiKey=${second}` },
  'GET /auth/ban-status/closed-only': {},
  'POST /auth/readonly-api-key': {},
  'GET /auth/readonly-api-keys': {},
  'DELETE /auth/readonly-api-key': { body: () => JSON.stringify({ key: deleted }) },
  'GET /auth/validate-readonly-api-key': { query: `address=${alice.address}&key=${reader}` },
  'POST /order': {
    body: () => JSON.stringify(alice.sign({ market, side: 'BUY', ticks: 2, shares: 5 }).item),
  },
  'POST /orders': {
    body: () => bodyOf([alice.sign({ market, side: 'BUY', ticks: 1, shares: 5 })]),
  },
  'POST /orders/explain': {
    body: () => JSON.stringify(alice.sign({ market, side: 'BUY', ticks: 1, shares: 5 }).item),
  },
  'POST /orders/preview': {
    body: () => JSON.stringify({ tokenId: token, side: 'BUY', orderType: 'FAK', amount: '5' }),
  },
  'POST /heartbeats': {},
  'POST /faults': { body: () => '{"kind":"stream-gap","count":1}' },
  'GET /faults': {},
  'DELETE /faults': {},
  'POST /v1/heartbeats': { body: () => '{"heartbeat_id":null}' },
  'GET /data/order/:id': { at: [resting.orderID] },
  'GET /data/orders': {},
  'GET /data/trades': {},
  // Without a ledger.
  'GET /ledger/statement': {},
  'GET /rebates/current': {
    query: 'date=2027-01-31&maker_address=0x1111111111111111111111111111111111111111',
  },
  'GET /balance-allowance': { query: 'asset_type=COLLATERAL' },
  'GET /balance-allowance/update': { query: 'asset_type=COLLATERAL' },
  'GET /ledger/balance': {},
  'GET /deployed': { query: `address=${alice.address}&type=WALLET` },
  'POST /submit': {
    body: () =>
      JSON.stringify({ type: 'WALLET-CREATE', from: alice.address, to: BEACON.slice(0, 42) }),
  },
  'GET /nonce': { query: `address=${alice.address}&type=WALLET` },
  'GET /relay-payload': { query: `address=${alice.address}&type=WALLET` },
  'GET /v1/account/transactions/params': { query: `address=${alice.address}&type=WALLET` },
  'GET /transaction': { query: `id=${created}` },
  'GET /v1/account/transactions/:id': { at: [created] },
  'POST /split': { body: () => sets('split') },
  'POST /merge': { body: () => sets('merge') },
  'POST /agents': {
    body: () =>
      JSON.stringify({
        ...AGENT,
        cashPerDay: '50000000',
        maxOrderSize: '100000000',
        markets: 'all',
        end: Number(seconds()) + 3_600,
      }),
  },
  'GET /agents': {},
  'POST /agents/revoke': { body: () => JSON.stringify(AGENT) },
  'POST /profile': { body: () => '{"hidden":false}' },
  'GET /book': { query: `token_id=${token}` },
  'GET /book/:token_id': { at: [token] },
  'POST /books': { body: items },
  'GET /price': { query: `token_id=${token}&side=BUY` },
  'GET /price/:token_id': { at: [token], query: 'side=BUY' },
  'POST /prices': { body: items },
  'GET /midpoint': { query: `token_id=${token}` },
  'GET /midpoint/:token_id': { at: [token] },
  'POST /midpoints': { body: items },
  'GET /spread': { query: `token_id=${token}` },
  'GET /spread/:token_id': { at: [token] },
  'POST /spreads': { body: items },
  'GET /last-trade-price': { query: `token_id=${token}` },
  'GET /last-trade-price/:token_id': { at: [token] },
  'POST /last-trades-prices': { body: items },
  'GET /tick-size': { query: `token_id=${token}` },
  'GET /tick-size/:token_id': { at: [token] },
  'GET /neg-risk': { query: `token_id=${token}` },
  'GET /neg-risk/:token_id': { at: [token] },
  'GET /fee-rate': { query: `token_id=${token}` },
  'GET /fee-rate/:token_id': { at: [token] },
  'GET /prices-history': { query: `market=${token}&interval=1h` },
  'POST /batch-prices-history': {
    body: () => JSON.stringify({ markets: [token, other, '7'], interval: 'max' }),
  },
  'GET /liquidity': { query: `condition=${market.conditionId}` },
  'POST /data/volumes': {
    body: () => {
      const conditions = [market.conditionId, 'none'].map((id) => ({ condition_id: id }));
      return JSON.stringify({ conditions, include_24h: true });
    },
  },
  'GET /trades': { query: 'takerOnly=false' },
  'GET /openapi.json': {},
  'GET /asyncapi.json': {},
  'GET /docs': {},
  'GET /docs/:file': { at: ['swagger-ui.css'] },
  'POST /mcp': { body: () => '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' },
  'GET /app': {},
  'GET /app/*': {},
  'GET /activity': { query: `user=${alice.address}` },
  'GET /positions': { query: `user=${alice.address}&sizeThreshold=0` },
  'GET /closed-positions': { query: `user=${alice.address}` },
  'GET /value': { query: `user=${alice.address}` },
  'GET /traded': { query: `user=${alice.address}` },
  'GET /holders': { query: `market=${market.conditionId}` },
  'GET /oi': { query: `market=${market.conditionId}` },
  'GET /live-volume': { query: 'id=1' },
  'GET /v1/leaderboard': {},
  'GET /v2/leaderboard': {},
  'GET /v2/leaderboard/brier': {},
  'GET /v2/user-stats': { query: `user=${alice.address}` },
  'GET /v2/user-pnl': { query: `user=${alice.address}` },
  'GET /v2/user-volume': { query: `user=${alice.address}` },
  'GET /seasons': {},
  'GET /seasons/:season': { at: ['1'] },
  'GET /v2/biggest-winners': {},
  'GET /v2/trades': { query: 'taker_only=false' },
  'GET /v2/activity': { query: `user=${alice.address}` },
  'GET /v2/positions': { query: `user=${alice.address}` },
  'GET /v2/value': { query: `user=${alice.address}` },
  'GET /v2/holders': { query: `condition=${market.conditionId}&include_pnl=true` },
  'GET /v2/oi': { query: `condition=${market.conditionId}` },
  'GET /v2/live-volume': { query: 'event_id=1' },
  'GET /v2/prices-history': { query: `token_id=${token}&interval=max` },
  'GET /v2/resolutions': { query: `condition=${market.conditionId}` },
  'GET /v2/approvals': { query: `user=${alice.address}` },
  'GET /v2/status': {},
  'GET /v2/builders/leaderboard': {},
  'GET /v2/builders/volume': {},
  'GET /v2/activity/combos': { query: `user=${alice.address}` },
  'GET /v2/positions/combos': { query: `user=${alice.address}` },
  'GET /public-profile': { query: `address=${alice.address}` },
  'GET /comments': { query: 'parent_entity_type=Event&parent_entity_id=1' },
  'GET /comments/keyset': {},
  'GET /comments/:id': { at: ['1'] },
  'GET /comments/user_address/:address': { at: [alice.address] },
  'GET /markets': {},
  'GET /markets/keyset': {},
  'GET /markets/:id': { at: ['1'] },
  'GET /markets/slug/:slug': { at: ['market-1'] },
  'GET /markets/:id/tags': { at: ['1'] },
  'GET /events': {},
  'GET /events/keyset': {},
  'GET /events/:id': { at: ['1'] },
  'GET /events/slug/:slug': { at: ['event-1'] },
  'GET /events/:id/tags': { at: ['1'] },
  'GET /series': {},
  'GET /series/:id': { at: ['1'] },
  'GET /tags': {},
  'GET /tags/:id': { at: ['1'] },
  'GET /tags/slug/:slug': { at: ['tag'] },
  'GET /tags/:id/related-tags': { at: ['1'] },
  'GET /tags/:id/related-tags/tags': { at: ['1'] },
  'GET /tags/slug/:slug/related-tags': { at: ['tag'] },
  'GET /tags/slug/:slug/related-tags/tags': { at: ['tag'] },
  'GET /public-search': { query: 'q=question' },
  'GET /sampling-markets': {},
  'GET /sampling-simplified-markets': {},
  'GET /clob/markets': {},
  'GET /clob/markets/:condition_id': { at: [market.conditionId] },
  'GET /simplified-markets': {},
  'GET /markets-by-token/:token_id': { at: [other] },
  'GET /clob-markets/:condition_id': { at: [market.conditionId] },
  'GET /live-activity/events/:condition_id': { at: [market.conditionId] },
  'GET /markets/live-activity/:condition_id': { at: [market.conditionId] },
  'GET /data/pre-migration-orders': {},
  'GET /order-scoring': { query: `order_id=${resting.orderID}` },
  'POST /orders-scoring': { body: () => JSON.stringify([resting.orderID]) },
  'GET /notifications': {},
  'DELETE /notifications': { query: 'ids=1' },
  'GET /rewards/user': {},
  'GET /rewards/user/total': {},
  'GET /rewards/user/percentages': {},
  'GET /rewards/user/markets': {},
  'GET /rewards/markets/current': {},
  'GET /rewards/markets/:condition_id': { at: [market.conditionId] },
  'GET /auth/builder-api-key': {},
  'GET /builder/trades': {},
  'GET /fees/builder-fees/:code': { at: ['0x1'] },
  'POST /replace': {
    body: () => {
      const { item } = alice.sign({ market, side: 'BUY', ticks: 1, shares: 5 });
      return JSON.stringify({ orderID: `0x${'1'.repeat(64)}`, ...item });
    },
  },
  // Last: the others want a book with orders in it.
  'DELETE /order': { body: () => JSON.stringify({ orderID: `0x${'1'.repeat(64)}` }) },
  'DELETE /orders': { body: () => JSON.stringify([`0x${'1'.repeat(64)}`, 'x']) },
  'DELETE /cancel-market-orders': { body: () => JSON.stringify({ asset_id: other }) },
  'DELETE /cancel-all': {},
};

/**
 * @param base text before the path
 * @param signed signed text before the path
 */
function request(key: RouteKey, credentials: boolean, base = '', signed = base): Promise<Reply> {
  const [method = '', pattern = ''] = key.split(' ');
  const { at = [], body, query } = EXAMPLES[key];
  let used = 0;
  const path = pattern.replaceAll(/:\w+/g, () => at[used++]!);
  const text = body?.() ?? '';
  const proof = () => credentialsOf(ROUTE_TABLE[key], method, signed + path, text);
  const url = query === undefined ? base + path : `${base}${path}?${query}`;
  return send(node, method, url, credentials ? proof() : {}, text);
}

function credentialsOf(
  { access }: RouteRow,
  method: string,
  path: string,
  body: string,
): Record<string, string> {
  if (access === 'none') return {};
  if (access === 'level1') {
    const nonce = path.endsWith('/agents') ? nonceOfBody(body) : '0';
    return level1('SERVICE', alice.wallet, CHAIN_ID, seconds(), nonce);
  }
  return level2('SERVICE', alice.address, alice.trio, method, path, body, seconds());
}

for (const key of Object.keys(EXAMPLES) as RouteKey[]) {
  const row: RouteRow = ROUTE_TABLE[key];
  test(`${key} answers in the shape of its row`, async () => {
    const { headers, json, status, text } = await request(key, true);
    assert.equal(status, 200, text);
    const type = String(headers['content-type']).split(';')[0]!;
    assert((row.media ?? ['application/json']).includes(type), type);
    if (type !== 'application/json') return;
    const shape = compileShape(row.answer);
    assert(
      shape.matches(json),
      `${shape.matches(json) || shape.fault(json).path.join('.')}: ${text}`,
    );
  });
  const bases = placesOf(key, row, ROUTE_TABLE).filter(({ base, path }) => {
    // A key is revoked once.
    const isRepeatable = !key.startsWith('DELETE /auth/');
    return isRepeatable && base !== '' && path !== base && !key.includes(` ${base}/`);
  });
  for (const { base } of bases) {
    test(`${key} under ${base} gives the same answer, signed with or without it`, async () => {
      const { status } = await request(key, true);
      for (const signed of [base, '']) {
        const under = await request(key, true, base, signed);
        assert.equal(under.status, status, under.text);
        assert(row.media !== undefined || compileShape(row.answer).matches(under.json));
      }
    });
  }
  if (row.access !== 'none' && row.access !== 'level2-or-none') {
    test(`${key} requires credentials`, async () => {
      const { json, status } = await request(key, false);
      assert.equal(status, 401);
      const level = row.access === 'level1' ? 'invalid_l1' : 'invalid_l2';
      assert.match((json as { error: string }).error, new RegExp(`^${level}: missing header`));
    });
  }
}
