/**
 * The measuring mode against servers of this test: it shows a stall, survives a lost connection,
 * and ends at a rate limit. One run is against a whole node.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { arrivalsOf } from '../../bench/measure/arrivals.ts';
import { FigureCollector } from '../../bench/measure/figures.ts';
import type { FromChild } from '../../bench/measure/job.ts';
import { parseMeasureOptions } from '../../bench/measure/measure-options.ts';
import type { Figures, Result } from '../../bench/measure/result.ts';
import { SampleRows } from '../../bench/measure/samples.ts';
import type { Sent } from '../../bench/measure/sender.ts';
import { Random } from '../../bench/random.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { SMALL_NODE, temporaryDirectory } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';

const compiled = useCompiledNodes();
const [{ Sender }, { Sending }, { monotonicMs }, { PackedRequests }] = (await Promise.all(
  ['sender', 'sending', 'pacer', 'packed-requests'].map(
    (name) => import(join(compiled, `bench/measure/${name}.js`)),
  ),
)) as [
  typeof import('../../bench/measure/sender.ts'),
  typeof import('../../bench/measure/sending.ts'),
  typeof import('../../bench/measure/pacer.ts'),
  typeof import('../../bench/measure/packed-requests.ts'),
];

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(t: TestContext, handler: Handler): Promise<URL> {
  // No connection ends for its silence while the machine stands still.
  const server = createServer({ keepAliveTimeout: 0 }, handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  return new URL(`http://127.0.0.1:${address.port}`);
}

const REQUEST = Buffer.from('POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n[]');
const PER_SECOND = 200;
/** Long enough for a busy machine to answer everything that it will answer. */
const DRAIN_MS = 30_000;
const SHORT_DRAIN_MS = 6_000;
const STALL_MS = 1000;

function stalling(from: number): Handler {
  let requests = 0;
  let until = 0;
  return (request, response) => {
    requests += 1;
    if (requests === from) until = performance.now() + STALL_MS;
    request.resume();
    setTimeout(() => response.end('[]'), Math.max(0, until - performance.now()));
  };
}

/** Sends small requests on two connections; `open`: on a schedule of 200 a second. */
async function measured(
  url: URL,
  count: number,
  open: boolean,
  drainMs = DRAIN_MS,
): Promise<{ figures: Figures; sent: Sent[] }> {
  const share = { index: 0, processes: 1 };
  const dueMs = open
    ? arrivalsOf('even', count, PER_SECOND, share, new Random('stall'))
    : undefined;
  const requests = PackedRequests.of(Array.from({ length: count }, () => REQUEST));
  const rows = new SampleRows();
  const sent: Sent[] = [];
  const sender = new Sender({ url, connections: 2, requests, dueMs, drainMs }, (one) => {
    sent.push(one);
    rows.add({ ...one, kind: 'fok', orders: 1 });
  });
  await sender.connect();
  await sender.run(monotonicMs() + 20);
  const collector = new FigureCollector({ warmupSeconds: 0, durationSeconds: count / PER_SECOND });
  collector.add(rows.take());
  return { figures: collector.figures(), sent };
}

test('a server that stalls for a second shows in the p99, which a closed loop would hide', async (t) => {
  const both = async () =>
    Promise.all([
      measured(await serve(t, stalling(100)), 400, true),
      measured(await serve(t, stalling(100)), 400, false),
    ]);
  let [open, closed] = await both();
  const hidden = () => Math.max(open.figures.serviceMs.p99, closed.figures.latencyMs.p99);
  // A machine that stood still itself, more than once, is no server that does so once.
  for (let tries = 1; tries < 5 && hidden() >= 0.9 * STALL_MS; tries++)
    [open, closed] = await both();
  const { requests, latencyMs, serviceMs, overTime } = open.figures;
  assert.deepEqual(requests, { answered: 400, failed: 0, unanswered: 0 });
  assert(latencyMs.p99 > 0.9 * STALL_MS, `p99 is ${latencyMs.p99} ms`);
  // Of 400 requests in two seconds a second's worth was due meanwhile, and waited half of it or more.
  assert(latencyMs.p75 > 0.2 * STALL_MS, `p75 is ${latencyMs.p75} ms`);
  assert(overTime.some((stretch) => (stretch.latencyMs?.max ?? 0) > 0.9 * STALL_MS));
  // Two connections were caught by it: all that a tool would see that waits for answers.
  assert(serviceMs.p99 < 0.9 * STALL_MS, `p99 from the send is ${serviceMs.p99} ms`);
  assert.equal(closed.figures.requests.answered, 400);
  assert(closed.figures.latencyMs.max > 0.9 * STALL_MS);
  assert(closed.figures.latencyMs.p99 < 0.9 * STALL_MS);
});

