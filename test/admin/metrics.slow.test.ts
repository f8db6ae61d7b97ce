/** Metrics of a node under a little traffic, and README's list of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { ADMIN_TABLE } from '../../server/admin/admin-table.ts';
import { METRICS } from '../../server/admin/metric-table.ts';
import { OPERATIONS } from '../../server/admin/operation-table.ts';
import { BUCKET_BOUNDS, Histogram } from '../../server/common/histogram.ts';
import {
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
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const port = await freePort();
const node = await TestNode.start(dataDir, { ADMIN_PORT: String(port) });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

/** Every sample by its name and labels. A busy thread returns those of a moment before. */
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

test('every metric of the table is exposed with its help and type', async () => {
  await get(node, '/time');
  const { text } = await scrape();
  for (const [name, { help, type }] of Object.entries(METRICS)) {
    assert(text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`), name);
  }
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.doesNotMatch(text, /^nodejs_eventloop_lag/m);
});

const UNKNOWN = 'exchange_http_requests_total{method="(any)",route="(other)",status="404"}';

test('requests, orders, fills and stages are counted', async () => {
  const before = await scrape();
  await alice.place(node, { market, side: 'SELL', ticks: 50, shares: 10 });
  await bob.place(node, { market, side: 'BUY', ticks: 50, shares: 10 });
  const [tiny] = await bob.post(node, [bob.sign({ market, side: 'BUY', ticks: 50, shares: 1 })]);
  assert.equal(tiny?.success, false);
  const { orderID } = await bob.place(node, { market, side: 'BUY', ticks: 10, shares: 10 });
  await bob.cancel(node, '/order', { orderID });
  await get(node, '/no-such-place');
  await send(node, 'POST', '/no-such-place', {}, '');
  // The last request is in it, and so are all before.
  await until(async () => (await scrape()).text.includes(`${UNKNOWN} 2\n`));
  const { of, text } = await scrape();
  assert.equal(of('exchange_http_requests_total{method="POST",route="/orders",status="200"}'), 4);
  assert.equal(of('exchange_orders_total{result="accepted"}'), 3);
  const refused = 'order is invalid. Size lower than the minimum';
  assert.equal(of(`exchange_orders_total{result="${refused}"}`), 1);
  assert.equal(of('exchange_order_refusals_total{code="SIZE_BELOW_MINIMUM"}'), 1);
  assert.equal(of('exchange_order_refusals_total{code="TICK"}'), 0);
  assert.equal(of('exchange_orders_ended_total{reason="canceled"}'), 1);
  assert.equal(of('exchange_orders_ended_total{reason="filled"}'), 2);
  const busy = `{market="${market.conditionId}"}`;
  assert.equal(of(`exchange_market_orders_total${busy}`), 3);
  assert.equal(of(`exchange_market_volume_total${busy}`), 5);
  assert.equal(of('exchange_fills_total'), 1);
  for (const stage of ['queue', 'parse', 'verify', 'turn', 'match', 'log', 'answer', 'total']) {
    // The node has had commands of its own.
    const sample = `exchange_order_stage_seconds_count{stage="${stage}"}`;
    assert.equal(of(sample) - before.of(sample), 5, stage);
  }
  for (const stage of ['verify', 'match', 'log', 'total']) {
    assert(of(`exchange_order_stage_seconds_sum{stage="${stage}"}`) > 0, stage);
  }
  const route = 'method="POST",route="/orders",status="200"';
  assert.equal(of(`exchange_http_duration_seconds_count{${route}}`), 4);
  assert(of(`exchange_http_duration_seconds_sum{${route}}`) > 0);
  assert.equal(of('exchange_log_lines_dropped_total'), 0);
  assert.match(
    text,
    /^exchange_build_info\{version="[\d.]+",node="v\d+[^"]*",commit="\w+",signatures="[^"]+"\} 1$/m,
  );
  assert.equal(of('exchange_table_capacity{table="orders"}'), 4096);
  assert(of('exchange_disk_free_bytes') > 0);
});

test('a histogram has 12 to 16 buckets, of which each counts what the smaller ones do', async () => {
  const { text } = await scrape();
  const names = Object.entries(METRICS).filter(([, { type }]) => type === 'histogram');
  for (const [name] of names) {
    // There is no cluster here.
    if (name.startsWith('exchange_cluster_')) continue;
    const buckets = new Map<string, number[]>();
    for (const [, labels = '', value] of text.matchAll(
      new RegExp(`^${name}_bucket\\{(.*?),?le="[^"]+"(?:,[^}]*)?\\} (\\d+)$`, 'gm'),
    )) {
      buckets.set(labels, [...(buckets.get(labels) ?? []), Number(value)]);
    }
    assert(buckets.size > 0, name);
    for (const counts of buckets.values()) {
      assert(counts.length >= 12 && counts.length <= 16, `${name}: ${counts.length} buckets`);
      assert.deepEqual(
        counts,
        counts.toSorted((x, y) => x - y),
      );
    }
  }
});

test('requests refused by a rate limit are counted by its row', async () => {
  const operator = await OperatorNode.start(temporaryDirectory(), {
    RATE_LIMITS: 'on',
    RATE_LIMITS_OVERRIDES: 'health=1/600',
  });
  for (const status of [200, 429, 429])
    assert.equal((await get(operator.node, '/')).status, status);
  const text = await (await fetch(`${operator.base}/metrics`)).text();
  assert.match(text, /^exchange_http_throttled_requests_total\{row="health"\} 2$/m);
  assert.match(text, /^exchange_http_throttled_requests_total\{row="book"\} 0$/m);
  await operator.node.stop();
});

test('stream clients are counted while they are connected', async () => {
  const client = await SocketClient.open(node, '/ws/market');
  client.send({ type: 'market', assets_ids: market.tokenIds });
  await client.upToNow();
  await until(async () => (await scrape()).of('exchange_stream_clients') === 1);
  client.cut();
  await until(async () => (await scrape()).of('exchange_stream_clients') === 0);
});

test('the summary of the page equals the metrics', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/page/summary`);
  const { node: told } = (await response.json()) as {
    readonly node: {
      readonly totals: Readonly<Record<string, number>>;
      readonly latency: { readonly bounds_us: number[]; readonly counts: number[] };
    };
  };
  assert.equal(told.totals.accepted, 3);
  assert.equal(told.totals.orders, 4);
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
    ([path, { does, token }]) => `| \`${path}\` | ${token} | ${does} |`,
  );
  const metrics = Object.entries(METRICS).map(([name, { help, labels, type }]) => {
    const of = labels.length === 0 ? [] : [`by ${labels.join(', ')}`];
    const kind = [...(type === 'gauge' ? [] : [type]), ...of].join(' ');
    return `- \`${name}\`${kind === '' ? '' : ` (${kind})`}: ${help}`;
  });
  const operations = Object.entries(OPERATIONS).map(([key, { does, input, ...row }]) => {
    const members = Object.keys(input.properties).map((name) => `\`${name}\``);
    return `- \`${key}\`${members.length === 0 ? '' : ` (${members.join(' ')})`}${'resolver' in row ? ', also of a resolver' : ''}: ${does}`;
  });
  for (const rows of [routes, operations, metrics]) {
    const text = `${rows.join('\n')}\n`;
    assert(readme.includes(text), `it should hold\n${text}`);
  }
});
