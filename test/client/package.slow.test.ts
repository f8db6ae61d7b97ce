import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { launch } from 'puppeteer-core';
import { Wallet } from '../../client/client.ts';
import { ROOT } from '../common/root.ts';
import { findChromium } from '../page/browser.ts';
import { compileAndRun, installClient } from './client-package.ts';
import { node, nodeUrl, plain } from './stage.ts';

const NAME = 'prediction-market-client';
const { files, place } = installClient();

const BOT = `
  const wallet = Wallet.fromSeed('package test');
  const client = await NodeClient.connect('${nodeUrl}', { wallet });
  const stream = await client.followMarket(['${plain}']);
  const told = [];
  const own = await client.followUser({ order: (event) => told.push(event.type) });
  const order = { tokenId: '${plain}', side: 'BUY', price: '0.2', size: '10' };
  const signed = await client.orders.sign(order);
  const placed = await client.orders.send(signed);
  const next = await client.replace(placed.id, { ...order, price: '0.21' });
  while (told.length < 3 || stream.book('${plain}')?.bestBid !== '0.21') {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await client.orders.cancelAll();
  stream.close();
  own.close();
  client.close();
  const said = { address: wallet.address, signature: wallet.signAuth(1, '1', '0'),
    results: [placed.status, next.canceled, next.placed?.status, told.slice(0, 3)] };
`;

interface Said {
  readonly address: string;
  readonly signature: string;
  readonly results: readonly unknown[];
}

/** Checks that the package, without native parts, signs like the wallet here. */
function check(said: Said): void {
  const wallet = Wallet.fromSeed('package test');
  assert.equal(said.address, wallet.address);
  assert.equal(said.signature, wallet.signAuth(1, '1', '0'));
  assert.deepEqual(said.results, [
    ...['live', true, 'live'],
    ['PLACEMENT', 'CANCELLATION', 'PLACEMENT'],
  ]);
}

test('the package has types, few dependencies, none of them native, and valid links', () => {
  const installed = readdirSync(join(place, 'node_modules'), {
    recursive: true,
    encoding: 'utf8',
  });
  const packages = installed.filter((name) => name.endsWith('package.json')).map(String);
  const top = new Set(packages.map((path) => path.split('/').slice(0, -1).join('/')));
  for (const name of [NAME, '@noble/curves', '@noble/hashes', 'ws']) assert(top.has(name), name);
  const lock = JSON.parse(readFileSync(join(place, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  assert.equal(Object.keys(lock.packages).length, 4);
  assert(Object.values(lock.packages).every(({ hasInstallScript }) => !hasInstallScript));
  assert.deepEqual(
    installed.filter((name) => name.endsWith('.node')),
    [],
  );
  const readme = readFileSync(join(place, 'node_modules', NAME, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]!);
  assert(links.length > 5);
  for (const link of links) assert(existsSync(join(place, 'node_modules', NAME, link)), link);
  assert(files.includes('dist/client.d.ts'));
});

test('the versions of the package are those of the node', () => {
  const of = (path: string) =>
    JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as {
      readonly version: string;
      readonly dependencies: Readonly<Record<string, string>>;
    };
  const own = of('client/package.json');
  const node = of('package.json');
  assert.equal(own.version, node.version);
  for (const [name, version] of Object.entries(own.dependencies)) {
    assert.equal(version, node.dependencies[name], name);
  }
});

test('an empty TypeScript project compiles and runs a bot', () => {
  const program = `import { NodeClient, type OrderTerms, Wallet } from '${NAME}';
    declare const console: { log(text: string): void };
    declare function setTimeout(callback: () => void, ms: number): unknown;
    ${BOT.replace('const told =', 'const told: string[] =')
      .replace('const order =', 'const order: OrderTerms =')
      .replace(
        '(resolve) => setTimeout(resolve, 10)',
        '(resolve) => setTimeout(() => resolve(undefined), 10)',
      )}
    console.log(JSON.stringify(said));`;
  check(JSON.parse(compileAndRun(place, program)) as Said);
});

test('the example of its README runs as pasted', async () => {
  const readme = readFileSync(join(place, 'node_modules', NAME, 'README.md'), 'utf8');
  const code = /```js\n([\s\S]*?)```/.exec(readme)![1]!.replace('http://127.0.0.1:3000', nodeUrl);
  const args = ['--input-type=module', '--eval', code];
  const { stderr, stdout } = await promisify(execFile)(process.execPath, args, { cwd: place });
  assert.match(stdout, /^Question \d\? live {2}best bid 0\.\d+\n$/, stderr);
});

test('the other examples of its README fit its types', () => {
  const readme = readFileSync(join(place, 'node_modules', NAME, 'README.md'), 'utf8');
  const [, ...blocks] = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]!);
  assert(blocks.length >= 3);
  const bodies = blocks.map((code) => `async () => { ${code.replaceAll(/^import .*$/gm, '')} },`);
  const program = `import { NodeClient, Wallet } from '${NAME}';
    declare const console: { log(...values: unknown[]): void };
    declare const existsSync: (file: string) => boolean;
    declare const readFileSync: (file: string, encoding: string) => string;
    declare const writeFileSync: (file: string, text: string, options: object) => void;
    declare const client: NodeClient;
    declare const market: { readonly conditionId: string };
    declare const tokenId: string;
    console.log([${bodies.join('\n')}].length);`;
  assert.equal(compileAndRun(place, program).trim(), String(blocks.length));
});

const chromium = findChromium();
test('the same package runs in a browser', { skip: chromium === undefined }, async (t) => {
  const imports = {
    [NAME]: `/node_modules/${NAME}/dist/client.js`,
    '@noble/curves/': '/node_modules/@noble/curves/',
    '@noble/hashes/': '/node_modules/@noble/hashes/',
  };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const server = createServer(({ url = '/' }, answer) => {
    const isScript = url.endsWith('.js') && existsSync(join(place, url));
    answer.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    answer.end(isScript ? readFileSync(join(place, url)) : page);
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  const browser = await launch({ executablePath: chromium!, args, timeout: 120_000 });
  t.after(async () => {
    await browser.close();
    server.close();
  });
  const tab = await browser.newPage();
  tab.setDefaultTimeout(120_000);
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const script = `(async () => { const { NodeClient, Wallet } = await import('${NAME}');
    ${BOT} return said; })()`;
  check((await tab.evaluate(script)) as Said);
  assert(!node.hasEnded);
});
