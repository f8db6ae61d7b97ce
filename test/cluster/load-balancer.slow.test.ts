/**
 * The blocks of docs/guides/a-cluster.md for nginx and HAProxy as they stand, in front of three
 * real nodes.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { book, get, levels, temporaryDirectory, until } from '../common/node-harness.ts';
import { preloaded } from '../common/preloaded.ts';
import { ROOT } from '../common/root.ts';
import { SocketClient } from '../common/socket-client.ts';
import { bodyOf, type Result, type Signed, Trader } from '../common/traders.ts';
import { Cluster, NEEDS_ETCD, WAIT_MS } from './whole-cluster.ts';

useCompiledNodes();
const ORDERS = 30;
const AHEAD_MS = '600000';
const [, page = ''] = readFileSync(join(ROOT, 'docs/guides/a-cluster.md'), 'utf8').split(
  '\n## A load balancer\n',
);

function block(language: string): string {
  const [, text] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  assert(text !== undefined, `there is a block of ${language}`);
  return text;
}

interface Balancer {
  readonly port: number;
  readonly sends: () => Promise<readonly number[]>;
  readonly end: () => Promise<void>;
}

function isHere(command: string): boolean {
  return spawnSync(command, ['-v']).error === undefined;
}

function begin(command: string, args: readonly string[], env = process.env): ChildProcess {
  const child = spawn(command, args, { stdio: 'ignore', env });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function addressesOf({ nodes }: Cluster): string[] {
  return nodes.map(({ port }) => `127.0.0.1:${port}`);
}

async function nginx(cluster: Cluster): Promise<Balancer> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const [config, lines] = [join(directory, 'nginx.conf'), join(directory, 'nodes.conf')];
  const [script, pid] = [join(directory, 'ready-nodes'), join(directory, 'pid')];
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(directory, name)};`)
    .join('\n');
  const server = block('nginx')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('/etc/nginx/nodes.conf;', `${lines};`);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const main = `daemon off; worker_processes 1; pid ${pid}; error_log stderr; ${user}`;
  writeFileSync(config, `${main}\nevents {}\nhttp {\naccess_log off;\n${places}\n${server}}\n`);
  writeFileSync(script, block('sh'));
  chmodSync(script, 0o755);
  const RELOAD = `nginx -p ${directory} -e stderr -c ${config} -s reload`;
  const looks = begin(script, [lines, ...addressesOf(cluster)], { ...process.env, RELOAD });
  const read = (): string => {
    try {
      return readFileSync(lines, 'utf8');
    } catch {
      return '';
    }
  };
  await until(() => read() !== '', WAIT_MS);
  const child = begin('nginx', ['-p', directory, '-e', 'stderr', '-c', config]);
  return {
    port,
    sends: async () => {
      const rows = read().trimEnd().split('\n');
      return rows.flatMap((row, i) => (row.endsWith(' down;') ? [] : [i]));
    },
    end: async () => {
      await ended(looks);
      await ended(child);
    },
  };
}

async function haproxy(cluster: Cluster): Promise<Balancer> {
  const directory = temporaryDirectory();
  const [port, stats] = [await freePort(), await freePort()];
  const config = join(directory, 'haproxy.cfg');
  let text = block('haproxy').replace('bind :8080', `bind 127.0.0.1:${port}`);
  for (const [i, address] of addressesOf(cluster).entries())
    text = text.replaceAll(`10.0.0.${i + 1}:3000`, address);
  const shown = `frontend stats\n  bind 127.0.0.1:${stats}\n  stats enable\n  stats uri /\n`;
  writeFileSync(config, `${text}\n${shown}`);
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' });
  assert.deepEqual([status, /\[(WARNING|ALERT)\]/.test(stderr)], [0, false], stderr);
  const child = begin('haproxy', ['-db', '-f', config]);
  return {
    port,
    sends: async () => {
      const answer = await get({ port: stats }, '/;csv').catch(() => undefined);
      const rows = answer?.text.split('\n').map((row) => row.split(',')) ?? [];
      const states = rows.filter(([proxy, name]) => proxy === 'nodes' && /^n\d$/.test(name ?? ''));
      return states.flatMap((row, i) => (row[17]?.startsWith('UP') ? [i] : []));
    },
    end: () => ended(child),
  };
}

/** Sends one request again until it is answered 200, as docs/guides/a-cluster.md allows. */
async function repeated(place: Balancer, trader: Trader, order: Signed): Promise<void> {
  await until(async () => {
    const reply = await trader.postText(place, bodyOf([order])).catch(() => undefined);
    if (reply?.status !== 200) {
      assert(reply === undefined || reply.status >= 500, reply?.text);
      return false;
    }
    const [result] = reply.json as Result[];
    assert(result!.success || /Duplicated/.test(result!.errorMsg), result!.errorMsg);
    return true;
  }, WAIT_MS);
}

