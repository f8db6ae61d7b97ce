/**
 * The blocks of docs/guides/operations.md for nginx and Caddy as they stand, in front of a real
 * node.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import {
  book,
  get,
  SMALL_NODE,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { SocketClient } from '../common/socket-client.ts';
import { Trader } from '../common/traders.ts';

const page = readFileSync(join(ROOT, 'docs/guides/operations.md'), 'utf8');
const isHere = (command: string): boolean => spawnSync(command, ['version']).error === undefined;

function blockAfter(line: string): string {
  const [, block] = /^ *```\w*\n([\s\S]*?)^ *```$/m.exec(page.slice(page.indexOf(line))) ?? [];
  assert(block !== undefined, `there is a block behind "${line}"`);
  return block;
}

interface Proxy {
  readonly command: string;
  readonly args: (file: string, directory: string) => readonly string[];
  readonly config: (port: number, upstream: number, directory: string) => string;
}

const nginx: Proxy = {
  command: 'nginx',
  args: (file, directory) => ['-p', directory, '-e', 'stderr', '-c', file],
  config: (port, upstream, directory) => {
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${join(directory, name)};`)
      .join('\n');
    const block = blockAfter('  nginx, whose defaults')
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`);
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const main = `daemon off; master_process off; pid ${join(directory, 'pid')}; ${user}`;
    return `${main}\nevents {}\nhttp {\naccess_log off;\n${places}\n${block}}\n`;
  },
};

const caddy: Proxy = {
  command: 'caddy',
  args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  config: (port, upstream) => {
    const block = blockAfter('  Caddy, which needs')
      .replace('node.example', `http://127.0.0.1:${port}`)
      .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`);
    return `{\nadmin off\n}\n${block}`;
  },
};

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const settings = { ...SMALL_NODE, TRUST_PROXY: '1', RATE_LIMITS: 'on' };
const node = await TestNode.start(dataDir, settings);

async function start(
  proxy: Proxy,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const file = join(directory, 'config');
  writeFileSync(file, proxy.config(port, node.port, directory));
  const child = spawn(proxy.command, proxy.args(file, directory), {
    env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const answers = async (): Promise<boolean> => {
    assert.equal(child.exitCode, null, said);
    return get({ port }, '/time').then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  await until(answers);
  return { port, child };
}

for (const proxy of [nginx, caddy]) {
  const skip = !isHere(proxy.command) && `there is no ${proxy.command} here`;
  test(`everything works behind ${proxy.command} with its documented configuration`, {
    skip,
  }, async () => {
    const place = await start(proxy);
    const trader = await Trader.join(place, proxy.command);
    await trader.place(place, { market, side: 'BUY', ticks: 40, shares: 5 });
    assert.equal((await book(place, market.tokenIds[0]!)).bids[0]?.price, '0.4');
    const orders = (await trader.call(place, 'GET', '/data/orders')).json as { count: number };
    assert.equal(orders.count, 1);
    const stream = await SocketClient.open(place, '/ws/market');
    stream.send({ type: 'market', assets_ids: [market.tokenIds[0]!] });
    await until(() => stream.texts.some((text) => text.includes('"event_type":"book"')));
    await trader.cancel(place, '/cancel-all');
    // Whoever asks is told apart, not the proxy.
    const spoofed = { 'X-Forwarded-For': '203.0.113.9' };
    const window = async (headers: Record<string, string>) => {
      const { headers: told } = await get(place, '/ok', headers);
      return { reset: told['x-ratelimit-reset'], left: Number(told['x-ratelimit-remaining']) };
    };
    let [before, claimed] = [await window({}), await window(spoofed)];
    // A window of ten seconds may end between the two.
    for (let tries = 0; before.reset !== claimed.reset && tries < 5; tries++) {
      [before, claimed] = [await window({}), await window(spoofed)];
    }
    assert.deepEqual(
      claimed,
      { ...before, left: before.left - 1 },
      'what a caller claims to be does not count',
    );
    const large = await send(place, 'POST', '/orders', {}, 'x'.repeat(1_500_000));
    assert.equal(large.status, 413);
    assert.equal(large.text, '{"error":"payload too large","code":"PAYLOAD_TOO_LARGE"}');
    place.child.kill('SIGTERM');
    await once(place.child, 'exit');
  });
}
