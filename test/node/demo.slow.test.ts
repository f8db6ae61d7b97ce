/**
 * The first start of a node loads the demo and shows its books at once. Later starts, and nodes
 * without the demo, do not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { demoCatalog } from '../../server/demo/demo-catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { books, get, send, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();
const read = readCatalog(demoCatalog());
assert(read.ok);
const { markets } = read.catalog;
const tokens = markets.flatMap(({ tokenIds }) => tokenIds);
const dataDir = temporaryDirectory();

async function view(node: TestNode): Promise<unknown> {
  const body = JSON.stringify(tokens.map((token_id) => ({ token_id })));
  const { json: prices } = await send(node, 'POST', '/last-trades-prices', {}, body);
  const { json: trades } = await get(node, '/trades?takerOnly=false&limit=10000');
  return { books: await books(node, tokens), prices, trades };
}

test('a first start shows books with both sides and trades for every demo market', async (t) => {
  let node = await TestNode.start(dataDir, { DEMO: 'on' });
  const shown = await books(node, tokens);
  assert.equal(shown.length, tokens.length);
  for (const { asks, bids } of shown) {
    assert(bids.length > 0 && asks.length > 0, 'a book to look at');
    assert(Number(bids.at(-1)?.price) < Number(asks.at(-1)?.price));
  }
  const traded = shown.filter((book) => book.last_trade_price !== '');
  assert.equal(new Set(traded.map(({ market }) => market)).size, markets.length);
  assert.equal(new Set(shown.map((book) => book.tick_size)).size, 6);
  assert(shown.some((book) => book.neg_risk) && shown.some((book) => !book.neg_risk));
  assert(markets.some(({ tokenIds }) => tokenIds.length === 3));
  const trades = (await get(node, '/trades')).json as { title: string; slug: string }[];
  assert(trades.length >= markets.length);
  assert(trades.every(({ slug, title }) => slug !== '' && title !== ''));

  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  await t.test(
    'the curl lines of the README work as they stand',
    { skip: hasCurl ? false : 'curl is not installed' },
    () => {
      const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
      const lines = readme
        .split('\n')
        .filter((line) => line.startsWith('curl ') && line.includes(':3000/'));
      assert.equal(lines.length, 4);
      for (const line of lines) {
        const here = line.replace('127.0.0.1:3000', `127.0.0.1:${node.port}`);
        const { stdout } = spawnSync('sh', ['-c', here], { encoding: 'utf8' });
        const answer = JSON.parse(stdout) as unknown[];
        assert(Array.isArray(answer) && answer.length > 0, line);
      }
    },
  );

  await t.test('real signed orders trade against the demo, neg-risk markets included', async () => {
    const alice = await Trader.join(node, 'alice');
    for (const market of [markets[0], markets.find(({ negRisk }) => negRisk)]) {
      assert(market !== undefined);
      const ticks = market.ticksPerUnit - 1;
      const result = await alice.place(node, {
        market,
        side: 'BUY',
        ticks,
        shares: 5,
        type: 'FOK',
      });
      assert.equal(result.takingAmount, '5');
    }
  });

  await t.test('one demo exists, and not two, after a kill and after a stop', async () => {
    const before = await view(node);
    await node.end('SIGKILL');
    node = await TestNode.start(dataDir, { DEMO: 'on' });
    assert.deepEqual(await view(node), before);
    assert.doesNotMatch(node.log, /demo catalog|demo traders/, 'DEMO_TRADERS=off');
    await node.stop();
    node = await TestNode.start(dataDir, { DEMO: '' });
    assert.deepEqual(await view(node), before, 'a start that does not name it changes nothing');
    await node.stop();
  });
});

test('--no-demo starts empty, also with the largest tables that are accepted', async () => {
  const settings = { DEMO: 'on', TRADES_MAX: String(2 ** 23), ORDERS_MAX: String(2 ** 22) };
  const node = await TestNode.start(temporaryDirectory(), settings, ['--no-demo']);
  assert.deepEqual(await books(node, tokens), []);
  assert.deepEqual((await get(node, '/trades')).json, []);
  await node.stop();
});