describe('a load balancer in front of three nodes', NEEDS_ETCD, () => {
  let started: Promise<Cluster> | undefined;
  after(async () => (await started)?.end());
  // The third node has a clock that is wrong: it runs, and is not ready.
  const skewed = preloaded({ FAULT_CLOCK_FROM_MS: AHEAD_MS });
  const settings = { TRUST_PROXY: '1', CLUSTER_SILENCE_MS: '3000', CLUSTER_WAIT_MS: '5000' };
  const begun = (): Promise<Cluster> =>
    Cluster.start(settings, 4, (i) => (i === 2 ? { settings: skewed } : {}));

  for (const [name, start] of Object.entries({ nginx, haproxy })) {
    const skip = !isHere(name) && `there is no ${name} here`;
    test(`${name} sends to nodes that are ready, and no order is lost or placed twice when one is killed`, {
      skip,
    }, async (t) => {
      started ??= begun();
      const cluster = await started;
      cluster.turnToNextMarket();
      const { market } = cluster;
      const place = await start(cluster);
      t.after(() => place.end());
      const sendsTo = async (...expected: number[]): Promise<void> => {
        const began = performance.now();
        let sent: readonly number[] = [];
        await until(async () => {
          sent = await place.sends();
          return sent.join() === expected.join();
        }, WAIT_MS).catch((error: unknown) => {
          for (const { log } of cluster.nodes) console.error(log);
          throw new Error(`${expected} expected, it sends to ${sent}`, { cause: error });
        });
        console.log(
          `${name} sends to ${expected} after ${Math.round(performance.now() - began)} ms`,
        );
      };
      await sendsTo(0, 1);
      const isReady = () => get(place, '/ready').then(({ status }) => status === 200);
      await until(() => isReady().catch(() => false), WAIT_MS);
      assert.equal((await get(cluster.nodes[2]!, '/health')).status, 200);
      const trader = await Trader.join(place, name);
      const stream = await SocketClient.open(place, '/ws/market');
      stream.send({ type: 'market', assets_ids: [market.tokenIds[0]!] });
      const hears = (text: string) => () => stream.texts.some((one) => one.includes(text));
      await until(hears('"event_type":"book"'), WAIT_MS);
      const orders = Array.from({ length: ORDERS }, (_, i) =>
        trader.sign({ market, side: 'BUY', ticks: 1 + i, shares: 5 }),
      );
      const first = await cluster.leader();
      for (const [i, order] of orders.entries()) {
        if (i === ORDERS / 2) await cluster.nodes[first]!.end('SIGKILL');
        await repeated(place, trader, order);
      }
      const [left = 0] = [0, 1].filter((i) => i !== first);
      if (first !== 2) await sendsTo(left);
      // Reads are sent to another node where one does not answer.
      for (let i = 0; i < ORDERS; i++) assert.equal((await get(place, '/time')).status, 200);
      // The node that is left may follow, and show the newest records a moment later.
      const bidsNow = async () => (await book(place, market.tokenIds[0]!)).bids;
      await until(async () => levels(await bidsNow()).length === ORDERS, WAIT_MS);
      const bids = await bidsNow();
      assert(bids.every(({ size }) => size === '5'));
      await cluster.run(first);
      await sendsTo(0, 1);
    });
  }
});
