import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { withDeadline } from '../../server/common/with-deadline.ts';
import { readConfig } from '../../server/config/config.ts';
import { assemble } from '../../server/node/assembly.ts';
import type { RecoveredTables, Recovery } from '../../server/node/recovery.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { checkoutCopy } from '../common/checkout.ts';
import { fileArgs, useCompiledNodes } from '../common/forms.ts';
import {
  book,
  get,
  SMALL_NODE,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { freshSeed, Random, SHORT } from '../common/random.ts';
import { ROOT } from '../common/root.ts';
import { Trader } from '../common/traders.ts';

useCompiledNodes();
/** Time-out of a test: an orphan holds the pipes for ever. */
const WITHIN = { timeout: 300_000 };
const terms = Array.from({ length: 60 }, (_, i) => ({ id: i + 1 }));
let markets: readonly CatalogMarket[];
/** A node after starts that signals ended. */
let begun: TestNode;

interface Started {
  readonly child: ChildProcess;
  readonly dataDir: string;
  log: string;
}

/** Starts a process without waiting for it; it is killed at the end of its test. */
function start(
  t: TestContext,
  command: string,
  args: readonly string[],
  cwd: string,
  dataDir: string,
): Started {
  const env = { ...process.env, ...SMALL_NODE, DATA_DIR: dataDir };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const started: Started = { child, dataDir, log: '' };
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.on('data', (chunk: Buffer) => {
      started.log += chunk.toString();
    });
  }
  return started;
}

test('a wait of start or stop is named and has a deadline', async () => {
  const lines: string[] = [];
  const options = {
    what: 'the catalog to load',
    logMs: 10,
    log: (line: string) => lines.push(line),
  };
  assert.equal(await withDeadline(Promise.resolve(7), { ...options, msMax: 1_000 }), 7);
  const never = new Promise(() => undefined);
  const gaveUp = /^Error: gave up waiting for the catalog to load after \d+ s$/;
  await assert.rejects(withDeadline(never, { ...options, msMax: 60 }), gaveUp);
  assert.match(lines[0]!, /^waiting for the catalog to load \(\d+ s\)$/);
});

interface Assembling {
  readonly tables: RecoveredTables;
  /** Assembles a node with what is recovered so. */
  assembled(reading: Promise<RecoveredTables>, sound: Promise<void>): Promise<unknown>;
  stop(): void;
}

function assembling(): Assembling {
  const read = readConfig({ ...SMALL_NODE, DATA_DIR: temporaryDirectory() }, [], 1);
  assert(read.ok);
  const { config } = read;
  const stopping = new AbortController();
  const options = { config, log: () => undefined, onFatal: assert.fail, signal: stopping.signal };
  return {
    tables: {
      t: new Tables(allocateEngine(config.capacities)),
      skippedSnapshots: [],
      firstFill: 0,
      snapshot: 0,
      replayed: 0,
      recent: { batches: [], from: 0 },
    },
    assembled: (reading, sound) =>
      assemble(options, { tables: () => reading, sound } as unknown as Recovery),
    stop: () => stopping.abort(),
  };
}

test('a signal ends a start while snapshot and log are read or audited', WITHIN, async () => {
  const never = new Promise<never>(() => undefined);
  for (const isRead of [false, true]) {
    const { assembled, stop, tables } = assembling();
    setTimeout(stop, 200);
    const reading = isRead ? Promise.resolve(tables) : never;
    await assert.rejects(assembled(reading, never), { name: 'AbortError' });
  }
});

test(
  'a start whose tables fail their audit ends with that, while the catalog loads',
  WITHIN,
  async () => {
    const { assembled, tables } = assembling();
    const unsound = sleep(20).then(() => Promise.reject(new Error('an invariant is broken')));
    // As of a recovery: the start may not wait for it yet.
    unsound.catch(() => undefined);
    await assert.rejects(
      assembled(Promise.resolve(tables), unsound),
      /^Error: an invariant is broken$/,
    );
  },
);

