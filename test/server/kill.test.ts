/**
 * Kill -9 at any moment loses nothing that was acknowledged: a real load with its own books against
 * a node that is killed a dozen times, and the moment between flush and answer by itself.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { chooseMarkets } from '../../bench/load/load-market.ts';
import { parseOptions } from '../../bench/load/load-options.ts';
import { LoadRun } from '../../bench/load/load-run.ts';
import { Random } from '../../bench/random.ts';
import { readConfig } from '../../server/config.ts';
import { readCatalog } from '../../storage/catalog-file.ts';
import { demoCatalog } from '../../storage/demo-catalog.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  get,
  levels,
  SMALL_NODE,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { freshSeed, SHORT } from '../common/random.ts';
import { bodyOf, type Terms, Trader } from '../common/traders.ts';

/** A dozen in the long run. */
const KILLS = SHORT === false ? 12 : 3;
const root = useCompiledNodes();
/** The load tool starts nodes in the form in which it runs itself. */
const { LocalNode } = (await import(
  join(root, 'bench/load/load-node.js')
)) as typeof import('../../bench/load/load-node.ts');
process.execArgv.length = 0;

test('a node killed again and again under load keeps all that it acknowledged', async () => {
  const seed = String(freshSeed());
  const args = ['--orders', '260', '--batch', '5', '--kills', String(KILLS), '--seed', seed];
  const parsed = parseOptions(args, Date.now());
  const configured = readConfig({}, [], 1);
  const read = readCatalog(demoCatalog());
  assert(parsed.ok && configured.ok && read.ok);
  // Images in the middle of the load, so that recovery starts from every kind of place.
  Object.assign(process.env, { ...SMALL_NODE, IMAGE_BATCHES: '15' });
  const node = await LocalNode.start(temporaryDirectory(), true);
  const markets = chooseMarkets(read.catalog.markets, 6, new Random(seed));
  let log = '';
  const write = (text: string): void => {
    log += text;
  };
  const agrees = await new LoadRun(parsed.options, configured.config, markets, node, write).run();
  assert(agrees, `replay with: SEED=${seed} npm test\n${log}`);
  assert.equal(log.match(/kill -9 after/g)?.length, KILLS, log);
  assert.equal(await node.stop(), 0);
});

test('a kill between flush and answer is settled by sending the order again', async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  const token = market.tokenIds[0] ?? '';
  let node = await TestNode.start(dataDir);
  const alice = await Trader.join(node, 'alice');
  const bob = await Trader.join(node, 'bob');
  const trades = async (): Promise<unknown[]> => {
    return (await get(node, '/trades')).json as unknown[];
  };
  await alice.place(node, { market, side: 'SELL', ticks: 50, shares: 10 });
  const terms: Terms = { market, side: 'BUY', ticks: 50, shares: 6, type: 'FOK' };
  const order = bob.sign(terms);
  // Nobody listens to the answer; the trade shows once the order is on disk.
  const unheard = bob.postText(node, bodyOf([order])).catch(() => undefined);
  await until(async () => (await trades()).length === 1);
  await node.end('SIGKILL');
  await unheard;
  node = await TestNode.start(dataDir);
  const [again] = await bob.post(node, [order]);
  assert.match(again?.errorMsg ?? '', /Duplicated/);
  assert.equal((await trades()).length, 1, 'matched once');
  assert.deepEqual(levels((await book(node, token)).asks), ['4@0.5']);
});
