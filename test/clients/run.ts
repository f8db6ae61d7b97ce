/**
 * `npm run test:clients`: existing client packages, unmodified, against a node with
 * CLIENT_PROFILE=polymarket and the demo catalog. Prints a table of every call; README.md beside
 * this file shows it, and RECORD_CLIENTS=1 writes it there.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { makeCalls, type Outcome, tables } from './calls.ts';
import { ccxtCalls, ccxtMoney } from './ccxt.ts';
import { clobClientCalls, clobClientMoney } from './clob-client.ts';
import { clobClientV2Calls, clobClientV2Money, throughVersions } from './clob-client-v2.ts';
import { moneyCalls, openMoneyVenue } from './money.ts';
import { openMirror, paperCalls } from './paper.ts';
import { polymarketClientCalls } from './polymarket-client.ts';
import { openVenue } from './venue.ts';

const README = new URL('./README.md', import.meta.url);
const MARK = '<!-- calls -->\n';

const venue = await openVenue();
const outcomes: Outcome[] = [];

const PACKAGES = {
  'clob-client 4.22.8': () => clobClientCalls(venue, 4),
  'clob-client 5.8.1': () => clobClientCalls(venue, 5),
  'clob-client-v2 1.1.0': () => clobClientV2Calls(venue),
  '@polymarket/client 0.2.0': () => polymarketClientCalls(venue),
  'ccxt 4.5.84, class polymarket': () => ccxtCalls(venue),
};

const { load } = venue;
const operator = await openMoneyVenue();
const [clobV2, ccxt] = [clobClientV2Money(load), ccxtMoney(load)];
const WITH_MONEY = {
  'clob-client 5.8.1, with money': () => moneyCalls(operator, clobClientMoney(load), '5'),
  'clob-client-v2 1.1.0, with money': () => moneyCalls(operator, clobV2, '2'),
  'ccxt 4.5.84, with money': () => moneyCalls(operator, ccxt, 'c'),
};

const mirror = await openMirror(clobV2);
const ON_A_MIRROR = {
  'clob-client-v2 1.1.0, on a mirror': () => paperCalls(mirror, clobV2, 0),
  'ccxt 4.5.84, on a mirror': () => paperCalls(mirror, ccxt, 1),
};

for (const [title, calls] of Object.entries({ ...PACKAGES, ...WITH_MONEY, ...ON_A_MIRROR })) {
  test(title, async () => {
    const outcome = await makeCalls(title, await calls());
    outcomes.push(outcome);
    assert.deepEqual(outcome.surprises, []);
  });
}

test('the money of all packages adds up', async () => {
  for (const node of [operator, mirror.operator]) {
    const { imbalance } = await node.done('GET /admin/ledger');
    assert.equal(imbalance, '0');
  }
});

test('the bot of the guide places its order', () => {
  const text = readFileSync(new URL('../../docs/guides/a-bot.md', import.meta.url), 'utf8');
  const [, code = ''] = /cat > bot\.mjs <<'EOF'\n([\s\S]*?)EOF\n/.exec(text) ?? [];
  const file = join(venue.load.directory, 'bot.mjs');
  writeFileSync(file, code.replaceAll('http://127.0.0.1:3000', venue.host));
  assert.match(
    execFileSync(process.execPath, [file], { encoding: 'utf8' }),
    / live 10 at 0\.\d+\n$/,
  );
});

const RECIPES: Readonly<Record<string, RegExp>> = {
  'clob-client-v2.mjs':
    /^order: live\nopen: 10 at 0\.\d+\ncanceled: true\nbought: matched CONFIRMED\n$/,
  'polymarket-client.mjs': /^order: live of the list\nopen: 1\ncanceled: true\n$/,
  'ccxt.mjs': /^order: open\nopen: 10 at 0\.\d+\nleft: 0\n$/,
};

for (const [name, output] of Object.entries(RECIPES)) {
  test(`the recipe ${name} runs as it stands`, () => {
    const file = join(venue.load.directory, name);
    copyFileSync(new URL(`../../docs/recipes/${name}`, import.meta.url), file);
    const ran = execFileSync(process.execPath, [file, venue.host], { encoding: 'utf8' });
    assert.match(ran, output);
  });
}

test('a client signs anew when the accepted version of orders changes', () =>
  throughVersions(venue.load));

test('README.md shows the results of the calls', () => {
  const shown = tables(outcomes);
  console.log(shown);
  const [head = ''] = readFileSync(README, 'utf8').split(MARK);
  const text = `${head}${MARK}\n${shown}\n`;
  if (process.env.RECORD_CLIENTS) writeFileSync(README, text);
  assert.equal(readFileSync(README, 'utf8'), text);
});
