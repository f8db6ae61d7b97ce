import assert from 'node:assert/strict';
import test from 'node:test';
import { tableShapes } from '../../engine/tables/tables.ts';
import { readConfig, settingsOf } from '../../server/config/config.ts';
import { PROFILE_ROWS } from '../../server/config/profile.ts';
import { contract3Of } from '../../server/config/signing-domains.ts';

type Env = Record<string, string | undefined>;

function accepted(env: Env = {}, argv: readonly string[] = [], cores = 4) {
  const read = readConfig(env, argv, cores);
  assert(read.ok, read.ok ? '' : read.problems.join('\n'));
  return read.config;
}

function refused(env: Env, argv: readonly string[] = []): readonly string[] {
  const read = readConfig(env, argv, 4);
  assert(!read.ok, `${JSON.stringify(env)} should be refused`);
  return read.problems;
}

test('every default of the contract holds without any variable', () => {
  const { tradesAllowlist, ...rest } = accepted();
  assert.deepEqual(tradesAllowlist.entries, []);
  // The rows of profile.ts have tests of their own (profile.test.ts).
  const rows = Object.fromEntries(PROFILE_ROWS.map(([name]) => [name, rest[name]]));
  assert.deepEqual(rest, {
    host: '127.0.0.1',
    port: 3000,
    adminPort: 3001,
    adminHost: '127.0.0.1',
    adminToken: '',
    resolverToken: '',
    dataDir: './data',
    workers: 3,
    durability: 'flushed',
    trustProxy: 0,
    rateLimits: true,
    rateLimitsOverrides: {},
    rateLimitsMode: 'enforce',
    rebates: 'off',
    liquidityLevels: 10,
    ordersPer10s: 24_000,
    keysPerHour: 100,
    corsOrigins: ['*'],
    clientProfile: 'spec',
    ...rows,
    chainId: 137,
    domainVersion: '1',
    exchangeAddress2: '0xE111180000d2663C0091e4f400237545B87B996B',
    negRiskExchangeAddress2: '0xe2222d279d744050d28e00520010520000310F59',
    verifySignatures: true,
    selfTrade: 'allow',
    openOrdersPerAccount: 65_536,
    openOrdersPerWallet: 0,
    exposurePerWallet: 0,
    invites: false,
    walletsPerSigner: 1_000,
    ledger: false,
    faucet: 0,
    maxBatchOrders: 500,
    logLevel: 'info',
    logFormat: 'auto',
    demo: true,
    demoTraders: true,
    app: 'demo',
    mcp: false,
    resultCodes: false,
    faults: 'off',
    readyRoute: true,
    resolveConfirm: 'terminal',
    capacities: {
      markets: 65536,
      tokens: 262144,
      accounts: 1048576,
      orders: 1048576,
      levels: 8388608,
      trades: 1000000,
      history: 131072,
      positions: 1048576,
      operatorIds: 1048576,
    },
    imageSeconds: 300,
    imageBatches: 100000,
    journalKeep: 'images',
    logSegmentBytes: 16_777_216,
    engineQueue: 1024,
    authSkewSeconds: 300,
    heartbeatSeconds: 10,
    streamIdleSeconds: 120,
    streamSubscriptionsMax: 500,
    streamConnectionsMax: 32_768,
    streamConnectionsPerAddress: 512,
    connectionsMax: 65_536,
    connectionsPerAddress: 2048,
    connectionsOpenedPerSecond: 1000,
    streamBackpressureBytes: 4_194_304,
    streamAcks: false,
    streamBacklogMax: 268_435_456,
    streamCallerFactor: 10,
    catalogSyncUrl: '',
    catalogSyncSeconds: 300,
    mirrorUrl: '',
    mirrorStreamUrl: '',
    mirrorMarkets: { ids: [], slugs: [], conditions: [], tags: [], top: 200, text: 'top:200' },
    mirrorImpact: 'keep',
    mirrorQueue: 'pessimistic',
    mirrorLatencyMs: 0,
    mirrorRate: 50,
    mirrorFunds: 1_000_000_000,
    play: '',
    playSpeed: 1,
    playFrom: 0,
    playTo: 0,
    cluster: undefined,
    clusterCa: '',
    clusterCert: '',
    clusterKey: '',
    clusterUser: '',
    clusterPassword: '',
    nodeId: '',
    advertise: '',
    clusterSecret: '',
    clusterSecretPrevious: '',
    clusterSilenceMs: 1_500,
    clusterPort: 0,
    clusterRole: 'member',
    clusterKeepMb: 512,
    clusterWaitMs: 3_000,
  });
});

