/**
 * Table of settings, one row for each environment variable, in the order of checks and of printed lines. `Config`, the
 * parser and docs/reference/configuration.md follow from it. Settings of client profiles are in profile.ts.
 *
 * Pure; any thread. Not here: reading the environment (config.ts).
 */
import { IMPACTS } from '../../engine/paper/mirrored-book.ts';
import { QUEUE_RULES } from '../../engine/paper/place.ts';
import { AMOUNT_MAX, DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { MICRO } from '../../engine/tables/units.ts';
import { RECORDING_TIME_MAX } from '../../storage/recordings/times.ts';
import { RATE_LIMITS, REQUESTS_MAX } from '../http/limits/rate-limits.ts';
import {
  ADDRESS,
  ALLOWLIST,
  CLUSTER_ADDRESS,
  CORS_ORIGINS,
  HOST,
  type Kept,
  MARKET_CHOICE,
  NODE_NAME,
  OFF_UNLESS_SET,
  ON_UNLESS_SET,
  ORIGIN,
  PASSWORD,
  PATH,
  PRINTABLE,
  PROFILES,
  RATE_OVERRIDES,
  SECRET,
  type Setting,
  SIGNING,
  SOURCE_URL,
  SPEED,
  STREAM_URL,
  setting,
  TOKEN,
  VENUE_URL,
  whole,
  words,
} from './kinds.ts';
import { PROFILE_TABLE } from './profile.ts';

/** Requests are applied one at a time, so more threads would mostly wait. */
const WORKERS_MAX = 64;
/** Units of collateral. */
const FAUCET_MAX = Math.floor(AMOUNT_MAX / MICRO);
const SELF_TRADES = ['allow', 'cancel-taker', 'cancel-maker', 'cancel-both'] as const;

/** For settings that change results. */
const COMMANDED: Kept = {
  by: 'log',
  unset: 'the default',
  changed: 'a command of the next start; in a cluster that of the node that leads',
};
const ROOM: Kept = {
  by: 'directory',
  unset: 'the default, or the size in the newest snapshot where that is larger',
  changed: 'as given; refused where more rows are in use',
};
const COMMANDED_ROOM: Kept = {
  by: 'log',
  unset: ROOM.unset,
  changed: `${ROOM.changed}; it becomes a command, too`,
};
const RING: Kept = { ...ROOM, changed: 'as given; a smaller one has the newest rows alone' };

export const SETTINGS = {
  host: setting('HOST', HOST, '127.0.0.1').describe('where to listen'),
  port: setting('PORT', whole(0, 65_535), 3000).describe('0 = any free port'),
  adminPort: setting('ADMIN_PORT', whole(0, 65_535), 3001).describe(
    'the [admin listener](../../server/admin/README.md); 0 = none',
  ),
  adminHost: setting('ADMIN_HOST', HOST, '127.0.0.1').describe('where it listens'),
  adminToken: setting('ADMIN_TOKEN', TOKEN, '').describe(
    'its bearer token; needed where `ADMIN_HOST` is no loopback address',
  ),
  resolverToken: setting('RESOLVER_TOKEN', TOKEN, '').describe(
    'a bearer token for what resolving a market needs, and nothing else',
  ),
  resolveConfirm: setting('RESOLVE_CONFIRM', words(['terminal', 'always']), 'terminal').describe(
    '`always`: each payout of a market needs `confirm` (`--yes`); `terminal`: a command with a terminal asks',
  ),
  dataDir: setting('DATA_DIR', PATH, './data').describe(
    'log, snapshots, fills, history, keys, catalog, `node.key`',
  ),
  workers: setting('WORKERS', whole(1, WORKERS_MAX), ({ cores }) =>
    Math.min(WORKERS_MAX, Math.max(1, cores - 1)),
  ).describe('threads that check signatures and match; by default all processors but one'),
  durability: setting('DURABILITY', words(['flushed', 'committed']), 'flushed').describe(
    '`flushed`: an acknowledged order survives a power cut; `committed`: a kill only',
  ),
  tradesAllowlist: setting('TRADES_ALLOWLIST', ALLOWLIST, '').describe(
    'who may read the data API and live activity',
  ),
  trustProxy: setting('TRUST_PROXY', whole(0, 16), 0).describe(
    'proxies in front of the node whose `X-Forwarded-For` entries count',
  ),
  connectionsMax: setting('CONNECTIONS_MAX', whole(16, 2 ** 20), 65_536).describe(
    'connections in all, at most `ulimit -n` less 512; the next is closed at once',
  ),
  connectionsPerAddress: setting('CONNECTIONS_PER_ADDRESS', whole(1, 2 ** 20), 2048).describe(
    'connections of one address (of IPv6: a /64), at most half of all ([below](#connections))',
  ),
  connectionsOpenedPerSecond: setting(
    'CONNECTIONS_OPENED_PER_SECOND',
    whole(1, 1_000_000),
    1000,
  ).describe('connections that one address may open in a second'),
  readyRoute: setting('READY_ROUTE', ON_UNLESS_SET, 'on').describe(
    '`off`: [`GET /ready`](../protocol.md#readiness) is not served on the public port',
  ),
  rateLimits: setting('RATE_LIMITS', ON_UNLESS_SET, 'on').describe(
    '`off`: requests are not limited, and connections of an address not bounded',
  ),
  rateLimitsOverrides: setting('RATE_LIMITS_OVERRIDES', RATE_OVERRIDES, '').describe(
    'rows of `GET /rate-limits` with other caps: `book=400/10,health=off` (requests/seconds)',
  ),
  rateLimitsMode: setting('RATE_LIMITS_MODE', words(['enforce', 'warn']), 'enforce').describe(
    '`warn`: a request beyond a cap is answered as usual, and named in a [header](../protocol.md#rate-limits)',
  ),
  ordersPer10s: setting(
    'ORDERS_PER_10S',
    whole(1, REQUESTS_MAX),
    RATE_LIMITS.keyOrders.requests,
  ).describe('the row `keyOrders` of `GET /rate-limits`; a batch of more orders is never taken'),
  keysPerHour: setting(
    'KEYS_PER_HOUR',
    whole(1, REQUESTS_MAX),
    RATE_LIMITS.keysIssued.requests,
  ).describe('the row `keysIssued` of `GET /rate-limits`'),
  corsOrigins: setting('CORS_ORIGINS', CORS_ORIGINS, '*').describe(
    'web pages that may read answers, such as `https://app.example`',
  ),
  clientProfile: setting('CLIENT_PROFILE', words(PROFILES), PROFILES[0]).describe(
    '`polymarket`: as the clients of that service expect ([below](#what-client_profile-changes))',
  ),
  ...PROFILE_TABLE,
  chainId: setting('CHAIN_ID', whole(1, Number.MAX_SAFE_INTEGER), 137).describe(
    'of the signing domains',
    {
      by: 'directory',
      unset:
        'the chain under which the API keys of the directory were issued; the default where there are none',
      changed: 'refused once there are API keys; in a cluster where it differs',
    },
  ),
  domainVersion: setting('EIP712_DOMAIN_VERSION', PRINTABLE, '1').describe(
    'of the domain of orders of version 1',
    SIGNING,
  ),
  // The addresses that published clients of version 2 sign for.
  exchangeAddress2: setting(
    'EXCHANGE_ADDRESS_2',
    ADDRESS,
    '0xE111180000d2663C0091e4f400237545B87B996B',
  ).describe('contract that orders of version 2 are signed for', SIGNING),
  negRiskExchangeAddress2: setting(
    'NEG_RISK_EXCHANGE_ADDRESS_2',
    ADDRESS,
    '0xe2222d279d744050d28e00520010520000310F59',
  ).describe('the same of neg-risk markets', SIGNING),
  verifySignatures: setting('VERIFY_SIGNATURES', ON_UNLESS_SET, 'on').describe(
    '`off` for benchmarks; warns loudly',
    SIGNING,
  ),
  selfTrade: setting('SELF_TRADE', words(SELF_TRADES), 'allow').describe(
    'what happens when an order would trade with another of the same `maker` ([rules](../protocol.md#self-trade))',
    COMMANDED,
  ),
  openOrdersPerAccount: setting('OPEN_ORDERS_PER_ACCOUNT', whole(1, 2 ** 24), 65_536).describe(
    'open orders of one signer; set it well below `ORDERS_MAX`',
    COMMANDED,
  ),
  walletsPerSigner: setting('WALLETS_PER_SIGNER', whole(1, 2 ** 24), 1_000).describe(
    'wallets (`maker`) of one signer beside its own address; an order for one more is refused',
    COMMANDED,
  ),
  openOrdersPerWallet: setting('OPEN_ORDERS_PER_WALLET', whole(0, 2 ** 24), 0).describe(
    'open orders of one wallet (`maker`), whoever signs; 0 = as many as its signer may have ([rules](../protocol.md#limits-of-a-wallet))',
    COMMANDED,
  ),
  exposurePerWallet: setting('EXPOSURE_PER_WALLET', whole(0, FAUCET_MAX), 0).describe(
    'with a ledger: units of collateral that a wallet may have reserved and spent on its positions; 0 = no bound',
    COMMANDED,
  ),
  ledger: setting('LEDGER', OFF_UNLESS_SET, 'off').describe(
    '`on`: cash and shares are kept, reserved and paid out ([ledger](../ledger.md))',
    {
      by: 'directory',
      unset: 'the mode of the directory, or of the cluster; `off` in a new one',
      changed: 'refused',
    },
  ),
  faucet: setting('FAUCET', whole(0, FAUCET_MAX), 0).describe(
    'with a ledger: units of play money that the first API key of a wallet brings',
    {
      by: 'directory',
      unset: 'nothing is given',
      changed: 'as given; refused where there is no ledger',
    },
  ),
  invites: setting('INVITES', OFF_UNLESS_SET, 'off').describe(
    '`on`: the first API key of a wallet needs an [invitation](../protocol.md#invitations), and `FAUCET` gives nothing',
  ),
  rebates: setting('REBATES', words(['off', 'daily']), 'off').describe(
    '`daily`: after midnight of UTC the makers of the day before are paid their [rebates](../ledger.md#rebates) out of the fees of the venue',
  ),
  liquidityLevels: setting('LIQUIDITY_LEVELS', whole(0, 100), 10).describe(
    'orders of the [house](../protocol.md#liquidity-of-the-house) on each side of a market with liquidity; 0 = none',
  ),
  maxBatchOrders: setting('MAX_BATCH_ORDERS', whole(1, 5000), 500).describe(
    'orders of one request',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    words(['debug', 'info', 'warn', 'error', 'silent']),
    'info',
  ).describe('the least important lines that are written'),
  logFormat: setting('LOG_FORMAT', words(['auto', 'pretty', 'json']), 'auto').describe(
    '`auto`: pretty on a terminal, a line of JSON elsewhere',
  ),
  demo: setting('DEMO', ON_UNLESS_SET, 'on').describe('`off`: no demo on a first start', {
    by: 'directory',
    unset: 'as the directory is; a new one gets the demo, unless its catalog comes from elsewhere',
    changed: 'refused: `off` where markets of the demo are open, `on` where there are others alone',
  }),
  demoTraders: setting('DEMO_TRADERS', ON_UNLESS_SET, 'on').describe(
    '`off`: nobody trades the demo; a catalog that is not the demo is never traded',
  ),
  app: setting('APP', words(['demo', 'on', 'off']), 'demo').describe(
    'the [trading page](../protocol.md#trading-page) on the public port: `demo`: where the demo is',
  ),
  mcp: setting('MCP', OFF_UNLESS_SET, 'off').describe(
    '`on`: [tools for agents](../guides/agents.md) at `POST /mcp`; needs the package `@modelcontextprotocol/server`',
  ),
  resultCodes: setting('RESULT_CODES', OFF_UNLESS_SET, 'off').describe(
    '`on`: results of refused orders and cancels have `detail` and [`code`](../protocol.md#refusal-codes)',
  ),
  faults: setting('FAULTS', words(['off', 'operator', 'on']), 'off').describe(
    '[failures on demand](../protocol.md#faults): none, those of an operator, or also those that a key makes for itself',
  ),
  capacities: {
    markets: setting('MARKETS_MAX', whole(16, 2 ** 20), DEFAULT_CAPACITIES.markets).describe(
      "rows of the engine's tables, as all down to `OPERATOR_IDS_MAX`; may grow between runs",
      ROOM,
    ),
    tokens: setting('TOKENS_MAX', whole(32, 2 ** 22), DEFAULT_CAPACITIES.tokens).describe(
      'outcome tokens',
      ROOM,
    ),
    accounts: setting('ACCOUNTS_MAX', whole(16, 2 ** 24), DEFAULT_CAPACITIES.accounts).describe(
      'wallets and signers',
      ROOM,
    ),
    orders: setting('ORDERS_MAX', whole(16, 2 ** 23), DEFAULT_CAPACITIES.orders).describe(
      'open orders',
      COMMANDED_ROOM,
    ),
    levels: setting('LEVELS_MAX', whole(1024, 2 ** 26), DEFAULT_CAPACITIES.levels).describe(
      'price levels of all ladders',
      ROOM,
    ),
    trades: setting('TRADES_MAX', whole(1000, 2 ** 23), DEFAULT_CAPACITIES.trades).describe(
      'newest fills that `/trades` can reach',
      RING,
    ),
    history: setting('ORDER_HISTORY', whole(16, 2 ** 24), DEFAULT_CAPACITIES.history).describe(
      'newest closed orders whose ids stay in memory; older ones are on disk',
      COMMANDED_ROOM,
    ),
    positions: setting('POSITIONS_MAX', whole(16, 2 ** 24), DEFAULT_CAPACITIES.positions).describe(
      'with a ledger: shares of a wallet in a token; an order that needs one more is refused',
      ROOM,
    ),
    operatorIds: setting(
      'OPERATOR_IDS_MAX',
      whole(16, 2 ** 24),
      DEFAULT_CAPACITIES.operatorIds,
    ).describe(
      'with a ledger: [ids](../ledger.md#request-ids) of operators that do not begin with unix milliseconds; a command with one more is refused',
      ROOM,
    ),
  },
  imageSeconds: setting('IMAGE_SECONDS', whole(1, 86_400), 300).describe(
    'a snapshot of memory is taken after so many seconds',
  ),
  imageBatches: setting('IMAGE_BATCHES', whole(1, 2 ** 31), 100_000).describe(
    'or after so many batches, whichever comes first',
  ),
  journalKeep: setting('JOURNAL_KEEP', words(['images', 'all']), 'images').describe(
    '`all` keeps every batch for ever',
  ),
  logSegmentBytes: setting('LOG_SEGMENT_BYTES', whole(2 ** 16, 2 ** 28), 2 ** 24).describe(
    'size of a file of the log, of its first at most 1048576; two are there at any time',
  ),
  engineQueue: setting('ENGINE_QUEUE', whole(1, 65_536), 1024).describe(
    'requests that may wait for a worker before `engine busy`',
  ),
  authSkewSeconds: setting('AUTH_SKEW_SECONDS', whole(1, 86_400), 300).describe(
    "how far a client's clock may be off, to either side",
  ),
  heartbeatSeconds: setting('HEARTBEAT_SECONDS', whole(1, 3_600), 10).describe(
    'heartbeat timeout of a client, whose open orders are then cancelled',
  ),
  streamIdleSeconds: setting('STREAM_IDLE_SECONDS', whole(1, 900), 120).describe(
    'a stream connection that says nothing for so long is closed',
  ),
  streamSubscriptionsMax: setting('STREAM_SUBSCRIPTIONS_MAX', whole(1, 10_000), 500).describe(
    'tokens, or markets, of one stream connection',
  ),
  streamConnectionsMax: setting('STREAM_CONNECTIONS_MAX', whole(1, 65_536), 32_768).describe(
    'stream connections; the next is answered 503',
  ),
  streamConnectionsPerAddress: setting(
    'STREAM_CONNECTIONS_PER_ADDRESS',
    whole(1, 65_536),
    512,
  ).describe('stream connections of one caller; the next is answered 429'),
  streamBackpressureBytes: setting(
    'STREAM_BACKPRESSURE_BYTES',
    whole(2 ** 20, 2 ** 28),
    2 ** 22,
  ).describe('unread bytes at which a slow reader is closed'),
  streamBacklogMax: setting('STREAM_BACKLOG_MAX', whole(2 ** 22, 2 ** 36), 2 ** 28).describe(
    'unread bytes of all stream connections; beyond it the slowest reader is cut',
  ),
  streamCallerFactor: setting('STREAM_CALLER_FACTOR', whole(1, 10_000), 10).describe(
    'bounds of an address, as a multiple of those of one stream connection',
  ),
  streamAcks: setting('STREAM_ACKS', OFF_UNLESS_SET, 'off').describe(
    '`on`: subscriptions are answered unless a message says `"ack": false`',
  ),
  catalogSyncUrl: setting('CATALOG_SYNC_URL', SOURCE_URL, '').describe('a catalog API to mirror'),
  catalogSyncSeconds: setting('CATALOG_SYNC_SECONDS', whole(1, 86_400), 300).describe(
    'how often to look there',
  ),
  mirrorUrl: setting('MIRROR_URL', VENUE_URL, '').describe(
    'a venue whose books are [mirrored](../guides/paper-and-backtests.md#mirroring-a-venue); needs `LEDGER=on`',
    {
      by: 'directory',
      unset: 'nothing is mirrored',
      changed: 'as given; refused where there is no ledger',
    },
  ),
  mirrorStreamUrl: setting('MIRROR_STREAM_URL', STREAM_URL, '').describe(
    'its market stream; by default `/ws/market` of `MIRROR_URL`',
  ),
  mirrorMarkets: setting('MIRROR_MARKETS', MARKET_CHOICE, 'top:200').describe(
    'its mirrored markets; `top:` counts by volume',
  ),
  mirrorImpact: setting('MIRROR_IMPACT', words(IMPACTS), 'keep').describe(
    'size that paper orders took stays taken until the source changes the level (`keep`) or sends a message (`restore`)',
  ),
  mirrorQueue: setting('MIRROR_QUEUE', words(QUEUE_RULES), 'pessimistic').describe(
    '[rule](../guides/paper-and-backtests.md#the-fill-model) that moves waiting paper orders forward when their level shrinks',
  ),
  mirrorLatencyMs: setting('MIRROR_LATENCY_MS', whole(0, 60_000), 0).describe(
    'delay of paper orders and cancels in milliseconds, as over a network',
  ),
  mirrorRate: setting('MIRROR_RATE', whole(1, 1_000), 50).describe(
    'most updates of a mirrored book in a second',
  ),
  mirrorFunds: setting('MIRROR_FUNDS', whole(1, FAUCET_MAX), 1_000_000_000).describe(
    'units of play money behind the mirrored levels',
  ),
  play: setting('PLAY', PATH, '').describe(
    'a [recording](../guides/paper-and-backtests.md#playing-a-recording) that the node plays; needs `LEDGER=on`',
    {
      by: 'directory',
      unset: 'market time is that of the clock',
      changed:
        'refused where there is no ledger, or a batch that is newer than where the play begins',
    },
  ),
  playSpeed: setting('PLAY_SPEED', SPEED, 1).describe(
    'speed of market time, 1 = as it was recorded; `max`: time stands until it is stepped',
  ),
  playFrom: setting('PLAY_FROM', whole(0, RECORDING_TIME_MAX), 0).describe(
    'market time of the begin, in unix milliseconds; 0 = that of the recording',
  ),
  playTo: setting('PLAY_TO', whole(0, RECORDING_TIME_MAX), 0).describe(
    'market time of the end; 0 = that of the recording',
  ),
  cluster: setting('CLUSTER', CLUSTER_ADDRESS, '').describe(
    'the log that the nodes of a [cluster](#a-cluster) share; needs `NODE_ID`, `ADVERTISE` and `CLUSTER_SECRET`',
  ),
  clusterCa: setting('CLUSTER_CA', PATH, '').describe(
    'with `etcds://`: certificate of the authority, in PEM; by default those of the system',
  ),
  clusterCert: setting('CLUSTER_CERT', PATH, '').describe('certificate of this node, in PEM'),
  clusterKey: setting('CLUSTER_KEY', PATH, '').describe('its private key, in PEM'),
  clusterUser: setting('CLUSTER_USER', PRINTABLE, '').describe(
    'user of etcd, where it has users ([how](../guides/a-cluster.md#who-may-use-etcd))',
  ),
  clusterPassword: setting('CLUSTER_PASSWORD', PASSWORD, '').describe('its password'),
  nodeId: setting('NODE_ID', NODE_NAME, '').describe('name of this node in the cluster'),
  advertise: setting('ADVERTISE', ORIGIN, '').describe('how the other nodes reach this one'),
  clusterSecret: setting('CLUSTER_SECRET', SECRET, '').describe(
    'secret of the connections between nodes, the same on all of them',
  ),
  clusterSecretPrevious: setting('CLUSTER_SECRET_PREVIOUS', SECRET, '').describe(
    'the secret before, while it changes node by node ([how](../guides/a-cluster.md#another-secret))',
  ),
  clusterPort: setting('CLUSTER_PORT', whole(0, 65_535), 0).describe(
    'port for other nodes, at `HOST` here and the host of `ADVERTISE` there; 0 = any free port',
  ),
  clusterSilenceMs: setting('CLUSTER_SILENCE_MS', whole(500, 60_000), 1_500).describe(
    'heartbeat timeout of the leader; a leader without its log takes no orders after it',
  ),
  clusterRole: setting('CLUSTER_ROLE', words(['member', 'replica']), 'member').describe(
    '`replica`: never leads',
  ),
  clusterKeepMb: setting('CLUSTER_KEEP_MB', whole(16, 65_536), 512).describe(
    'megabytes of the newest records that the shared log keeps',
  ),
  clusterWaitMs: setting('CLUSTER_WAIT_MS', whole(0, 60_000), 3_000).describe(
    'how long a request waits in milliseconds while no node leads',
  ),
};

type ValuesOf<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Setting<infer T> ? T : ValuesOf<Rows[Name]>;
};
export type Config = ValuesOf<typeof SETTINGS>;

export interface Rows {
  readonly [member: string]: Setting<unknown> | Rows;
}

export function isSetting(row: Setting<unknown> | Rows): row is Setting<unknown> {
  return typeof row.variable === 'string';
}
