/**
 * Answers about the node itself: health, time, and the facts that a client needs to sign and to keep the
 * limits.
 *
 * Thread: I/O.
 */
import { ledgerIsOn, ledgerTotals, nextDeadline } from '../../engine/ledger/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { Decision } from '../../storage/control-records/control-records.ts';
import { type Progress, shownMessage, shownProgress } from '../admin/progress.ts';
import type { ClockFacts } from '../admin/summary.ts';
import { signatureLibrary } from '../auth/secp256k1.ts';
import {
  type ContradictionFacts,
  ContradictionsAnswer,
  shownContradictions,
} from '../common/contradictions.ts';
import { packageVersion } from '../common/package-version.ts';
import { Type } from '../common/schema.ts';
import type { Config } from '../config/config.ts';
import { contract3Of } from '../config/signing-domains.ts';
import { shownStatus } from '../faults/fault-input.ts';
import { StatusFaults, StatusKeyFaults } from '../faults/fault-schemas.ts';
import type { Faults } from '../faults/faults.ts';
import type { Headers } from '../http/answer-head.ts';
import type { RequestContext } from '../http/http.ts';
import type { RateControl } from '../http/limits/rate-control.ts';
import {
  effectiveCaps,
  RATE_CLASSES,
  RATE_LIMITS,
  type RateCaps,
  type RateClass,
} from '../http/limits/rate-limits.ts';
import { type RawHandler, rawRoute, route } from '../http/route.ts';
import { TOKENS_MAX } from '../market-data/token-schemas.ts';
import { codesOf, PAUSE_REASONS, PAUSES, type Pause } from '../orders/intake/pauses.ts';
import { MirrorAnswer, type MirrorFacts, shownMirror } from '../paper/mirror-facts.ts';
import { PlayAnswer, type PlayFacts, shownPlay } from '../paper/play-facts.ts';
import { type NodeMode, NodeModeAnswer } from './node-mode.ts';
import { flag, oneOf, orNull, text, whole } from './shorthand.ts';

const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });

const ReasonCode = Type.Union(PAUSE_REASONS.map((reason) => Type.Literal(reason)));

export const ReadyAnswer = Type.Object({ status: Type.Literal('ready') });

const UnreadyAnswer = Type.Object({
  status: Type.Literal('unready'),
  reasons: Type.Array(ReasonCode, { minItems: 1 }),
});

export const StatusAnswer = Type.Object({
  status: oneOf(['ok', 'read-only']),
  paused: Type.Array(
    Type.Object({
      reason: ReasonCode,
      means: text(),
      takes_cancels: flag(),
    }),
    { description: 'why orders are refused for the time being' },
  ),
  clock: Type.Object({
    jump_ms: whole(
      'by how much a clock that jumped is ahead of the time of the node; 0 = it has not',
    ),
    log_ahead_ms: whole('by how much the newest batch is ahead of that time; 0 up to five seconds'),
  }),
  log: Type.Object({
    sequence: whole('newest durable batch'),
    digest: whole('of the engine after it: the same on all nodes of a cluster'),
  }),
  follower: orNull(
    Type.Object({
      sequence: whole('newest batch whose fills and final states are in LMDB'),
      behind: whole('batches'),
      behind_ms: whole('since the oldest of them was durable'),
    }),
    'the data directory cannot be written',
  ),
  image: orNull(Type.Object({ sequence: whole(), age_seconds: whole() }), 'there is none'),
  cluster: orNull(
    Type.Object({
      node: text('NODE_ID'),
      role: oneOf(['leader', 'follower']),
      leader: orNull(
        text('NODE_ID of the node that leads'),
        'this node has seen none since it started',
      ),
      epoch: whole('of the leader; one more with each that leads'),
      applied: whole('newest record of the cluster that is applied here'),
      behind_ms: whole('since the oldest that is not was there'),
      catalog: orNull(text('digest of the catalog that is served'), 'there is none'),
      catalog_missing: orNull(
        text('digest of the catalog in use, which is not here yet: an older one is served'),
        'none is',
      ),
    }),
    'the node is alone',
  ),
  signatures: text('library that recovers the signers of orders'),
  contradictions: ContradictionsAnswer,
  mirror: Type.Optional(MirrorAnswer),
  play: Type.Optional(PlayAnswer),
  proposals: Type.Optional(
    Type.Object(
      {
        count: whole('markets of which a payout is proposed'),
        next: orNull(text('ISO 8601: the next of them is paid from then on'), 'there is none'),
      },
      { description: 'of a node with a ledger' },
    ),
  ),
  faults: Type.Optional(StatusFaults),
  key_faults: Type.Optional(StatusKeyFaults),
  mode: NodeModeAnswer,
  message: Type.Optional(
    Type.Object(
      { text: text(), since: text('ISO 8601') },
      { description: 'of the operator to everybody; absent: there is none' },
    ),
  ),
});

