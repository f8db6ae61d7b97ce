/** The metrics: what a node under a little traffic says of it, and that README lists them all. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ADMIN_TABLE } from '../../server/admin/admin-table.ts';
import { METRICS } from '../../server/admin/metric-table.ts';
import { OPERATIONS } from '../../server/admin/operation-table.ts';
import { BUCKET_BOUNDS, Histogram } from '../../server/common/histogram.ts';
import {
  freePort,
  get,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { SocketClient } from '../common/socket-client.ts';
import { Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const port = await freePort();
const node = await TestNode.start(dataDir, { ADMIN_PORT: String(port) });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

/** Every sample by its name and labels; where the thread has no time to count, those of a moment before. */
async function scrape(): Promise<{ readonly text: string; of(sample: string): number }> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(response.headers.get('content-type'), ADMIN_TABLE['/metrics'].type);
  const text = await response.text();
  const samples = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))] as const;
      }),
  );
  const of = (sample: string): number => {
    const value = samples.get(sample);
    assert(value !== undefined, `no ${sample} in\n${text}`);
    return value;
  };
  return { text, of };
}

test('every metric of the table is told, with its help and type', async () => {
  await get(node, '/time');
  const { text } = await scrape();
  for (const [name, { help, type }] of Object.entries(METRICS)) {
    assert(text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`), name);
  }
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.doesNotMatch(text, /^nodejs_eventloop_lag/m);
});

test('requests, orders, fills and stages are counted', async () => {
  const before = await scrape();
  await alice.place(node, { market, side: 'SELL', ticks: 50, shares: 10 });
  await bob.place(node, { market, side: 'BUY', ticks: 50, shares: 10 });
  const [tiny] = await bob.post(node, [bob.sign({ market, side: 'BUY', ticks: 50, shares: 1 })]);
  assert.equal(tiny?.success, false);
  await get(node, '/no-such-place');
  await send(node, 'POST', '/no-such-place', {}, '');
  const posted = 'exchange_http_requests_total{method="POST",route="/orders",status="200"}';
  await until(async () => (await scrape()).text.includes(`${posted} 3\n`));
  const after = await scrape();
  const grown = (sample: string): number => after.of(sample) - before.of(sample);
  assert.equal(grown('exchange_orders_total{result="accepted"}'), 2);
  const refused = 'order is invalid. Size lower than the minimum';
  assert.equal(grown(`exchange_orders_total{result="${refused}"}`), 1);
  assert.equal(grown('exchange_fills_total'), 1);
  // A caller may make up methods as it may make up paths.
  const unknown = '{method="(any)",route="(other)",status="404"}';
  assert.equal(after.of(`exchange_http_requests_total${unknown}`), 2);
  for (const stage of ['queue', 'parse', 'verify', 'turn', 'match', 'log', 'answer', 'total']) {
    assert.equal(grown(`exchange_order_stage_seconds_count{stage="${stage}"}`), 3, stage);
  }
  const seconds = (stage: string): number =>
    grown(`exchange_order_stage_seconds_sum{stage="${stage}"}`);
  assert(seconds('verify') > 0 && seconds('match') > 0 && seconds('log') > 0);
  assert(seconds('total') > seconds('verify') + seconds('match') + seconds('log'));
  assert.equal(after.of('exchange_table_capacity{table="orders"}'), 4096);
  assert(after.of('exchange_disk_free_bytes') > 0);
});

test('stream clients are counted while they are there', async () => {
  const client = await SocketClient.open(node, '/ws/market');
  client.send({ type: 'market', assets_ids: market.tokenIds });
  await client.upToNow();
  await until(async () => (await scrape()).of('exchange_stream_clients') === 1);
  client.cut();
});

test('the summary of the page counts the same', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/page/summary`);
  const { node: told } = (await response.json()) as {
    readonly node: {
      readonly totals: Readonly<Record<string, number>>;
      readonly latency: { readonly bounds_us: number[]; readonly counts: number[] };
    };
  };
  assert.equal(told.totals.accepted, 2);
  assert.equal(told.totals.orders, 3);
  assert.equal(told.latency.counts.length, told.latency.bounds_us.length + 1);
  await node.stop();
});

test('a histogram puts every whole number between its bounds', () => {
  for (const value of [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 999, 1_000_000, 2 ** 26, 2 ** 40]) {
    const histogram = new Histogram();
    histogram.add(value);
    const bucket = histogram.counts.indexOf(1);
    assert(value < (BUCKET_BOUNDS[bucket] ?? Number.POSITIVE_INFINITY), String(value));
    assert(bucket === 0 || value >= BUCKET_BOUNDS[bucket - 1]!, String(value));
  }
});

test('the README lists every route and every metric of the tables', () => {
  const readme = readFileSync(join(ROOT, 'server/admin/README.md'), 'utf8');
  const routes = Object.entries(ADMIN_TABLE).map(
    ([path, { does, token }]) => `| \`${path}\` | ${token ? 'yes' : 'no'} | ${does} |`,
  );
  const metrics = Object.entries(METRICS).map(([name, { help, labels, type }]) => {
    return `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`;
  });
  const operations = Object.entries(OPERATIONS).map(([key, { does, input }]) => {
    const members = Object.keys(input.properties).map((name) => `\`${name}\``);
    return `| \`${key}\` | ${members.join(' ')} | ${does} |`;
  });
  for (const rows of [routes, operations, metrics]) {
    const text = `${rows.join('\n')}\n`;
    assert(readme.includes(text), `it should hold\n${text}`);
  }
});
