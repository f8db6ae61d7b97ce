/** The trading page before a cluster: another node takes the lead, and the page goes on through the same address. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { clustered, NEEDS_ETCD, traderOf } from '../cluster/whole-cluster.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { click, fill, findChromium, Reader } from './browser.ts';
import { TcpProxy } from './tcp-proxy.ts';

useCompiledNodes();
/** A leader may stand still for some seconds, as long as it is alive. */
const SETTINGS = { LEDGER: 'on', FAUCET: '1000', APP: 'on', CLUSTER_SILENCE_MS: '8000' };

const chromium = findChromium();
const noBrowser = chromium === undefined && 'no Chromium here (apt-get install chromium)';

test(
  'after a takeover the page has the orders, shares and cash of the ledger, and trades on',
  { skip: NEEDS_ETCD.skip || noBrowser },
  (t) =>
    clustered(async (cluster) => {
      const { market, nodes } = cluster;
      const maker = await traderOf(cluster, 'maker of the page');
      const leader = await cluster.leader();
      const offer = { market, outcome: 1, side: 'BUY', ticks: 60, shares: 100 } as const;
      await maker.place(nodes[leader]!, offer);
      const proxy = await TcpProxy.start(nodes[leader]!);
      t.after(() => proxy.stop());
      const reader = await Reader.open(chromium!);
      t.after(() => reader.close());
      await reader.look({ width: 1440, height: 900 }, 'light');
      await reader.page.goto(`http://127.0.0.1:${proxy.port}/app/market/${market.id}`);
      await click(reader, 'aria/Play[role="button"]');
      await reader.sees('[aria-label="Cash"]', /^1,000\.00$/);
      await reader.sees('.ladder .asks', /0\.40/);
      await fill(reader, 'Amount', '10');
      await click(reader, 'aria/Buy Yes[role="button"]');
      await reader.sees('[aria-label="Cash"]', /^990\.00$/);
      await click(reader, 'aria/Limit[role="radio"]');
      for (const price of ['0.30', '0.20']) {
        await fill(reader, 'Limit price', price);
        await fill(reader, 'Shares', '10');
        await reader.sees('.summary', /Left10 rest as your offer/);
        await click(reader, 'aria/Buy Yes[role="button"]');
        await reader.sees('.ladder .bids', new RegExp(`${price}yours`));
      }
      await reader.sees('[aria-label="Cash"]', /^985\.00$/);

      const others = nodes.map((_, i) => i).filter((i) => i !== leader);
      proxy.target = nodes[others[0]!]!;
      await nodes[leader]!.end('SIGKILL');
      await reader.sees('.pill', /^Reconnecting$/);
      await cluster.leader(others);
      await reader.sees('.pill', /^Live$/);
      // One of its orders fills while the page may still be on its way.
      const sale = { market, side: 'SELL', ticks: 30, shares: 10 } as const;
      await maker.split(nodes[others[0]!]!, market, 10);
      await maker.place(nodes[others[0]!]!, sale);
      await reader.sees('[aria-label="Cash"]', /^985\.00$/);
      await reader.sees('.ladder .bids', /0\.20yours/);
      await click(reader, 'aria/Portfolio[role="link"]');
      await reader.sees('main', /Yes350\.3710\.30010\.50/);
      await reader.sees('main', /Open orders.*Buy0\.20010/s);
      assert.doesNotMatch(await reader.text('main'), /Buy0\.300100/);

      await reader.page.goBack();
      await fill(reader, 'Amount', '4');
      await reader.sees('.summary', /You pay4\.00/);
      await click(reader, 'aria/Buy Yes[role="button"]');
      await reader.sees('[aria-label="Cash"]', /^981\.00$/);
      const key = String(
        await reader.page.evaluate("localStorage.getItem('trading-page.play-key')"),
      );
      const url = `http://127.0.0.1:${proxy.target.port}`;
      const client = await NodeClient.connect(url, { wallet: new Wallet(key) });
      t.after(() => client.close());
      const [cash, held] = [await client.balance(), await client.balance(market.tokenIds[0])];
      const open: string[] = [];
      for await (const { price, size_matched } of client.orders.open()) {
        open.push(`${Number(price)} ${size_matched}`);
      }
      assert.deepEqual([cash.total, cash.free, held.total, open], ['983', '981', '45', ['0.2 0']]);
      assert.deepEqual([...reader.origins], [`http://127.0.0.1:${proxy.port}`]);
    }, SETTINGS),
);