test('an empty variable counts as unset', () => {
  const names = ['HOST', 'PORT', 'DATA_DIR', 'DURABILITY', 'CHAIN_ID', 'EXCHANGE_ADDRESS', 'DEMO'];
  const { tradesAllowlist: _, ...empty } = accepted(
    Object.fromEntries(names.map((name) => [name, ''])),
  );
  const { tradesAllowlist: __, ...unset } = accepted();
  assert.deepEqual(empty, unset);
});

test('the default number of workers leaves one core free, within its bounds', () => {
  for (const [cores, workers] of [
    [0, 1],
    [1, 1],
    [2, 1],
    [8, 7],
    [500, 64],
  ] as const) {
    assert.equal(accepted({}, [], cores).workers, workers);
  }
});

test('every variable can be set', () => {
  const config = accepted({
    HOST: '::1',
    DATA_DIR: '/var/lib/node',
    DURABILITY: 'committed',
    TRADES_ALLOWLIST: '10.0.0.0/8, ::1',
    RATE_LIMITS: 'off',
    RATE_LIMITS_OVERRIDES: 'book=400/10, health=off',
    CORS_ORIGINS: 'https://app.example,http://localhost:5173',
    CREDENTIAL_PREFIX: 'MY_2',
    EIP712_DOMAIN_NAME: 'Börse',
    EIP712_DOMAIN_VERSION: '2',
    EXCHANGE_ADDRESS: `0x${'Ab'.repeat(20)}`,
    NEG_RISK_EXCHANGE_ADDRESS: `0x${'0'.repeat(40)}`,
    VERIFY_SIGNATURES: 'off',
    SELF_TRADE: 'cancel-both',
    RESOLVE_CONDITION_ID: 'on',
    LOG_LEVEL: 'silent',
    DEMO: 'off',
    DEMO_TRADERS: 'off',
    JOURNAL_KEEP: 'all',
  });
  assert.equal(config.host, '::1');
  assert.equal(config.dataDir, '/var/lib/node');
  assert.equal(config.durability, 'committed');
  assert.equal(config.tradesAllowlist.allows('10.1.2.3'), true);
  assert.equal(config.tradesAllowlist.allows('11.1.2.3'), false);
  assert.equal(config.rateLimits, false);
  assert.deepEqual(config.rateLimitsOverrides, {
    book: { requests: 400, seconds: 10 },
    health: 'off',
  });
  assert.deepEqual(config.corsOrigins, ['https://app.example', 'http://localhost:5173']);
  assert.equal(config.credentialPrefix, 'MY_2');
  assert.equal(config.domainName, 'Börse');
  assert.equal(config.domainVersion, '2');
  assert.equal(config.exchangeAddress, `0x${'Ab'.repeat(20)}`);
  assert.equal(config.negRiskExchangeAddress, `0x${'0'.repeat(40)}`);
  assert.equal(config.verifySignatures, false);
  assert.equal(config.selfTrade, 'cancel-both');
  assert.equal(config.resolveConditionId, true);
  assert.equal(config.logLevel, 'silent');
  assert.equal(config.demo, false);
  assert.equal(config.journalKeep, 'all');
});

