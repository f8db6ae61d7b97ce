/**
 * A directory keeps the settings of its first start: other values are refused, absent ones follow
 * it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type ApiKey, level1, level2 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import { readConfig } from '../../server/config/config.ts';
import { SettingsRefused } from '../../server/config/settings-refused.ts';
import {
  holderOf,
  type RetainedFacts,
  settleSettings,
} from '../../server/node/retained-settings.ts';
import { useCompiledNodes } from '../common/forms.ts';
import { get, type Settings, send, TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { seconds, Trader } from '../common/traders.ts';

useCompiledNodes();

const BEGUN: Omit<RetainedFacts, 'holder'> = {
  isNew: false,
  hasLedger: false,
  hasDemo: false,
  hasMarkets: true,
  isUntouched: false,
  chainId: undefined,
  time: 1_000,
};

function given(env: Settings, flags: readonly string[] = []) {
  const read = readConfig(env, flags, 1);
  assert(read.ok, String(!read.ok && read.problems));
  return read;
}

/** The settings in force, or the lines of the refusal. */
function settled(
  env: Settings,
  facts: Partial<RetainedFacts>,
  flags?: readonly string[],
  begins = 5_000,
) {
  const settings = given(env, flags);
  const holder = holderOf(settings.config);
  const isPlay = settings.config.play !== '';
  try {
    return settleSettings(settings, { ...BEGUN, holder, ...facts }, isPlay ? begins : undefined);
  } catch (error) {
    assert(error instanceof SettingsRefused);
    return error.message.split('\n');
  }
}

const START = 'prediction-market-node start';
const VENUE = `${START} --data-dir ./venue`;
const PAPER = `${START} --data-dir ./paper`;
const CASES: readonly {
  readonly env: Settings;
  readonly facts: Partial<RetainedFacts>;
  readonly flags?: readonly string[];
  readonly lines: readonly string[];
}[] = [
  {
    env: { LEDGER: 'on' },
    facts: {},
    lines: [
      'LEDGER=on: DATA_DIR ./data was begun without a ledger',
      `to start that: LEDGER=on ${VENUE}`,
      `to start what is there: ${START}`,
    ],
  },
  {
    env: { LEDGER: 'off', DATA_DIR: '/srv/node' },
    facts: { hasLedger: true },
    lines: [
      'LEDGER=off: DATA_DIR /srv/node was begun with a ledger',
      `to start that: LEDGER=off ${START} --data-dir /srv/venue`,
      `to start what is there: ${START} --data-dir /srv/node`,
    ],
  },
  {
    env: { PORT: '3100' },
    flags: ['--no-demo'],
    facts: { hasDemo: true },
    lines: [
      'DEMO=off: DATA_DIR ./data has the demo',
      `to start that: DEMO=off ${VENUE} --port 3100`,
      `to start what is there: ${START} --port 3100`,
    ],
  },
  {
    env: { DEMO: 'on' },
    facts: {},
    lines: [
      'DEMO=on: DATA_DIR ./data has other markets than the demo',
      `to start that: DEMO=on ${VENUE}`,
      `to start what is there: ${START}`,
    ],
  },
  {
    env: { CHAIN_ID: '5', ADMIN_TOKEN: 'a-token-of-20-letters', EIP712_DOMAIN_NAME: "it's" },
    facts: { chainId: 137 },
    lines: [
      'CHAIN_ID=5: the API keys of DATA_DIR ./data were issued under CHAIN_ID=137',
      `to start that: ADMIN_TOKEN="$ADMIN_TOKEN" EIP712_DOMAIN_NAME='it'\\''s' CHAIN_ID=5 ${VENUE}`,
      `to start what is there: ADMIN_TOKEN="$ADMIN_TOKEN" EIP712_DOMAIN_NAME='it'\\''s' ${START}`,
    ],
  },
  {
    env: { FAUCET: '1000' },
    facts: {},
    lines: [
      'FAUCET=1000: DATA_DIR ./data was begun without a ledger',
      `to start that: LEDGER=on FAUCET=1000 ${VENUE}`,
      `to start what is there: ${START}`,
    ],
  },
  {
    env: { MIRROR_URL: 'http://a.example', MIRROR_MARKETS: 'top:5', LEDGER: 'on', FAUCET: '7' },
    facts: {},
    lines: [
      'LEDGER=on: DATA_DIR ./data was begun without a ledger',
      `to start that: LEDGER=on FAUCET=7 MIRROR_URL=http://a.example MIRROR_MARKETS=top:5 ${PAPER}`,
      `to start what is there: ${START}`,
    ],
  },
  {
    env: { MIRROR_URL: 'http://a.example' },
    facts: { isNew: true, hasMarkets: false, isUntouched: true },
    lines: [
      'MIRROR_URL=http://a.example: it needs LEDGER=on',
      `to start that: LEDGER=on MIRROR_URL=http://a.example ${START} --data-dir ./data`,
    ],
  },
  {
    env: { PLAY: 'a day.rec', PLAY_SPEED: 'max' },
    facts: { hasLedger: true, time: 6_000 },
    lines: [
      'PLAY=a day.rec: it begins at 1970-01-01T00:00:05.000Z, and DATA_DIR ./data has batches up to 1970-01-01T00:00:06.000Z',
      `to start that: LEDGER=on PLAY='a day.rec' PLAY_SPEED=max ${PAPER}`,
      `to start what is there: ${START}`,
    ],
  },
];

