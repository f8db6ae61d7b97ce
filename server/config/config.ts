/**
 * The configuration: every environment variable and command-line flag of the node, with its default
 * and its bounds, checked once before anything else starts.
 *
 * Pure functions: the caller hands in environment, arguments and core count. Nothing here is read
 * again later; a change needs a restart. One variable holds a secret, ADMIN_TOKEN, which is never
 * repeated (keys live in the data directory); settingsOf tells only what is listed here.
 */
import { isIP } from 'node:net';
import { type Capacities, DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { tableShapes } from '../../engine/tables/tables.ts';
import { sourceUrlProblem } from '../catalog/sync-client.ts';
import { type Allowlist, isLoopback } from '../http/address.ts';
import { type CorsOrigins, corsOriginsText } from '../http/cors.ts';
import {
  overridesText,
  RATE_LIMITS,
  type RateOverrides,
  REQUESTS_MAX,
} from '../http/rate-limits.ts';
import { FACTORY_TEXT } from '../identity/wallet-factory.ts';
import { unknownNames } from './config-names.ts';
import { ConfigReader } from './config-reader.ts';
import { isSwitch, PROFILE_ROWS, PROFILES, type Profile, type ProfileSettings } from './profile.ts';

const DURABILITIES = ['flushed', 'committed'] as const;
const SELF_TRADES = ['allow', 'cancel-taker', 'cancel-maker', 'cancel-both'] as const;
const LOG_FORMATS = ['auto', 'pretty', 'json'] as const;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const JOURNAL_KEEPS = ['images', 'all'] as const;
const SWITCH = ['on', 'off'] as const;

export interface Config extends ProfileSettings {
  /** Which column of the table of profile.ts holds where a row is not set by itself. */
  readonly clientProfile: Profile;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Of the admin listener; 0 = there is none. */
  readonly adminPort: number;
  readonly adminHost: string;
  /** A secret: never printed. '' = nobody is asked for one. */
  readonly adminToken: string;
  readonly dataDir: string;
  readonly workers: number;
  readonly durability: (typeof DURABILITIES)[number];
  readonly tradesAllowlist: Allowlist;
  /** Proxies in front of the node whose X-Forwarded-For entries count. */
  readonly trustProxy: number;
  /** Connections in all, as far as the open files allow; of an address, and opened by one in a second. */
  readonly connectionsMax: number;
  readonly connectionsPerAddress: number;
  readonly connectionsOpenedPerSecond: number;
  /** Whether the rate limits apply, and what stands in place of rows of their table. */
  readonly rateLimits: boolean;
  readonly rateLimitsOverrides: RateOverrides;
  /** Two rows of that table, which may be set by themselves: orders of an API key, keys issued to a caller. */
  readonly ordersPer10s: number;
  readonly keysPerHour: number;
  /** Whose web pages may read answers. */
  readonly corsOrigins: CorsOrigins;
  readonly chainId: number;
  /** Of orders of version 1. */
  readonly domainVersion: string;
  /** Contracts of orders of version 2. */
  readonly exchangeAddress2: string;
  readonly negRiskExchangeAddress2: string;
  readonly verifySignatures: boolean;
  readonly selfTrade: (typeof SELF_TRADES)[number];
  /** Open orders that one signer may have. */
  readonly openOrdersPerAccount: number;
  /** Wallets that may be bound to one signer beside its own address. */
  readonly walletsPerSigner: number;
  readonly maxBatchOrders: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly logFormat: (typeof LOG_FORMATS)[number];
  readonly demo: boolean;
  readonly capacities: Capacities;
  /** An image is taken after so many seconds or so many batches, whichever comes first. */
  readonly imageSeconds: number;
  readonly imageBatches: number;
  readonly journalKeep: (typeof JOURNAL_KEEPS)[number];
  /** Bytes of a segment of the log. */
  readonly logSegmentBytes: number;
  /** Requests that may wait for a worker before the next is answered 503. */
  readonly engineQueue: number;
  /** Accepted distance of SERVICE_TIMESTAMP from the clock, to either side. */
  readonly authSkewSeconds: number;
  /** Who sends heartbeats and then none for so long loses its open orders. */
  readonly heartbeatSeconds: number;
  /** Of the streams: silence, tokens or markets of a connection, connections, unread bytes of one and of all. */
  readonly streamIdleSeconds: number;
  readonly streamSubscriptionsMax: number;
  readonly streamConnectionsMax: number;
  readonly streamConnectionsPerAddress: number;
  readonly streamBackpressureBytes: number;
  readonly streamBacklogMax: number;
  /** What all stream connections of one address may ask for, in budgets of one of them. */
  readonly streamCallerFactor: number;
  /** Base address of the catalog API to mirror; '' = none. */
  readonly catalogSyncUrl: string;
  readonly catalogSyncSeconds: number;
}

/**
 * Reads and checks everything. Each problem is one line that names the variable, its rule and the
 * value found; each warning one that names a variable that is probably misspelt.
 *
 * @param env the process environment; an empty string counts as unset
 * @param argv the command-line arguments behind the script's name
 * @param cores processors of this machine, for the default of WORKERS
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
  cores: number,
): { ok: true; config: Config; warnings: string[] } | { ok: false; problems: string[] } {
  const from = new ConfigReader(env);
  const noDemo = from.flags(argv, ['--no-demo']).has('--no-demo');
  const config: Config = {
    host: from.text('HOST', '127.0.0.1', isHost, HOST),
    port: from.integer('PORT', 3000, 0, 65_535),
    ...readAdmin(from),
    dataDir: from.text('DATA_DIR', './data', isPath, 'a path'),
    workers: from.integer('WORKERS', Math.min(WORKERS_MAX, Math.max(1, cores - 1)), 1, WORKERS_MAX),
    durability: from.choice('DURABILITY', DURABILITIES, 'flushed'),
    tradesAllowlist: from.allowlist('TRADES_ALLOWLIST'),
    trustProxy: from.integer('TRUST_PROXY', 0, 0, 16),
    connectionsMax: from.integer('CONNECTIONS_MAX', 65_536, 16, 2 ** 20),
    connectionsPerAddress: from.integer('CONNECTIONS_PER_ADDRESS', 2048, 1, 2 ** 20),
    connectionsOpenedPerSecond: from.integer('CONNECTIONS_OPENED_PER_SECOND', 1000, 1, 1_000_000),
    rateLimits: from.choice('RATE_LIMITS', SWITCH, 'on') === 'on',
    rateLimitsOverrides: from.rateOverrides('RATE_LIMITS_OVERRIDES'),
    ordersPer10s: from.integer('ORDERS_PER_10S', RATE_LIMITS.keyOrders.requests, 1, REQUESTS_MAX),
    keysPerHour: from.integer('KEYS_PER_HOUR', RATE_LIMITS.keysIssued.requests, 1, REQUESTS_MAX),
    corsOrigins: from.corsOrigins('CORS_ORIGINS'),
    ...readProfile(from),
    chainId: from.integer('CHAIN_ID', 137, 1, Number.MAX_SAFE_INTEGER),
    domainVersion: from.text('EIP712_DOMAIN_VERSION', '1', isPrintable, PRINTABLE),
    ...readContracts2(from),
    verifySignatures: from.choice('VERIFY_SIGNATURES', SWITCH, 'on') === 'on',
    selfTrade: from.choice('SELF_TRADE', SELF_TRADES, 'allow'),
    openOrdersPerAccount: from.integer('OPEN_ORDERS_PER_ACCOUNT', 65_536, 1, 2 ** 24),
    walletsPerSigner: from.integer('WALLETS_PER_SIGNER', 1_000, 1, 2 ** 24),
    maxBatchOrders: from.integer('MAX_BATCH_ORDERS', 500, 1, 5000),
    logLevel: from.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    logFormat: from.choice('LOG_FORMAT', LOG_FORMATS, 'auto'),
    demo: from.choice('DEMO', SWITCH, 'on') === 'on' && !noDemo,
    capacities: readCapacities(from),
    imageSeconds: from.integer('IMAGE_SECONDS', 300, 1, 86_400),
    imageBatches: from.integer('IMAGE_BATCHES', 100_000, 1, 2 ** 31),
    journalKeep: from.choice('JOURNAL_KEEP', JOURNAL_KEEPS, 'images'),
    logSegmentBytes: from.integer('LOG_SEGMENT_BYTES', 2 ** 24, 2 ** 16, 2 ** 28),
    engineQueue: from.integer('ENGINE_QUEUE', 1024, 1, 65_536),
    authSkewSeconds: from.integer('AUTH_SKEW_SECONDS', 300, 1, 86_400),
    heartbeatSeconds: from.integer('HEARTBEAT_SECONDS', 10, 1, 3_600),
    streamIdleSeconds: from.integer('STREAM_IDLE_SECONDS', 120, 1, 900),
    streamSubscriptionsMax: from.integer('STREAM_SUBSCRIPTIONS_MAX', 500, 1, 10_000),
    streamConnectionsMax: from.integer('STREAM_CONNECTIONS_MAX', 4096, 1, 65_536),
    streamConnectionsPerAddress: from.integer('STREAM_CONNECTIONS_PER_ADDRESS', 512, 1, 65_536),
    streamBackpressureBytes: from.integer('STREAM_BACKPRESSURE_BYTES', 2 ** 22, 2 ** 20, 2 ** 28),
    streamBacklogMax: from.integer('STREAM_BACKLOG_MAX', 2 ** 28, 2 ** 22, 2 ** 36),
    streamCallerFactor: from.integer('STREAM_CALLER_FACTOR', 10, 1, 10_000),
    catalogSyncUrl: from.text(
      'CATALOG_SYNC_URL',
      '',
      (text) => text === '' || sourceUrlProblem(text) === undefined,
      'an http or https address without credentials, query or fragment',
    ),
    catalogSyncSeconds: from.integer('CATALOG_SYNC_SECONDS', 300, 1, 86_400),
  };
  if (from.problems.length === 0) from.problems.push(...tableProblems(config.capacities));
  return from.problems.length === 0
    ? { ok: true, config, warnings: unknownNames(env, [...from.asked]) }
    : { ok: false, problems: [...from.problems] };
}

/** The effective configuration by variable, to be told once at start. */
export function settingsOf(config: Config): Readonly<Record<string, string>> {
  const { capacities } = config;
  const rows: readonly (readonly [string, string | number | boolean])[] = [
    ['HOST', config.host],
    ['PORT', config.port],
    ['ADMIN_PORT', config.adminPort],
    ['ADMIN_HOST', config.adminHost],
    ['ADMIN_TOKEN', config.adminToken === '' ? '' : '(set)'],
    ['DATA_DIR', config.dataDir],
    ['WORKERS', config.workers],
    ['DURABILITY', config.durability],
    ['TRADES_ALLOWLIST', config.tradesAllowlist.entries.join(',') || '(everyone)'],
    ['TRUST_PROXY', config.trustProxy],
    ['CONNECTIONS_MAX', config.connectionsMax],
    ['CONNECTIONS_PER_ADDRESS', config.connectionsPerAddress],
    ['CONNECTIONS_OPENED_PER_SECOND', config.connectionsOpenedPerSecond],
    ['RATE_LIMITS', config.rateLimits],
    ['RATE_LIMITS_OVERRIDES', overridesText(config.rateLimitsOverrides) || '(none)'],
    ['ORDERS_PER_10S', config.ordersPer10s],
    ['KEYS_PER_HOUR', config.keysPerHour],
    ['CORS_ORIGINS', corsOriginsText(config.corsOrigins)],
    ['CLIENT_PROFILE', config.clientProfile],
    ...PROFILE_ROWS.map(([name, { variable }]) => [variable, config[name]] as const),
    ['CHAIN_ID', config.chainId],
    ['EIP712_DOMAIN_VERSION', config.domainVersion],
    ['EXCHANGE_ADDRESS_2', config.exchangeAddress2],
    ['NEG_RISK_EXCHANGE_ADDRESS_2', config.negRiskExchangeAddress2],
    ['VERIFY_SIGNATURES', config.verifySignatures],
    ['SELF_TRADE', config.selfTrade],
    ['OPEN_ORDERS_PER_ACCOUNT', config.openOrdersPerAccount],
    ['WALLETS_PER_SIGNER', config.walletsPerSigner],
    ['MAX_BATCH_ORDERS', config.maxBatchOrders],
    ['LOG_LEVEL', config.logLevel],
    ['LOG_FORMAT', config.logFormat],
    ['DEMO', config.demo],
    ['MARKETS_MAX', capacities.markets],
    ['TOKENS_MAX', capacities.tokens],
    ['ACCOUNTS_MAX', capacities.accounts],
    ['ORDERS_MAX', capacities.orders],
    ['LEVELS_MAX', capacities.levels],
    ['TRADES_MAX', capacities.trades],
    ['ORDER_HISTORY', capacities.history],
    ['IMAGE_SECONDS', config.imageSeconds],
    ['IMAGE_BATCHES', config.imageBatches],
    ['JOURNAL_KEEP', config.journalKeep],
    ['LOG_SEGMENT_BYTES', config.logSegmentBytes],
    ['ENGINE_QUEUE', config.engineQueue],
    ['AUTH_SKEW_SECONDS', config.authSkewSeconds],
    ['HEARTBEAT_SECONDS', config.heartbeatSeconds],
    ['STREAM_IDLE_SECONDS', config.streamIdleSeconds],
    ['STREAM_SUBSCRIPTIONS_MAX', config.streamSubscriptionsMax],
    ['STREAM_CONNECTIONS_MAX', config.streamConnectionsMax],
    ['STREAM_CONNECTIONS_PER_ADDRESS', config.streamConnectionsPerAddress],
    ['STREAM_BACKPRESSURE_BYTES', config.streamBackpressureBytes],
    ['STREAM_BACKLOG_MAX', config.streamBacklogMax],
    ['STREAM_CALLER_FACTOR', config.streamCallerFactor],
    ['CATALOG_SYNC_URL', config.catalogSyncUrl || '(none)'],
    ['CATALOG_SYNC_SECONDS', config.catalogSyncSeconds],
  ];
  const text = (value: string | number | boolean): string =>
    typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
  return Object.fromEntries(rows.map(([name, value]) => [name, text(value)]));
}

/** The rows of profile.ts, each from its own variable or from the profile. */
function readProfile(from: ConfigReader): ProfileSettings & { readonly clientProfile: Profile } {
  const clientProfile = from.choice('CLIENT_PROFILE', PROFILES, PROFILES[0]);
  const settings: Record<string, string | boolean> = {};
  for (const [name, row] of PROFILE_ROWS) {
    const { values, variable } = row;
    const unset = row[clientProfile];
    if (typeof values !== 'string') {
      const word = from.choice(variable, values, unset);
      settings[name] = isSwitch(values) ? word === 'on' : word;
    } else {
      settings[name] = from.text(variable, unset, TEXTS[values].fits, TEXTS[values].rule);
    }
  }
  return { clientProfile, ...(settings as ProfileSettings) };
}

/** Where the admin listener can be reached from elsewhere, it asks who calls. */
function readAdmin(from: ConfigReader) {
  const adminPort = from.integer('ADMIN_PORT', 3001, 0, 65_535);
  const adminHost = from.text('ADMIN_HOST', '127.0.0.1', isHost, HOST);
  const adminToken = from.secret('ADMIN_TOKEN', isToken, TOKEN);
  if (adminPort !== 0 && adminToken === '' && !isLoopback(adminHost)) {
    from.problems.push(
      `ADMIN_TOKEN must be set where ADMIN_HOST is no loopback address: ${TOKEN} (or ADMIN_PORT=0)`,
    );
  }
  return { adminPort, adminHost, adminToken };
}

/** The addresses that published clients of version 2 sign for. */
function readContracts2(from: ConfigReader) {
  const { fits, rule } = TEXTS.address;
  const address = (name: string, unset: string): string => from.text(name, unset, fits, rule);
  return {
    exchangeAddress2: address('EXCHANGE_ADDRESS_2', '0xE111180000d2663C0091e4f400237545B87B996B'),
    negRiskExchangeAddress2: address(
      'NEG_RISK_EXCHANGE_ADDRESS_2',
      '0xe2222d279d744050d28e00520010520000310F59',
    ),
  };
}

function readCapacities(from: ConfigReader): Capacities {
  const unset = DEFAULT_CAPACITIES;
  return {
    markets: from.integer('MARKETS_MAX', unset.markets, 16, 2 ** 20),
    tokens: from.integer('TOKENS_MAX', unset.tokens, 32, 2 ** 22),
    accounts: from.integer('ACCOUNTS_MAX', unset.accounts, 16, 2 ** 24),
    orders: from.integer('ORDERS_MAX', unset.orders, 16, 2 ** 23),
    levels: from.integer('LEVELS_MAX', unset.levels, 1024, 2 ** 26),
    trades: from.integer('TRADES_MAX', unset.trades, 1000, 2 ** 23),
    history: from.integer('ORDER_HISTORY', unset.history, 16, 2 ** 24),
  };
}

/** Each table is one array, whose length Node 20 bounds. */
function tableProblems(capacities: Capacities): string[] {
  const bytes = tableShapes(capacities);
  return [
    ['TRADES_MAX and ORDERS_MAX', 'fills', bytes.fills] as const,
    ['ORDERS_MAX and ORDER_HISTORY', 'orders', bytes.orders] as const,
  ].flatMap(([names, table, size]) => {
    if (size <= TABLE_BYTES_MAX) return [];
    return `${names} are too large together: their ${table} would take ${size} bytes, more than 2^32`;
  });
}

const TABLE_BYTES_MAX = 2 ** 32;

/** Applying is one at a time, so more threads than this would mostly wait for their turn. */
const WORKERS_MAX = 64;

const HOST = 'an IP address or a host name';

/** Long enough that nobody guesses it, in the letters of a bearer token (RFC 6750). */
const TOKEN = '16 to 200 letters, digits or any of -._~+/=';

const PRINTABLE = 'at most 100 characters, none of them a control character';

/** The kinds of text that a row of profile.ts may hold. */
const TEXTS = {
  prefix: {
    fits: (text: string) => /^[A-Z][A-Z0-9_]*$/.test(text),
    rule: 'a capital letter, then capital letters, digits and underscores',
  },
  printable: { fits: isPrintable, rule: PRINTABLE },
  address: {
    fits: (text: string) => /^0x[0-9a-fA-F]{40}$/.test(text),
    rule: 'an address, 0x and 40 hexadecimal digits',
  },
  factory: {
    fits: (text: string) => text === 'none' || FACTORY_TEXT.test(text),
    rule: 'none, or an address and a digest of 32 bytes, 0x in front of each and a colon between them',
  },
};

function isPrintable(text: string): boolean {
  return text.length <= 100 && !/\p{Cc}/u.test(text);
}

function isToken(text: string): boolean {
  return /^[A-Za-z0-9._~+/=-]{16,200}$/.test(text);
}

function isPath(text: string): boolean {
  return !text.includes('\0');
}

/** Host names as RFC 1123 writes them: labels of letters, digits and inner hyphens. */
function isHost(text: string): boolean {
  const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
  if (isIP(text) !== 0) return true;
  // Digits and dots alone are a mistyped address.
  return (
    text.length <= 253 && !/^[\d.]*$/.test(text) && text.split('.').every((l) => label.test(l))
  );
}
