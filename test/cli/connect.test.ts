/** `connect`: the printed settings are those of the running node, and code of their language. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { useCompiledNodes } from '../common/forms.ts';
import { get, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const node = await TestNode.start(dataDir, { CLIENT_PROFILE: 'polymarket' });
const host = `http://127.0.0.1:${node.port}`;

async function printed(...args: readonly string[]): Promise<string> {
  const { code, stderr, stdout } = await cli(dataDir, ['connect', ...args, '--url', `${host}/`]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

function moduleOf(code: string): Promise<Readonly<Record<string, unknown>>> {
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

interface Environment {
  readonly clob: { readonly rest: string; readonly market: { readonly ws: string } };
  readonly gamma: { readonly rest: string };
}

test('the settings for TypeScript are a module whose hosts answer', async () => {
  const { environment, venue } = await moduleOf(await printed('typescript'));
  assert.deepEqual(venue, { host, chain: 137 });
  const { clob, gamma } = environment as Environment;
  for (const path of [`${clob.rest}/ok`, `${gamma.rest}/markets`]) {
    assert.equal((await get(node, path.slice(host.length))).status, 200, path);
  }
  assert.equal(clob.market.ws, `ws://127.0.0.1:${node.port}/ws/market`);
  const json = JSON.parse(await printed('typescript', '--json')) as object;
  assert.deepEqual(json, { venue, environment });
});

test('the settings for ccxt are a module', async () => {
  const { venue } = await moduleOf(await printed('ccxt'));
  const { api } = (venue as { urls: { api: Readonly<Record<string, string>> } }).urls;
  assert.equal(api.clob, host);
});

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Recipe, its client, and the part of it that repeats settings. */
const RECIPES = [
  ['ccxt.mjs', 'ccxt', /\burls: (\{.*?\n {2}\}),/s],
  ['polymarket-client.mjs', 'typescript', /\bforkEnvironmentConfig\((\{.*?\n\})\);/s],
  ['clob-client-v2.mjs', 'typescript', undefined],
] as const;

test('recipes are of the packages and versions that the settings, the tests and the table name', async () => {
  const { dependencies } = JSON.parse(textOf('test/clients/packages/package.json')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  const table = textOf('docs/recipes/README.md');
  for (const [file, client] of RECIPES) {
    const [, name = '', version = ''] =
      /^\/\/ Packages: (\S+)@(\d\S*) and viem,/m.exec(textOf(`docs/recipes/${file}`)) ?? [];
    assert.equal(version, dependencies[name], file);
    assert(table.includes(`| [${file}](${file}) | \`${name}\` ${version},`), file);
    assert((await printed(client)).includes(`// ${name}: `), file);
  }
});

test('recipes have the settings that are printed', async () => {
  for (const [file, client, part] of RECIPES) {
    if (part === undefined) continue;
    const [, text] = part.exec(textOf(`docs/recipes/${file}`)) ?? [];
    const made = await moduleOf(`export default (host, streams) => (${text});`);
    const make = made.default as (host: string, streams: string) => object;
    const own = make(host, host.replace('http', 'ws'));
    const { environment, venue } = await moduleOf(await printed(client));
    const whole = client === 'ccxt' ? (venue as { urls: object }).urls : (environment as object);
    assert.deepEqual({ ...whole, ...own }, whole, file);
    assert(Object.keys(own).length > 0, file);
  }
});

test('the settings for Python are expressions of Python', {
  skip: spawnSync('python3', ['-c', '']).status !== 0 && 'no python3',
}, async () => {
  const code = `${await printed('python')}\nimport json\nprint(json.dumps([VENUE, ENVIRONMENT]))`;
  const { stdout } = spawnSync('python3', ['-c', code], { encoding: 'utf8' });
  const [venue, environment] = JSON.parse(stdout) as Readonly<Record<string, unknown>>[];
  assert.deepEqual(venue, { host, chain_id: 137 });
  assert.equal(environment!.gamma_url, `${host}/gamma`);
});

test('an unknown client, and a node whose headers clients do not send, are named', async () => {
  const { code, stderr } = await cli(dataDir, ['connect', 'toString', '--url', host]);
  assert.notEqual(code, 0);
  assert.match(stderr, /"toString" is none of typescript, python, ccxt/);
  const plain = await TestNode.start(temporaryDirectory());
  const url = `http://127.0.0.1:${plain.port}`;
  const warned = await cli(dataDir, ['connect', 'ccxt', '--url', url]);
  assert.equal(warned.code, 0);
  assert.match(warned.stderr, /SERVICE_\*; clients need CLIENT_PROFILE=polymarket/);
});