/** Name, lowest and highest value of every number, and its member of the configuration. */
const NUMBERS: readonly (readonly [string, number, number, string])[] = [
  ['PORT', 0, 65535, 'port'],
  ['ADMIN_PORT', 0, 65535, 'adminPort'],
  ['WORKERS', 1, 64, 'workers'],
  ['TRUST_PROXY', 0, 16, 'trustProxy'],
  ['CHAIN_ID', 1, 2 ** 53 - 1, 'chainId'],
  ['MAX_BATCH_ORDERS', 1, 5000, 'maxBatchOrders'],
  ['MAX_CANCEL_IDS', 1000, 3000, 'maxCancelIds'],
  ['MARKETS_MAX', 16, 2 ** 20, 'markets'],
  ['TOKENS_MAX', 32, 2 ** 22, 'tokens'],
  ['ACCOUNTS_MAX', 16, 2 ** 24, 'accounts'],
  ['ORDERS_MAX', 16, 2 ** 23, 'orders'],
  ['LEVELS_MAX', 1024, 2 ** 26, 'levels'],
  ['TRADES_MAX', 1000, 2 ** 23, 'trades'],
  ['ORDER_HISTORY', 16, 2 ** 24, 'history'],
  ['POSITIONS_MAX', 16, 2 ** 24, 'positions'],
  ['OPERATOR_IDS_MAX', 16, 2 ** 24, 'operatorIds'],
  ['IMAGE_SECONDS', 1, 86400, 'imageSeconds'],
  ['IMAGE_BATCHES', 1, 2 ** 31, 'imageBatches'],
  ['LOG_SEGMENT_BYTES', 65536, 2 ** 28, 'logSegmentBytes'],
  ['ENGINE_QUEUE', 1, 65536, 'engineQueue'],
  ['OPEN_ORDERS_PER_ACCOUNT', 1, 16777216, 'openOrdersPerAccount'],
  ['OPEN_ORDERS_PER_WALLET', 0, 16777216, 'openOrdersPerWallet'],
  ['EXPOSURE_PER_WALLET', 0, 9007199254, 'exposurePerWallet'],
  ['WALLETS_PER_SIGNER', 1, 16777216, 'walletsPerSigner'],
  ['FAUCET', 0, 9007199254, 'faucet'],
  ['ORDERS_PER_10S', 1, 1e9, 'ordersPer10s'],
  ['KEYS_PER_HOUR', 1, 1e9, 'keysPerHour'],
  ['AUTH_SKEW_SECONDS', 1, 86400, 'authSkewSeconds'],
  ['HEARTBEAT_SECONDS', 1, 3600, 'heartbeatSeconds'],
  ['STREAM_IDLE_SECONDS', 1, 900, 'streamIdleSeconds'],
  ['STREAM_SUBSCRIPTIONS_MAX', 1, 10000, 'streamSubscriptionsMax'],
  ['STREAM_CONNECTIONS_MAX', 1, 65536, 'streamConnectionsMax'],
  ['STREAM_CONNECTIONS_PER_ADDRESS', 1, 65536, 'streamConnectionsPerAddress'],
  ['CONNECTIONS_MAX', 16, 2 ** 20, 'connectionsMax'],
  ['CONNECTIONS_PER_ADDRESS', 1, 2 ** 20, 'connectionsPerAddress'],
  ['CONNECTIONS_OPENED_PER_SECOND', 1, 1e6, 'connectionsOpenedPerSecond'],
  ['STREAM_BACKPRESSURE_BYTES', 1048576, 268435456, 'streamBackpressureBytes'],
  ['STREAM_BACKLOG_MAX', 4194304, 68719476736, 'streamBacklogMax'],
  ['STREAM_CALLER_FACTOR', 1, 10000, 'streamCallerFactor'],
  ['CATALOG_SYNC_SECONDS', 1, 86400, 'catalogSyncSeconds'],
  ['MIRROR_LATENCY_MS', 0, 60_000, 'mirrorLatencyMs'],
  ['MIRROR_RATE', 1, 1_000, 'mirrorRate'],
  ['MIRROR_FUNDS', 1, 9_007_199_254, 'mirrorFunds'],
  ['PLAY_FROM', 0, 4_102_444_799_999, 'playFrom'],
  ['PLAY_TO', 0, 4_102_444_799_999, 'playTo'],
];