const RateCapAnswer = Type.Object({ requests: whole(), seconds: whole() });
const RateLimitRow = Type.Object({
  name: text(),
  covers: text(),
  requests: whole(),
  seconds: whole(),
});

export const ExchangeInfoAnswer = Type.Object({
  version: text(),
  server_time: whole('unix seconds'),
  venue: text('the same on all nodes of a venue; its streams have it in their ids'),
  chain_id: whole(),
  domain: Type.Object({ name: text(), version: text() }),
  exchange_address: Address,
  neg_risk_exchange_address: Address,
  order_versions: Type.Optional(
    Type.Array(whole(), { description: 'where it is not version 1 alone' }),
  ),
  exchange_address_2: Type.Optional(Address),
  neg_risk_exchange_address_2: Type.Optional(Address),
  exchange_address_3: Type.Optional(
    Type.String({
      pattern: '^0x[0-9a-fA-F]{40}$',
      description: 'contract of orders of positions; absent: they are not told apart',
    }),
  ),
  credential_prefix: text(),
  auth_skew_seconds: whole(),
  durability: oneOf(['flushed', 'committed']),
  verify_signatures: flag(),
  max_batch_orders: whole(),
  max_batch_tokens: whole(),
  max_body_bytes: Type.Object({ orders: whole(), other: whole() }),
  rate_limits: Type.Array(RateLimitRow),
  mode: NodeModeAnswer,
});

export const VersionAnswer = Type.Object({
  version: Type.Union([Type.Literal(1), Type.Literal(2)]),
});

export const RateLimitsAnswer = Type.Object({
  enabled: flag('RATE_LIMITS'),
  counted_by: Type.Literal('address', { description: 'IPv4 address, or /64 prefix of IPv6' }),
  limits: Type.Array(
    Type.Intersect([
      RateLimitRow,
      Type.Object({
        applies: flag('false: nobody is limited by this row'),
        default: RateCapAnswer,
      }),
    ]),
  ),
});

const READY = '{"status":"ready"}';
const MIB = 2 ** 20;
const ORDER_BODY_BYTES = 2 * 2 ** 10;

/** Largest body of POST /orders (docs/protocol.md#limits-of-a-request). */
export function ordersBodyMax(maxBatchOrders: number): number {
  return Math.max(MIB, maxBatchOrders * ORDER_BODY_BYTES);
}

/** Largest body of every other route. */
export const BODY_MAX = MIB;

export interface NodeInfoParts {
  readonly config: Config;
  readonly tables: Tables;
  readonly venue: string;
  /** Undefined with RATE_LIMITS=off. */
  readonly rates: RateControl | undefined;
  readonly pauses: () => readonly Pause[];
  readonly clock: () => ClockFacts;
  readonly progress: () => Progress;
  readonly contradictions: () => ContradictionFacts;
  readonly mirror: () => MirrorFacts | undefined;
  readonly play: () => PlayFacts | undefined;
  readonly mode: () => NodeMode;
  readonly message: () => Decision | undefined;
  /** Undefined with FAULTS=off. */
  readonly faults: Faults | undefined;
  /** The trading page is served. */
  readonly hasPage: boolean;
  /** Unix seconds. */
  readonly seconds: () => number;
}

export class NodeInfo {
  readonly parts: NodeInfoParts;
  /** Answer of GET /exchange-info without the members that change. */
  private readonly info: ReturnType<typeof exchangeInfo>;

  constructor(parts: NodeInfoParts) {
    this.parts = parts;
    this.info = exchangeInfo(parts.config, parts.venue);
  }

