/** Nodes and commands whose settings concern the tools: the package is missing, a rate limit is small, MCP is off. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { readConfig } from '../../server/config/config.ts';
import { servedRows } from '../../server/routes/route-table.ts';
import {
  SMALL_NODE,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';
import { Agent, type Answer, NEWEST, signedBy } from './agent.ts';

/** Makes the package look as if it was not installed. */
const HOOKS = `export function resolve(name, context, next) {
  if (!name.startsWith('@modelcontextprotocol/')) return next(name, context);
  throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
const module = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
const WITHOUT_PACKAGE = module(
  `import { register } from 'node:module'; register(${JSON.stringify(module(HOOKS))});`,
);

test('a node with MCP=on names the package that is not installed, and does not start', async () => {
  const options = `${process.env.NODE_OPTIONS ?? ''} --import=${WITHOUT_PACKAGE}`;
  const settings = { MCP: 'on', NODE_OPTIONS: options };
  const { code, log } = await TestNode.refuse(temporaryDirectory(), settings);
  assert.notEqual(code, 0);
  assert.match(
    log,
    /MCP=on: the package @modelcontextprotocol\/server is not installed: npm install/,
  );
});

test('the command refuses a key that is none, and a wallet file that is not there', async () => {
  const run = (settings: Readonly<Record<string, string>>, ...args: string[]) =>
    cli(temporaryDirectory(), ['mcp', '--url', 'http://127.0.0.1:1', ...args], { settings });
  const wrong = await run({ PRIVATE_KEY: '0x12' });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /a private key is 0x and 64 hex digits/);
  assert.doesNotMatch(wrong.stderr, /0x12/);
  const absent = await run({}, '--wallet-file', '/nowhere/agent.key');
  assert.equal(absent.code, 2);
  assert.match(absent.stderr, /the wallet file cannot be read/);
});

test('what tools read counts in the rate limits of its routes', async () => {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  const node = await TestNode.start(dataDir, {
    MCP: 'on',
    RATE_LIMITS: 'on',
    RATE_LIMITS_OVERRIDES: 'search=2/600,mcp=40/600',
  });
  const alice = await Trader.join(node, 'alice');
  const agent = await Agent.overHttp(node, NEWEST, signedBy(alice));
  for (let i = 0; i < 2; i += 1) await agent.call('search', { query: 'Event' });
  const refused: Answer = await agent.refused('search', { query: 'Event' });
  assert.equal(refused.code, 'TOO_MANY_REQUESTS');
  assert.match(String(refused.next), /^Wait/);
  assert.equal((await agent.call('market', { market: '1' })).market, 'market-1');
  const statuses: number[] = [];
  for (let i = 0; i < 40; i += 1) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: i, method: 'tools/list', params: {} });
    statuses.push((await send(node, 'POST', '/mcp', {}, body)).status);
  }
  assert.equal(statuses.at(0), 200);
  assert.equal(statuses.at(-1), 429);
  await agent.close();
});

test('a node without MCP serves no tools', () => {
  const read = readConfig(SMALL_NODE, [], 1);
  assert(read.ok);
  assert(!servedRows(read.config).has('POST /mcp'));
  assert(servedRows({ ...read.config, mcp: true }).has('POST /mcp'));
});