for (const [name, min, max, field] of NUMBERS) {
  test(`${name} accepts whole numbers from ${min} to ${max} and nothing else`, () => {
    for (const value of [min, max]) {
      const config = accepted({ [name]: String(value) });
      assert.equal(({ ...config, ...config.capacities } as Record<string, unknown>)[field], value);
    }
    const outside = [String(min - 1), String(max + 1), `${max}0000`, '9'.repeat(30)];
    for (const text of [...outside, 'x', '1.5', '1e3', ' 20', '020', '+20', '0x20', 'NaN', '-0']) {
      const problems = refused({ [name]: text });
      assert.deepEqual(problems, [
        `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`,
      ]);
    }
  });
}

test('each table fits an array of Node 20 with the largest settings', () => {
  const names = ['ORDERS_MAX', 'ORDER_HISTORY', 'TRADES_MAX'];
  const largest = NUMBERS.filter(([name]) => names.includes(name));
  assert.equal(largest.length, names.length);
  const { capacities } = accepted(
    Object.fromEntries(largest.map(([name, , max]) => [name, String(max)])),
  );
  const { fills, orders } = tableShapes(capacities);
  assert(Math.max(fills, orders) <= 2 ** 32, `${fills} and ${orders} bytes`);
});

test('a wrong text is refused with its variable, the rule and the value', () => {
  const wrong: readonly (readonly [string, readonly string[]])[] = [
    ['HOST', ['a b', '1.2.3', '256.1.1.1', '[::1]', 'http://x', '-a', 'a..b', 'x'.repeat(64)]],
    ['DATA_DIR', ['a\0b']],
    ['DURABILITY', ['Flushed', 'none']],
    ['TRADES_ALLOWLIST', ['10.0.0.0/33', 'a', '1.1.1.1,']],
    ['RATE_LIMITS', ['true']],
    [
      'RATE_LIMITS_OVERRIDES',
      ['books', 'book=', 'book=0/10', 'book=1/0', 'book=1/86401', 'book=1000000001/1', 'book=1'],
    ],
    ['RATE_LIMITS_OVERRIDES', ['nobody=1/1', 'book=1/1,book=2/2', 'book=1/1,', '__proto__=1/1']],
    ['CORS_ORIGINS', ['app.example', 'https://app.example/', 'https://a.example,*']],
    ['CREDENTIAL_PREFIX', ['service', '2X', '_X', 'X-Y', 'X ']],
    ['EIP712_DOMAIN_NAME', ['a\nb', 'x'.repeat(101)]],
    ['EIP712_DOMAIN_VERSION', ['\t']],
    ['EXCHANGE_ADDRESS', ['0x', `0x${'a'.repeat(39)}`, 'a'.repeat(40), `0x${'g'.repeat(40)}`]],
    ['NEG_RISK_EXCHANGE_ADDRESS', [`0X${'a'.repeat(40)}`, `0x${'a'.repeat(41)}`]],
    [
      'PROXY_WALLET_FACTORY',
      ['0x', `0x${'a'.repeat(40)}`, `0x${'a'.repeat(40)}:0x${'b'.repeat(63)}`],
    ],
    ['SAFE_WALLET_FACTORY', ['None', `0x${'a'.repeat(40)}/0x${'b'.repeat(64)}`]],
    ['EXCHANGE_ADDRESS_3', ['off', '0x', `0x${'a'.repeat(41)}`]],
    ['BEACON_WALLET_FACTORY', [`0x${'a'.repeat(40)}`, `0x${'a'.repeat(40)}:0x${'b'.repeat(64)}`]],
    ['UUPS_WALLET_FACTORY', ['None', `0x${'a'.repeat(40)}/0x${'b'.repeat(40)}`]],
    ['VERIFY_SIGNATURES', ['true', 'ON']],
    ['SELF_TRADE', ['cancel', 'decrement']],
    ['LOG_LEVEL', ['trace']],
    ['LOG_FORMAT', ['text']],
    ['DEMO', ['1', 'no']],
    ['JOURNAL_KEEP', ['none']],
  ];
  for (const [name, texts] of wrong) {
    for (const text of texts) {
      const [problem = '', ...more] = refused({ [name]: text });
      assert(problem.startsWith(`${name} must be `), problem);
      assert(problem.includes(JSON.stringify(text).slice(0, 50)), problem);
      assert.doesNotMatch(problem, /\p{Cc}/u);
      assert.deepEqual(more, []);
    }
  }
});