  exchangeInfo(): string {
    const { config, mode, seconds } = this.parts;
    return JSON.stringify({
      ...this.info,
      server_time: seconds(),
      rate_limits: appliedLimits(config, this.caps()),
      mode: mode(),
    });
  }

  rateLimits(): string {
    const { config } = this.parts;
    return JSON.stringify({
      enabled: config.rateLimits,
      counted_by: 'address',
      limits: rateLimitRows(config, this.caps()),
    });
  }

  private caps(): RateCaps {
    const { config, rates } = this.parts;
    return rates?.caps() ?? effectiveCaps(config.rateLimitsOverrides, config);
  }
}

const OK = { answer: Type.Literal('OK'), does: '`"OK"`' } as const;
const OK_TEXT = '"OK"';

function replyOk() {
  return (context: RequestContext) => context.reply(200, OK_TEXT);
}

/** A relative address, which holds behind a path prefix of a proxy. */
const TO_PAGE: Headers = [
  ['Content-Type', 'text/plain'],
  ['Location', 'app'],
  ['Vary', 'Accept'],
];
const OK_BESIDE_PAGE: Headers = [['Vary', 'Accept']];

/** Sends a browser to the trading page. Rules: docs/protocol.md#trading-page */
function replyRoot({ parts }: NodeInfo): RawHandler {
  if (!parts.hasPage) return { headers: [], run: replyOk() };
  return {
    headers: ['accept'],
    run(context) {
      const [accepted = ''] = context.headers;
      if (context.path === '/' && /\btext\/html\b/i.test(accepted)) context.reply(302, '', TO_PAGE);
      else context.reply(200, OK_TEXT, OK_BESIDE_PAGE);
    },
  };
}

export const NODE_ROUTES = [
  rawRoute('GET /', { ...OK, limits: ['health', 'trading'] }, replyRoot),
  route('GET /ok', OK, replyOk),
  route('GET /health', OK, replyOk),
  route('GET /healthz', OK, replyOk),
  route(
    'GET /ready',
    {
      answer: ReadyAnswer,
      unavailable: UnreadyAnswer,
      served: ({ readyRoute }) => readyRoute,
      does: 'whether this node takes orders, or has them taken: 200, or 503 with the codes of the reasons',
    },
    ({ parts }: NodeInfo) =>
      (context) => {
        const reasons = codesOf(parts.pauses());
        if (reasons.length === 0) return context.reply(200, READY);
        return context.reply(503, JSON.stringify({ status: 'unready', reasons }));
      },
  ),
  route(
    'GET /status',
    {
      answer: StatusAnswer,
      does:
        'whether orders are taken: `status` is `ok`, or `read-only` for the reasons in `paused`; how far the log, what is derived from it ' +
        'and images are; what kind of node it is (`mode`)',
    },
    ({ parts }: NodeInfo) =>
      (context) =>
        context.reply(200, statusText(parts)),
  ),
  route(
    'GET /gamma/status',
    {
      api: 'catalog',
      answer: Type.Literal('OK'),
      media: ['text/plain'],
      does: 'the bare text OK, as clients of that API expect it',
    },
    () => (context) => context.reply(200, 'OK', [['Content-Type', 'text/plain']]),
  ),
  route(
    'GET /time',
    { answer: whole(), does: 'unix seconds' },
    ({ parts }: NodeInfo) =>
      (context) =>
        context.reply(200, String(parts.seconds())),
  ),
  route(
    'GET /version',
    {
      answer: VersionAnswer,
      does: 'version in which orders are best signed: 2 where only that is taken',
    },
    ({ parts }: NodeInfo) => {
      const version = JSON.stringify({ version: parts.config.orderVersion === '2' ? 2 : 1 });
      return (context) => context.reply(200, version);
    },
  ),
  route(
    'GET /exchange-info',
    {
      answer: ExchangeInfoAnswer,
      does: 'what a client needs to sign and to behave: domain, addresses, limits, durability, version, kind of node',
    },
    (node: NodeInfo) => (context) => context.reply(200, node.exchangeInfo()),
  ),
  route(
    'GET /rate-limits',
    {
      answer: RateLimitsAnswer,
      does: 'the rate limits of each caller, row by row, and which of them apply',
    },
    (node: NodeInfo) => (context) => context.reply(200, node.rateLimits()),
  ),
];