test('a lost connection fails its request only, and comes back', async (t) => {
  let requests = 0;
  const url = await serve(t, (request, response) => {
    requests += 1;
    if (requests === 20) request.socket.destroy();
    else response.end('[]');
  });
  const { figures, sent } = await measured(url, 100, true);
  assert.deepEqual(figures.requests, { answered: 99, failed: 1, unanswered: 0 });
  assert.equal(sent.filter(({ status }) => status === 0).length, 1);
});

test('a node that never answers again leaves its requests unanswered, as late as they are', async (t) => {
  let requests = 0;
  const url = await serve(t, (_, response) => {
    requests += 1;
    if (requests <= 40) response.end('[]');
  });
  const { figures } = await measured(url, 100, true, SHORT_DRAIN_MS);
  assert.deepEqual(figures.requests, { answered: 40, failed: 0, unanswered: 60 });
  assert(figures.latencyMs.p50 > SHORT_DRAIN_MS);
});

test('a rate limit ends the run at once, and is an outcome', async (t) => {
  const url = await serve(t, (request, response) => {
    request.resume();
    response.writeHead(429).end('{}');
  });
  const argv = ['--rate', '100', '--batch', '1', '--duration', '5', '--warmup', '0', '--unsigned'];
  const parsed = parseMeasureOptions([...argv, '--wallets', '1', '--connections', '2'], 5);
  assert(parsed.ok);
  const { url: _, ...options } = parsed.options;
  const signing = {
    credentialPrefix: 'SERVICE',
    chainId: 137,
    domainName: 'x',
    domainVersion: '1',
    exchangeAddress: `0x${'5'.repeat(40)}`,
    negRiskExchangeAddress: `0x${'6'.repeat(40)}`,
  };
  const keys = [{ apiKey: 'key', secret: 'AAAA', passphrase: 'phrase' }];
  const share = { index: 0, processes: 1 };
  const told: FromChild[] = [];
  const sending = new Sending({ options, url: url.href, signing, share, keys }, (message) =>
    told.push(message),
  );
  await sending.prepare();
  assert(told.some(({ kind }) => kind === 'ready'));
  await sending.send(monotonicMs());
  const done = told.find((message) => message.kind === 'done');
  assert(done?.kind === 'done');
  assert((done.outcomes.get('HTTP 429') ?? 0) >= 1);
  assert((done.outcomes.get('HTTP 429') ?? 0) < 10);
});

test('the whole tool measures its own node, and every order has the intended end', {
  skip: SHORT,
}, async () => {
  const out = join(temporaryDirectory(), 'result');
  const argv = ['measure', '--spawn', '--rate', '300', '--batch', '5', '--duration', '1'];
  const more = ['--warmup', '0', '--processes', '2', '--wallets', '3', '--connections', '2'];
  const child = spawn(
    process.execPath,
    [join(compiled, 'bench/load.js'), ...argv, ...more, '--markets', '3', '--out', out],
    { env: { ...process.env, ...SMALL_NODE }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, output);
  const result = JSON.parse(readFileSync(`${out}.json`, 'utf8')) as Result;
  assert.deepEqual(result.requests, { answered: 60, failed: 0, unanswered: 0 }, output);
  const { filled = 0, resting = 0, canceled = 0, ...others } = result.outcomes;
  assert.deepEqual(others, {});
  assert(filled > 0 && resting > 0 && canceled > 0);
  assert.equal(filled + resting + canceled, 300);
  assert.equal(result.latencyMs.count, 60);
  assert.match(readFileSync(`${out}.svg`, 'utf8'), /^<svg /);
  assert.match(output, /latency from due +p50/);
});
