/**
 * Table of the faults that a node makes on demand. Inputs, handlers, streams, metrics and documents use it.
 * Rules: docs/protocol.md#faults
 *
 * Thread: any. Data.
 */

import { SETTLEMENT_MS_MAX } from '../../engine/tables/capacities.ts';

/**
 * Requests and messages that a fault may strike: routes that place orders; those and cancels; requests with an API key;
 * GET /book and POST /books; GET /time; messages of both streams.
 */
export type Covered = 'placing' | 'orders' | 'signed' | 'books' | 'time' | 'streams';

export type TargetMember = 'key' | 'wallet' | 'market';

interface Milliseconds {
  readonly means: string;
  readonly usual: number;
  readonly minimum: number;
  readonly maximum: number;
}

interface FaultRow {
  readonly does: string;
  readonly covers: Covered;
  /** Filters that it takes. */
  readonly targets: readonly TargetMember[];
  /** True where FAULTS=on lets an API key make it for itself. */
  readonly ofKeys: boolean;
  /** True where a fault without a target is a control record, and holds on all nodes of a cluster. */
  readonly ofVenue: boolean;
  /** Names of its phases; the first lasts for `seconds`. */
  readonly phases: readonly [string, ...string[]];
  readonly ms?: Milliseconds;
  /** True where the probability is that of the worse outcome, and each request in the target is struck. */
  readonly decides?: true;
}

const EACH: readonly TargetMember[] = ['key', 'wallet', 'market'];
const ON = ['on'] as const;
const DAY_MS = 86_400_000;
const OF_REQUESTS = { targets: EACH, ofKeys: true, ofVenue: false, phases: ON } as const;
const OF_VENUE = { targets: EACH, ofKeys: true, ofVenue: true, phases: ON } as const;
const OF_STREAMS = { ...OF_REQUESTS, covers: 'streams' } as const;

/** Requests are tried against the kinds in this order. */
export const FAULTS = {
  disabled: {
    ...OF_VENUE,
    covers: 'orders',
    does: 'orders and cancels get 503: trading is disabled',
  },
  restart: {
    ...OF_VENUE,
    covers: 'orders',
    phases: ['restarting', 'post-only'],
    does: 'orders and cancels get 425 for `seconds`; then for as long, at least 10 s, orders that are not post-only get 503 `post_only_mode`',
  },
  'cancel-only': {
    ...OF_VENUE,
    covers: 'placing',
    does: 'orders get 503: trading is cancel-only',
  },
  'rate-limit': {
    ...OF_REQUESTS,
    covers: 'orders',
    ms: { means: 'until the caller may try again', usual: 1_000, minimum: 1, maximum: 600_000 },
    does: 'orders and cancels get 429 with `Retry-After` and the rate-limit headers',
  },
  'lost-answer': {
    ...OF_REQUESTS,
    covers: 'placing',
    does: 'the connection closes in place of the answer to an order that was taken, and is durable',
  },
  'taker-delay': {
    ...OF_VENUE,
    covers: 'placing',
    ms: { means: 'of the delay, whole seconds', usual: 3_000, minimum: 1_000, maximum: 600_000 },
    does: 'orders that would match get `delayed`, and are placed later',
  },
  'settlement-failed': {
    ...OF_REQUESTS,
    ofKeys: false,
    covers: 'placing',
    decides: true,
    ms: {
      means: 'until a trade is decided',
      usual: 3_000,
      minimum: 1,
      maximum: SETTLEMENT_MS_MAX,
    },
    does: 'immediate trades are `RETRYING`, and with `probability` become `FAILED` after `ms`, else `CONFIRMED`',
  },
  delay: {
    ...OF_REQUESTS,
    covers: 'signed',
    ms: { means: 'that a request waits', usual: 1_000, minimum: 1, maximum: 60_000 },
    does: 'requests with an API key wait before they are carried out',
  },
  'stale-book': {
    covers: 'books',
    targets: ['market'],
    ofKeys: false,
    ofVenue: false,
    phases: ON,
    does: '`GET /book` and `POST /books` repeat their first answer since it began',
  },
  'clock-skew': {
    covers: 'time',
    targets: [],
    ofKeys: false,
    ofVenue: true,
    phases: ON,
    ms: { means: 'that GET /time is ahead', usual: 30_000, minimum: -DAY_MS, maximum: DAY_MS },
    does: '`GET /time` is ahead of the clock, or behind with a negative `ms`',
  },
  'stream-frozen': { ...OF_STREAMS, does: 'streams say nothing but `PONG`' },
  'stream-closed': { ...OF_STREAMS, does: 'streams are closed with code 1012' },
  'stream-gap': { ...OF_STREAMS, does: 'events of streams are left out' },
  'stream-repeat': { ...OF_STREAMS, does: 'events of streams are sent twice' },
} as const satisfies Readonly<Record<string, FaultRow>>;

export type FaultKind = keyof typeof FAULTS;

export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[];

export function faultRow(kind: FaultKind): FaultRow {
  return FAULTS[kind];
}

export function isFaultKind(text: string): text is FaultKind {
  return Object.hasOwn(FAULTS, text);
}

/** Kinds that strike requests. */
export type RequestKind = {
  [Kind in FaultKind]: (typeof FAULTS)[Kind]['covers'] extends 'streams' ? never : Kind;
}[FaultKind];

export const REQUEST_KINDS = FAULT_KINDS.filter(
  (kind): kind is RequestKind => faultRow(kind).covers !== 'streams',
);

/** Kinds that take milliseconds, with their rows of them. */
export const MS_KINDS = FAULT_KINDS.flatMap((kind) => {
  const { ms } = faultRow(kind);
  return ms === undefined ? [] : [{ kind, ms }];
});

/** Kinds that a key may make for itself, for the schema of POST /faults. */
export const KEY_FAULT_KINDS = FAULT_KINDS.filter((kind) => faultRow(kind).ofKeys);

/** Bounds of what an operator, and what a key may ask for. */
export const FAULT_BOUNDS = {
  operator: { count: 1_000_000, seconds: 86_400, faults: 1_000 },
  key: { count: 1_000, seconds: 600, faults: 8 },
} as const;

/** Faults of all keys together. */
export const KEY_FAULTS_MAX = 10_000;

/** Seeds are the whole numbers below it. */
export const SEEDS = 2 ** 32;

/** Shortest second phase of `restart`, in milliseconds. */
export const POST_ONLY_MS_MIN = 10_000;