function statusText({
  clock,
  contradictions,
  faults,
  message,
  mirror,
  mode,
  pauses,
  play,
  progress,
  seconds,
  tables,
}: NodeInfoParts): string {
  const { aheadMs, jumpMs } = clock();
  const mirrored = mirror();
  const played = play();
  const reasons = codesOf(pauses());
  return JSON.stringify({
    status: reasons.length === 0 ? 'ok' : 'read-only',
    paused: reasons.map((reason) => {
      const { means, takesCancels } = PAUSES[reason];
      return { reason, means, takes_cancels: takesCancels };
    }),
    clock: { jump_ms: jumpMs, log_ahead_ms: aheadMs },
    signatures: signatureLibrary,
    contradictions: shownContradictions(contradictions()),
    ...shownProgress(progress(), seconds()),
    ...(mirrored && { mirror: shownMirror(mirrored) }),
    ...(played && { play: shownPlay(played) }),
    ...(faults && shownStatus(faults)),
    ...(ledgerIsOn(tables) && { proposals: shownProposals(tables) }),
    mode: mode(),
    message: shownMessage(message()),
  });
}

function shownProposals(t: Tables) {
  const next = nextDeadline(t);
  const { proposals: count } = ledgerTotals(t);
  return { count, next: next === 0 ? null : new Date(next).toISOString() };
}

function exchangeInfo(config: Config, venue: string) {
  return {
    version: packageVersion(),
    server_time: 0,
    venue,
    chain_id: config.chainId,
    domain: { name: config.domainName, version: config.domainVersion },
    exchange_address: config.exchangeAddress,
    neg_risk_exchange_address: config.negRiskExchangeAddress,
    ...version2Info(config),
    ...version3Info(config),
    credential_prefix: config.credentialPrefix,
    auth_skew_seconds: config.authSkewSeconds,
    durability: config.durability,
    verify_signatures: config.verifySignatures,
    max_batch_orders: config.maxBatchOrders,
    max_batch_tokens: TOKENS_MAX,
    max_body_bytes: { orders: ordersBodyMax(config.maxBatchOrders), other: BODY_MAX },
  };
}

function appliedLimits(config: Config, caps: RateCaps) {
  return rateLimitRows(config, caps)
    .filter(({ applies }) => applies)
    .map(({ covers, name, requests, seconds }) => ({ name, covers, requests, seconds }));
}

/** Contracts for which accepted order versions are signed. */
export function exchangesOf(config: Config): string[] {
  const { exchangeAddress, exchangeAddress2, orderVersion } = config;
  const first = [exchangeAddress, config.negRiskExchangeAddress];
  const second = [exchangeAddress2, config.negRiskExchangeAddress2];
  const contract3 = contract3Of(config);
  return [
    ...(orderVersion === '2' ? [] : first),
    ...(orderVersion === '1' ? [] : second),
    ...(contract3 === undefined ? [] : [contract3]),
  ];
}

function version3Info(config: Config) {
  const contract3 = contract3Of(config);
  return contract3 === undefined ? {} : { exchange_address_3: contract3 };
}

function version2Info({ exchangeAddress2, negRiskExchangeAddress2, orderVersion }: Config) {
  if (orderVersion === '1') return {};
  return {
    order_versions: orderVersion === 'both' ? [1, 2] : [2],
    exchange_address_2: exchangeAddress2,
    neg_risk_exchange_address_2: negRiskExchangeAddress2,
  };
}

/**
 * Every row of the table with its effective cap; a row that is off has the cap of the table. That of routes
 * which are not served is left out.
 */
function rateLimitRows({ faults, mcp, rateLimits, relayer }: Config, caps: RateCaps) {
  const isServed: Partial<Record<RateClass, boolean>> = {
    faults: faults === 'on',
    mcp,
    relay: relayer,
  };
  const shown = RATE_CLASSES.filter((name) => isServed[name] !== false);
  return shown.map((name) => {
    const { covers, requests, seconds } = RATE_LIMITS[name];
    const usual = { requests, seconds };
    const applies = rateLimits && caps[name] !== undefined;
    return { name, covers, ...(caps[name] ?? usual), applies, default: usual };
  });
}