test('a setting that contradicts the directory is refused with lines that start a node', () => {
  for (const { env, facts, flags, lines } of CASES)
    assert.deepEqual(settled(env, facts, flags), lines);
});

test('the line has variables alone when npm started the node', (t) => {
  const { npm_lifecycle_event: event } = process.env;
  t.after(() => {
    if (event === undefined) delete process.env.npm_lifecycle_event;
    else process.env.npm_lifecycle_event = event;
  });
  process.env.npm_lifecycle_event = 'start';
  assert.deepEqual(settled({ LEDGER: 'on', PORT: '3100' }, {}), [
    'LEDGER=on: DATA_DIR ./data was begun without a ledger',
    'to start that: DATA_DIR=./venue PORT=3100 LEDGER=on npm start',
    'to start what is there: PORT=3100 npm start',
  ]);
  process.env.npm_lifecycle_event = 'start:windows';
  const [, line] = settled({ LEDGER: 'on' }, {}) as string[];
  assert.match(line!, /npm run start:windows$/);
});

test("the mode of a cluster's node is that of the cluster, and no other directory is suggested", () => {
  const env = {
    CLUSTER: 'etcd://127.0.0.1:2379/here',
    NODE_ID: 'a',
    ADVERTISE: 'http://127.0.0.1:1',
    CLUSTER_SECRET: 'x'.repeat(32),
    LEDGER: 'on',
  };
  const [why, line, ...others] = settled(env, {}) as string[];
  assert.equal(why, 'LEDGER=on: the cluster here was begun without a ledger');
  assert.match(
    line!,
    /^to start what is there: CLUSTER=etcd:\/\/127\.0\.0\.1:2379\/here NODE_ID=a /,
  );
  assert.deepEqual(others, []);
});

test('an unset setting takes the retained value, and an equal one is accepted', () => {
  const facts = { hasLedger: true, hasDemo: true, chainId: 5 };
  for (const env of [{}, { LEDGER: 'on', DEMO: 'on', CHAIN_ID: '5', FAUCET: '10' }]) {
    const config = settled(env, facts);
    assert(!Array.isArray(config));
    assert.deepEqual([config.ledger, config.demo, config.chainId], [true, true, 5]);
  }
  const mirror = { MIRROR_URL: 'http://a.example', DEMO: 'off' };
  assert(!Array.isArray(settled(mirror, facts)), 'markets of a source may be those of its demo');
  const play = settled({ PLAY: 'day.rec' }, { hasLedger: true, time: 4_000 });
  assert(!Array.isArray(play), 'it begins after the newest batch');
});

