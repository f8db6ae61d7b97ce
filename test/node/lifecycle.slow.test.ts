/**
 * The life of a node: it ends well, continues where it ended, locks its directory, and refuses
 * damaged data. One data directory passes from test to test.
 */
import assert from 'node:assert/strict';
import {
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { readRecord } from '../../storage/log/record.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  book,
  books,
  get,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();

const dataDir = temporaryDirectory();
const lockFile = join(dataDir, 'node.lock');
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const token = market.tokenIds[0] ?? '';
/** State that the last node showed before it was stopped. */
let before: unknown;
let node = await TestNode.start(dataDir, { TRADES_ALOWLIST: '10.0.0.0/8' });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');

async function trade(): Promise<void> {
  assert(market);
  for (const ticks of [55, 56]) {
    await alice.place(node, { market, side: 'SELL', ticks, shares: 10 });
    await bob.place(node, { market, side: 'BUY', ticks, shares: 7, type: 'FOK' });
  }
}

async function view(): Promise<unknown> {
  const trades = await get(node, '/trades?takerOnly=false');
  return { books: await books(node, market?.tokenIds ?? []), trades: trades.json };
}

/** Batch of the snapshot at a start, and the number of batches that were replayed after it. */
function recovered(): { readonly snapshot: number; readonly batches: number } {
  const found = /recovered snapshot of batch (\d+), (\d+) batches after it/.exec(node.log);
  assert(found !== null, node.log);
  return { snapshot: Number(found[1]), batches: Number(found[2]) };
}

test('a variable that is probably misspelt is named at start, and not its value', () => {
  assert.match(node.log, /warn unknown variable TRADES_ALOWLIST: is TRADES_ALLOWLIST meant\?/);
  assert.doesNotMatch(node.log, /10\.0\.0\.0/);
});

test('a configuration that is wrong ends the start with 2 and names each variable', async () => {
  const settings = { WORKERS: '0', PORT: '70000', DURABILITY: 'maybe', EXCHANGE_ADDRESS: '0x12' };
  const { code, log } = await TestNode.refuse(temporaryDirectory(), settings, ['--demo']);
  assert.equal(code, 2);
  for (const name of Object.keys(settings))
    assert.match(log, new RegExp(`^\\S+ error ${name} must be`, 'm'));

  assert.match(log, /unknown argument "--demo"/);
});

test('a directory that cannot be created ends the start with a line, also for an endless path', async () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  for (const place of ['/proc/x', join(file, 'below')]) {
    const { code, log } = await TestNode.refuse(place);
    assert.equal(code, 1);
    assert.match(log, new RegExp(`error DATA_DIR ${place} cannot be made: `));
  }
});

test('the effective configuration is printed once, and the durability with the port', () => {
  assert.equal(node.log.match(/^ {2}ORDER_HISTORY=4096$/gm)?.length, 1);
  assert.match(node.log, /listening on http:\/\/127\.0\.0\.1:\d+, durability flushed/);
});

test('a second process on the same directory or the same port ends with a clear line', async () => {
  const [onDirectory, onPort] = await Promise.all([
    TestNode.refuse(dataDir),
    TestNode.refuse(temporaryDirectory(), { PORT: String(node.port) }),
  ]);
  assert.equal(onDirectory.code, 1);
  assert.match(onDirectory.log, new RegExp(`${dataDir} is in use by process ${node.pid}`));
  assert.equal(onPort.code, 1);
  assert.match(onPort.log, new RegExp(`cannot listen on 127.0.0.1:${node.port}`));
  assert.equal((await get(node, '/time')).status, 200, 'the first one does not mind');
});