test('an admin listener beyond loopback needs a token, which no text repeats', () => {
  const token = 'correct-horse-battery';
  const elsewhere = { ADMIN_HOST: '0.0.0.0' };
  assert.match(refused(elsewhere)[0]!, /^ADMIN_TOKEN must be set where ADMIN_HOST is no loopback/);
  assert.match(
    refused({ ...elsewhere, ADMIN_TOKEN: 'short' })[0]!,
    /^ADMIN_TOKEN must be 16 to 200/,
  );
  assert(!refused({ ADMIN_TOKEN: 'so secret!' }).join().includes('secret'));
  accepted({ ...elsewhere, ADMIN_PORT: '0' });
  assert.match(
    refused({ ADMIN_TOKEN: token, RESOLVER_TOKEN: token })[0]!,
    /^RESOLVER_TOKEN must be another/,
  );
  for (const ADMIN_HOST of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) accepted({ ADMIN_HOST });
  const config = accepted({ ...elsewhere, ADMIN_TOKEN: token });
  assert.equal(config.adminToken, token);
  assert.equal(settingsOf(config).ADMIN_TOKEN, '(set)');
  assert(!JSON.stringify(settingsOf(config)).includes(token));
});

test('a node of a cluster has a name, an address and a secret', () => {
  const CLUSTER = 'etcd://a:2379,b:2379,c:2379/venue';
  const CLUSTER_SECRET = 'x'.repeat(32);
  const whole = { CLUSTER, NODE_ID: 'n1', ADVERTISE: 'http://10.0.0.1:3000', CLUSTER_SECRET };
  const config = accepted(whole);
  assert.deepEqual(config.cluster?.members, ['a:2379', 'b:2379', 'c:2379']);
  assert.equal(settingsOf(config).CLUSTER, CLUSTER);
  assert(!JSON.stringify(settingsOf(config)).includes(CLUSTER_SECRET));
  assert.deepEqual(
    refused({ CLUSTER }).map((problem) => problem.split(':')[0]),
    ['CLUSTER needs NODE_ID', 'CLUSTER needs ADVERTISE', 'CLUSTER needs CLUSTER_SECRET'],
  );
  assert.deepEqual(refused({ ...whole, CLUSTER_CERT: '/cert' }), [
    'CLUSTER_CERT and CLUSTER_KEY belong together',
  ]);
  const CLUSTER_SECRET_PREVIOUS = 'y'.repeat(32);
  const changing = accepted({ ...whole, CLUSTER_SECRET_PREVIOUS });
  assert(!JSON.stringify(settingsOf(changing)).includes(CLUSTER_SECRET_PREVIOUS));
  assert.deepEqual(refused({ ...whole, CLUSTER_SECRET_PREVIOUS: CLUSTER_SECRET }), [
    'CLUSTER_SECRET_PREVIOUS must be another secret than CLUSTER_SECRET',
  ]);
  assert.match(refused({ ...whole, CLUSTER: 'http://a' })[0]!, /^CLUSTER must be an address such/);
  assert.match(refused({ ...whole, CLUSTER_SECRET: 'short' })[0]!, /^CLUSTER_SECRET must be 32 to/);
  assert.match(refused({ ...whole, ADVERTISE: 'http://a/path' })[0]!, /^ADVERTISE must be an http/);
});

test('a long value is not repeated in full', () => {
  assert(refused({ PORT: 'x'.repeat(10_000) })[0]!.length < 200);
});

test('all problems are reported at once', () => {
  const problems = refused({ PORT: 'x', DEMO: 'y', WORKERS: '0' }, ['--what']);
  const names = ['"--what"', 'PORT', 'WORKERS', 'DEMO'];
  assert.equal(problems.length, names.length);
  for (const name of names)
    assert(
      problems.some((problem) => problem.includes(name)),
      name,
    );
});