test('SIGTERM at any moment of a start ends it with 0, and the next one begins', async (t) => {
  const seed = freshSeed();
  const random = new Random(seed);
  const dataDir = temporaryDirectory();
  markets = await withMarkets(dataDir, terms);
  const times = SHORT ? 1 : 60;
  for (let i = 0; i < times; i++) {
    const node = start(t, process.execPath, fileArgs('server/node/main'), ROOT, dataDir);
    await once(node.child.stderr!, 'data');
    // The first one at once: with the first line of the log a signal is handled.
    if (i > 0) await sleep(random.below(400));
    node.child.kill('SIGTERM');
    await once(node.child, 'close');
    const { exitCode, signalCode } = node.child;
    assert.deepEqual(
      [exitCode, signalCode],
      [0, null],
      `SEED=${seed}, the ${i + 1}th\n${node.log}`,
    );
    assert.match(node.log, /SIGTERM: stopping[\s\S]*stopped\n$/);
    assert.equal(readFileSync(join(dataDir, 'node.lock'), 'utf8').trim(), '', node.log);
  }
  begun = await TestNode.start(dataDir);
  assert.equal(((await get(begun, '/markets?limit=100')).json as unknown[]).length, 60);
});

test('orders that expired while the node was down are closed before the port opens', async () => {
  const alice = await Trader.join(begun, 'alice');
  const market = markets[0]!;
  const gone = { market, side: 'BUY', ticks: 40, shares: 5, type: 'GTD' } as const;
  let expiration = 0;
  // More time each time: a slow machine may take the order when it has expired.
  for (let ahead = 2; ; ahead *= 2) {
    expiration = Math.floor(Date.now() / 1_000) + ahead;
    const signed = { expiration: String(expiration) };
    const { errorMsg } = await alice.order(begun, { ...gone, signed });
    if (errorMsg === '') break;
    assert(Date.now() >= expiration * 1_000, errorMsg);
  }
  await alice.place(begun, { market, side: 'BUY', ticks: 30, shares: 5 });
  await begun.end('SIGKILL');
  await sleep(Math.max(0, expiration * 1_000 - Date.now()));
  const again = await TestNode.start(begun.dataDir);
  const { bids } = await book(again, market.tokenIds[0]!);
  assert.deepEqual(
    bids.map(({ price }) => price),
    ['0.3'],
  );
  await again.stop();
});

test(
  'SIGTERM to npm start reaches the node, which leaves port and directory',
  WITHIN,
  async (t) => {
    const place = checkoutCopy();
    const dataDir = join(place, 'data');
    const node = start(t, 'npm', ['start'], place, dataDir);
    await until(() => node.log.includes('listening on') || node.child.exitCode !== null, 180_000);
    const pid = Number(/^\d+/.exec(readFileSync(join(dataDir, 'node.lock'), 'utf8'))![0]);
    t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
    node.child.kill('SIGTERM');
    await once(node.child, 'close');
    await until(() => !isAlive(pid));
    assert.match(node.log, /SIGTERM: stopping/);
    assert.match(node.log, /stopped\n/);
    assert.equal(readFileSync(join(dataDir, 'node.lock'), 'utf8').trim(), '');
  },
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a node goes on when the reader of its log disconnects', async (t) => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  const node = start(t, process.execPath, fileArgs('server/node/main'), ROOT, dataDir);
  await until(() => node.log.includes('listening on'));
  const port = Number(/listening on http:\/\/[^ ]+:(\d+)/.exec(node.log)![1]);
  node.child.stdout?.destroy();
  node.child.stderr?.destroy();
  // A generation that is switched to is told in the log.
  await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
  const listed = async (): Promise<number> =>
    ((await get({ port }, '/markets')).json as unknown[]).length;
  await until(async () => (await listed()) === 2);
  const alice = await Trader.join({ port }, 'alice');
  await alice.place({ port }, { market, side: 'BUY', ticks: 40, shares: 5 });
  node.child.kill('SIGTERM');
  await once(node.child, 'exit');
  assert.deepEqual([node.child.exitCode, node.child.signalCode], [0, null]);
});