test('the demo is loaded into an untouched directory unless DEMO is off', () => {
  const nothing = { hasMarkets: false, isUntouched: true };
  const demoOf = (env: Settings, facts: Partial<RetainedFacts>): unknown => {
    const config = settled(env, facts);
    return Array.isArray(config) ? config[0] : config.demo;
  };
  assert.equal(demoOf({}, nothing), true);
  assert.equal(demoOf({ DEMO: 'off' }, nothing), false);
  const paid = { hasMarkets: false };
  assert.equal(demoOf({}, paid), false, 'a venue whose first market is still to come');
  assert.equal(demoOf({ DEMO: 'on' }, paid), true);
});

interface Mode {
  readonly mode: Readonly<Record<string, boolean>>;
}

async function modeOf(node: TestNode): Promise<string> {
  const [status, info] = await Promise.all(
    ['/status', '/exchange-info'].map(async (path) => ((await get(node, path)).json as Mode).mode),
  );
  assert.deepEqual(status, info);
  const names = Object.entries(status!).filter(([, applies]) => applies);
  return names.map(([name]) => name).join(' ');
}

test('a refused start ends with 2 before its port opens and changes nothing; the directory runs as it was', async () => {
  const dataDir = temporaryDirectory();
  const begun = await TestNode.start(dataDir, { LEDGER: 'on', DEMO: 'on', LOG_FORMAT: 'json' });
  assert.equal(await modeOf(begun), 'ledger demo');
  assert.match(begun.log, /"mode":"ledger on, demo on","msg":"listening on /);
  await Trader.join(begun, 'alice');
  await begun.stop();
  const refused: readonly (readonly [Settings, RegExp])[] = [
    [
      { DEMO: '', LEDGER: 'off' },
      /error LEDGER=off: DATA_DIR .* was begun with a ledger\nto start/,
    ],
    [{}, /error DEMO=off: DATA_DIR .* has the demo\nto start/],
    [{ DEMO: '', CHAIN_ID: '138' }, /error CHAIN_ID=138: .* under CHAIN_ID=137\nto start/],
    [{ DEMO: '', MARKETS_MAX: '18' }, /error recovery: 19 markets \(MARKETS_MAX\) are in use/],
  ];
  let batches = 0;
  for (const [settings, why] of refused) {
    const { code, log } = await TestNode.refuse(dataDir, settings);
    assert.deepEqual([code, why.test(log)], [2, true], log);
    const recovered = /: batch (\d+), \d+ open orders/.exec(log)?.[1];
    if (recovered === undefined) continue;
    batches ||= Number(recovered);
    assert.equal(Number(recovered), batches, 'no start has written a batch');
  }
  const again = await TestNode.start(dataDir, { DEMO: '', LOG_LEVEL: 'info' });
  assert.equal(await modeOf(again), 'ledger demo');
  const alice = await Trader.join(again, 'alice');
  assert.equal((await alice.ask(again, 'GET', '/ledger/balance')).status, 200);
  await again.stop();
});

test('API keys work when their chain is not stored', async () => {
  const dataDir = temporaryDirectory();
  const chainId = 80_002;
  const begun = await TestNode.start(dataDir, { CHAIN_ID: String(chainId) });
  const wallet = Wallet.fromSeed('of another chain');
  const signed = level1('SERVICE', wallet, chainId, seconds(), '0');
  const key = (await send(begun, 'POST', '/auth/api-key', signed)).json as ApiKey;
  await begun.stop();
  const again = await TestNode.start(dataDir);
  const info = (await get(again, '/exchange-info')).json as { readonly chain_id: number };
  assert.equal(info.chain_id, chainId);
  const path = '/auth/api-keys';
  const headers = level2('SERVICE', wallet.address, key, 'GET', path, '', seconds());
  assert.deepEqual((await get(again, path, headers)).json, [key.apiKey]);
  await again.stop();
});