test('a variable counts as set when it has a text or a flag replaces it', () => {
  const setOf = (env: Env, flags: readonly string[] = []): string[] => {
    const read = readConfig(env, flags, 4);
    assert(read.ok);
    return [...read.set];
  };
  assert.deepEqual(setOf({ LEDGER: '', PORT: '3000', OTHER: 'x' }), ['PORT']);
  assert.deepEqual(setOf({}, ['--no-demo']), ['DEMO']);
});

test('problems have the format of the log when its settings are right', () => {
  const logOf = (env: Env): unknown => {
    const read = readConfig({ ADMIN_TOKEN: 'x', ...env }, [], 4);
    assert(!read.ok);
    return read.log;
  };
  assert.deepEqual(logOf({}), { logFormat: 'auto', logLevel: 'info' });
  const json = { LOG_FORMAT: 'json', LOG_LEVEL: 'silent' };
  assert.deepEqual(logOf(json), { logFormat: 'json', logLevel: 'silent' });
  assert.deepEqual(logOf({ LOG_FORMAT: 'x' }), { logFormat: 'auto', logLevel: 'info' });
});

test('--no-demo is DEMO=off, and any other argument is a problem', () => {
  assert.equal(accepted({}, ['--no-demo']).demo, false);
  assert.equal(accepted({ DEMO: 'on' }, ['--no-demo']).demo, false);
  for (const argument of ['--demo', 'no-demo', '--no-demo=1', '-h', '']) {
    assert.equal(refused({}, [argument]).length, 1);
  }
});

test('the settings printed at a start start the same node again', () => {
  const config = accepted({
    PORT: '0',
    TRADES_ALLOWLIST: '10.0.0.0/8,::1',
    RATE_LIMITS_OVERRIDES: 'orderSustained=100/60,book=off',
    CORS_ORIGINS: 'none',
    VERIFY_SIGNATURES: 'off',
    EIP712_DOMAIN_NAME: 'A=B',
    TRADES_MAX: '5000',
    CATALOG_SYNC_URL: 'https://catalog.example/api',
  });
  const env = settingsOf(config);
  const { tradesAllowlist: expectedList, ...expected } = config;
  const { tradesAllowlist: list, ...again } = accepted(env, [], 64);
  assert.deepEqual(again, expected);
  assert.deepEqual(list.entries, expectedList.entries);
});

test('an empty allow-list, no overrides and no catalog to mirror are printed in words', () => {
  const told = settingsOf(accepted());
  assert.equal(told.RATE_LIMITS_OVERRIDES, '(none)');
  assert.equal(told.TRADES_ALLOWLIST, '(everyone)');
  assert.equal(told.CATALOG_SYNC_URL, '(none)');
});

test('the address of a catalog to mirror is a plain web address', () => {
  const urls = ['ftp://a.example', 'a.example', 'http://me:pw@a.example', 'http://a.example/?x=1'];
  for (const CATALOG_SYNC_URL of urls) {
    const read = readConfig({ CATALOG_SYNC_URL }, [], 2);
    assert(!read.ok);
    assert.match(read.problems[0] ?? '', /^CATALOG_SYNC_URL must be an http or https address/);
  }
});

test('a mirror needs a ledger, is no node of a cluster, and has the catalog of its source', () => {
  const MIRROR_URL = 'https://venue.example';
  assert.equal(accepted({ MIRROR_URL, LEDGER: 'on' }).catalogSyncUrl, MIRROR_URL);
  const CATALOG_SYNC_URL = 'https://catalog.example';
  const apart = accepted({ MIRROR_URL, LEDGER: 'on', CATALOG_SYNC_URL });
  assert.equal(apart.catalogSyncUrl, CATALOG_SYNC_URL);
  assert.equal(accepted({ MIRROR_URL }).ledger, false, 'the directory may have one');
  for (const needs of [{ MIRROR_URL }, { PLAY: 'day.rec' }, { FAUCET: '1' }]) {
    const [name] = Object.keys(needs);
    const problems = refused({ ...needs, LEDGER: 'off' });
    assert.deepEqual(problems, [`${name} needs LEDGER=on: it is about cash`]);
  }
  const CLUSTER = 'etcd://127.0.0.1:2379/a';
  assert(refused({ MIRROR_URL, LEDGER: 'on', CLUSTER }).some((line) => /^MIRROR_URL/.test(line)));
  assert.match(refused({ MIRROR_STREAM_URL: 'wss://a.example' })[0] ?? '', /without MIRROR_URL$/);
});