test('the advised line starts a second node beside the first', async () => {
  const told = async (): Promise<string> => {
    const { log } = await TestNode.refuse(dataDir, { PORT: String(node.port) });
    const line = /start a node beside it: .*prediction-market-node (start .*)$/m.exec(log)?.[1];
    assert(line !== undefined, log);
    return line;
  };
  let line = await told();
  const place = /--data-dir (\S+)/.exec(line)![1]!;
  assert.equal(place, `${dataDir}2`);
  try {
    // The options go before the environment.
    const settings = { PORT: String(node.port) };
    const begin = () => TestNode.start(dataDir, settings, line.split(' '), 'server/cli/cli');
    // Whoever else is on this machine may have taken the port since it was found free.
    const second = await begin().catch(async () => {
      line = await told();
      return begin();
    });
    assert.equal(second.port, Number(/--port (\d+)/.exec(line)![1]));
    await until(() => second.log.includes('stop='));
    assert.match(second.log, new RegExp(`\n {2}data=${place}\n`));
    await second.stop();
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  const script = await TestNode.refuse(dataDir, { npm_lifecycle_event: 'start' });
  const beside = /beside it: PORT=\d+ ADMIN_PORT=0 DATA_DIR=\S+2 (.*)npm start$/m.exec(script.log);
  assert.match(beside?.[1] ?? '', / DEMO=off .*ORDERS_MAX=4096 /, 'with the same settings');
  const elsewhere = join(temporaryDirectory(), 'own');
  const { log } = await TestNode.refuse(elsewhere, { PORT: String(node.port) });
  assert.match(log, new RegExp(`--data-dir ${elsewhere}$`, 'm'), 'its own directory is free');
});

test('a start prints addresses, the way to stop, and settings that are not the default', async () => {
  const adminPort = await freePort();
  const place = temporaryDirectory();
  const settings = { ADMIN_PORT: String(adminPort), APP: 'on', HOST: '0.0.0.0' };
  const shown = await TestNode.start(place, settings);
  const api = `http://127.0.0.1:${shown.port}`;
  await until(() => shown.log.includes('stop='));
  const banner = shown.log.slice(shown.log.indexOf('prediction-market-node '));
  const [runs, first] = banner.split('\n');
  assert.match(runs!, /^prediction-market-node \d+\.\d+\.\d+ runs$/);
  assert.equal(first, `  app=${api}/app`, 'the page that most people look for');
  const stop = `stop=Ctrl+C, or kill ${shown.pid}`;
  const page = `page=http://127.0.0.1:${adminPort}`;
  for (const line of [page, `api=${api}`, `docs=${api}/docs`, `data=${place}`, stop])
    assert(banner.includes(`\n  ${line}\n`), `${line} in ${banner}`);
  assert.match(shown.log, /^ {2}WORKERS=|^ {2}ORDER_HISTORY=4096$/m);
  assert.doesNotMatch(shown.log, /AUTH_SKEW_SECONDS/);
  await shown.stop();
  const debug = await TestNode.start(place, { LOG_LEVEL: 'debug' });
  assert.match(debug.log, /^ {2}AUTH_SKEW_SECONDS=300$/m);
  await debug.stop();
  const port = await TestNode.refuse(temporaryDirectory(), { ADMIN_PORT: String(node.port) });
  assert.match(port.log, /cannot listen on .* \(ADMIN_HOST, ADMIN_PORT\): another process listens/);
});

test('SIGTERM in the middle of requests ends with 0, a snapshot, and every answer retained', async () => {
  await trade();
  const orders = Array.from({ length: 12 }, (_, i) =>
    alice.sign({ market, side: 'BUY', ticks: 10 + i, shares: 5 }),
  );
  const replies = orders.map((order) =>
    alice.postText(node, JSON.stringify([order.item])).catch(() => undefined),
  );
  await replies[0];
  await node.stop();
  assert.match(node.log, /image of batch \d+/);
  assert.equal(readFileSync(lockFile, 'utf8').trim(), '');
  const taken: string[] = [];
  for (const [i, reply] of (await Promise.all(replies)).entries()) {
    if (reply === undefined) continue; // came too late to be heard
    assert([200, 503].includes(reply.status), reply.text);
    if (reply.status === 200) taken.push(`0.${10 + i}`.replace(/0$/, ''));
  }
  node = await TestNode.start(dataDir);
  assert(recovered().snapshot > 0);
  assert.equal(recovered().batches, 0);
  const prices = (await book(node, token)).bids.map(({ price }) => price);
  for (const price of taken) assert(prices.includes(price), `${price} was answered`);
});

test('SIGINT ends a node, and the older snapshot with the log replaces a damaged one', async () => {
  const { snapshot } = recovered();
  await trade();
  const before = await view();
  const { code } = await node.end('SIGINT');
  assert.equal(code, 0, node.log);
  const [older, newest] = readdirSync(join(dataDir, 'images')).sort();
  assert(older !== undefined && newest !== undefined);
  assert.equal(Number.parseInt(newest, 10), snapshot + 4);
  const path = join(dataDir, 'images', newest);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 0x10;
  writeFileSync(path, bytes);
  node = await TestNode.start(dataDir);
  const said = `warn recovery: image ${Number.parseInt(newest, 10)} cannot be used: the checksum`;
  assert(node.log.includes(said), node.log);
  assert.deepEqual(recovered(), { snapshot: Number.parseInt(older, 10), batches: 4 });
  assert.deepEqual(await view(), before);
});

test('the lock of a killed node is free at once, whatever its file says', async () => {
  await trade();
  const before = await view();
  await node.end('SIGKILL');
  assert.match(readFileSync(lockFile, 'utf8'), new RegExp(`^${node.pid} `, 'm'));
  writeFileSync(lockFile, `${process.pid} here now\n`);
  node = await TestNode.start(dataDir);
  assert.match(readFileSync(lockFile, 'utf8'), new RegExp(`^${node.pid} `, 'm'));
  assert.deepEqual(await view(), before);
});

/** Place of each batch's record in the newest segment of the log. */
function recordsIn(bytes: Buffer): Map<number, { readonly at: number; readonly bytes: number }> {
  const found = new Map<number, { readonly at: number; readonly bytes: number }>();
  for (let at = 0; ; ) {
    const record = readRecord(bytes, at);
    if (typeof record === 'string') return found;
    found.set(record.sequence, { at, bytes: record.bytes });
    at += record.bytes;
  }
}

test('a gap or a flipped byte in the log stops the start, names the batch, and can be cut off', async () => {
  await trade();
  await node.end('SIGKILL');
  const gone = temporaryDirectory();
  cpSync(dataDir, gone, { recursive: true });
  const segment = join('log', readdirSync(join(dataDir, 'log')).sort()[0] ?? '');
  const bytes = readFileSync(join(dataDir, segment));
  const records = recordsIn(bytes);
  const missing = [...records.keys()].at(-2) ?? 0;
  const record = records.get(missing);
  assert(record !== undefined);
  const gap = Buffer.from(bytes).fill(0, record.at, record.at + record.bytes);
  writeFileSync(join(gone, segment), gap);
  bytes[record.at + 80]! ^= 1;
  writeFileSync(join(dataDir, segment), bytes);
  const [onGap, onFlip] = await Promise.all([TestNode.refuse(gone), TestNode.refuse(dataDir)]);
  assert.deepEqual([onGap.code, onFlip.code], [1, 1]);
  const after = `and batch ${missing + 1} after it is whole; what to do: docs/guides/operations.md`;
  assert.match(onGap.log, new RegExp(`error log: batch ${missing}: it is missing, ${after}`));
  assert.match(
    onFlip.log,
    new RegExp(`error log: batch ${missing}: its checksum is wrong, ${after}`),
  );

  // The documented way out, where there is no copy.
  const { code, stderr } = await cli(dataDir, ['log', 'cut', String(missing)]);
  assert.equal(code, 0, stderr);
  assert(stderr.includes(`set aside: ${join(dataDir, segment)}.cut`));
  node = await TestNode.start(dataDir);
  assert.match(node.log, new RegExp(`batches after it: batch ${missing - 1}, `));
});

test('a stop right after a recovery writes a snapshot of the replayed batches', async () => {
  before = await view();
  const { snapshot, batches } = recovered();
  assert(batches > 0, 'the log was cut after the snapshot');
  await node.stop();
  const newest = readdirSync(join(dataDir, 'images')).sort().at(-1) ?? '';
  assert.equal(Number.parseInt(newest, 10), snapshot + batches);
});

test('a data file without its end is named, and projections are made again', async () => {
  const cut = (name: string): void => {
    const file = join(dataDir, name, 'data.mdb');
    truncateSync(file, statSync(file).size - 1);
  };
  const copy = temporaryDirectory();
  cpSync(dataDir, copy, { recursive: true });
  for (const name of ['projections', 'keys']) cut(name);
  const { code, log } = await TestNode.refuse(dataDir);
  assert.equal(code, 1);
  assert.match(log, new RegExp(`error ${dataDir}/keys/data.mdb is damaged: it has \\d+ bytes of`));
  cpSync(join(copy, 'keys'), join(dataDir, 'keys'), { recursive: true });
  node = await TestNode.start(dataDir);
  assert.match(
    node.log,
    /warn projections: .*projections\/data\.mdb is damaged.*; all of it is made again/,
  );
  assert.deepEqual(await view(), before);
});