test('markets to mirror are chosen by id, slug, condition id, tag and volume', () => {
  const condition = `0x${'Ab'.repeat(32)}`;
  const MIRROR_MARKETS = `12, some-market,${condition},tag:sports,top:50`;
  assert.deepEqual(accepted({ MIRROR_MARKETS }).mirrorMarkets, {
    ids: ['12'],
    slugs: ['some-market'],
    conditions: [condition.toLowerCase()],
    tags: ['sports'],
    top: 50,
    text: MIRROR_MARKETS,
  });
  for (const wrong of ['top:0', 'top:2001', 'tag:', 'a b', ',', '0x12!']) {
    assert.match(refused({ MIRROR_MARKETS: wrong })[0] ?? '', /^MIRROR_MARKETS must be/, wrong);
  }
});

test('a variable that is probably misspelt is named without its value', () => {
  const warnings = (env: Env): readonly string[] => {
    const read = readConfig(env, [], 4);
    assert(read.ok);
    return read.warnings;
  };
  const meant = (name: string): string | undefined =>
    /is (\w+) meant/.exec(warnings({ [name]: 'secret' })[0] ?? '')?.[1];
  assert.equal(meant('TRADES_ALOWLIST'), 'TRADES_ALLOWLIST');
  assert.equal(meant('RESOLVE_CONDITION_IDS'), 'RESOLVE_CONDITION_ID');
  assert.equal(meant('DATADIR'), 'DATA_DIR');
  assert.equal(meant('data_dir'), 'DATA_DIR');
  assert.equal(meant('DATA_DRI'), 'DATA_DIR');
  assert.equal(meant('SELFTRADE'), 'SELF_TRADE');
  assert.equal(meant('CHAINID'), 'CHAIN_ID');
  assert.equal(meant('PROT'), 'PORT');
  assert.equal(meant('AUTH_SKEW'), 'AUTH_SKEW_SECONDS');
  assert.deepEqual(warnings({ CATALOG_SYNC_INTERVAL: 'secret' }), [
    'unknown variable CATALOG_SYNC_INTERVAL: there is none of this name',
  ]);
  assert.equal(warnings({ TRUST_PROXIES: '1', STREAM_TIMEOUT: '1' }).length, 2);
  for (const name of [
    'PATH',
    'HOME',
    'HOSTNAME',
    'USER',
    'LOGNAME',
    'PWD',
    'LANG',
    'TERM',
    'POSH',
  ]) {
    assert.deepEqual(warnings({ [name]: 'x' }), [], name);
  }
  assert.deepEqual(warnings({ TRADES_ALOWLIST: '' }), [], 'empty is unset');
  assert(!warnings({ DATADIR: 'secret' }).join().includes('secret'));
  assert.deepEqual(warnings({ HOST: '127.0.0.1', PORT: '0', WORKERS: '1', LOG_LEVEL: 'info' }), []);
});

test('the published contract of version 3 is that of the chain, and an address counts on every chain', () => {
  const of = (env: Env) => contract3Of(accepted({ CLIENT_PROFILE: 'polymarket', ...env }));
  const [usual, amoy] = [
    '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa',
    '0x9fE6e61422AdB6F610d8597F9684b16912D50C3D',
  ];
  assert.deepEqual(
    ['137', '80002', '31337'].map((CHAIN_ID) => of({ CHAIN_ID })),
    [usual, amoy, usual],
  );
  const own = `0x${'12'.repeat(20)}`;
  assert.equal(of({ CHAIN_ID: '80002', EXCHANGE_ADDRESS_3: own }), own);
  assert.equal(of({ EXCHANGE_ADDRESS_3: 'none' }), undefined);
  assert.equal(contract3Of(accepted()), undefined);
});
