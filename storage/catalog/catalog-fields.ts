/**
 * The fields of a catalog file that decide what is traded: which values can be used, and what an
 * object without such a value lacks. The readers of catalog files use these patterns, and the JSON
 * Schema of a file is made from these rows.
 *
 * Pure; any thread. Non-goals: fields that are only shown.
 */
import { OUTCOMES_MAX, TAKER_DELAY_MAX } from '../../engine/tables/capacities.ts';
import { TICK_GRIDS } from '../../engine/tables/units.ts';
import { WALLET_PATTERN } from './catalog-json.ts';
import { CONDITION_PATTERN } from './condition-ids.ts';
import { POSITIONS_VERSION, VERSIONS } from './protocol-version.ts';

export interface FieldRule {
  readonly does: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** Without a usable value the object is left out, or a market gets no book. */
  readonly isNeeded?: true;
}

/** Ids below 10^15 are exact as JSON integers too (`market_id` of the sampling lists is one). */
export const ID_PATTERN = /^(?:0|[1-9][0-9]{0,14})$/;
export const TOKEN_PATTERN = /^[1-9][0-9]{0,77}$/;

const ID_END = 1e15;
const OUTCOMES_MIN = 2;

const matching = (pattern: RegExp) => ({ type: 'string', pattern: pattern.source });
const flag = (does: string, otherwise: boolean): FieldRule => ({
  does: `${does}; ${otherwise} when absent`,
  schema: { type: 'boolean', default: otherwise },
});
const wallet = (does: string): FieldRule => ({ does, schema: matching(WALLET_PATTERN) });

const ID: FieldRule = {
  does: 'a whole number below 10^15 in its own list, as text or as a number',
  schema: {
    anyOf: [matching(ID_PATTERN), { type: 'integer', minimum: 0, exclusiveMaximum: ID_END }],
  },
  isNeeded: true,
};

function listOf(items: object, isUnique: boolean): FieldRule['schema'] {
  const bounds = { minItems: OUTCOMES_MIN, maxItems: OUTCOMES_MAX, uniqueItems: isUnique };
  return {
    anyOf: [
      { type: 'array', items, ...bounds },
      { type: 'string', contentMediaType: 'application/json', pattern: '^\\s*\\[' },
    ],
  };
}

const TICK_SIZES = TICK_GRIDS.map((grid) => 1 / grid);

export const MARKET_FIELDS = {
  id: ID,
  conditionId: {
    does: '32 bytes, or 31 with a zero byte left out, that name the market in orders and trades; no other market has them',
    schema: matching(CONDITION_PATTERN),
    isNeeded: true,
  },
  outcomes: {
    does: `names of the outcomes, ${OUTCOMES_MIN} to ${OUTCOMES_MAX}`,
    schema: listOf({ type: 'string' }, false),
    isNeeded: true,
  },
  version: {
    does: 'v2: its tokens are `positionIds`, and orders for them are signed in version 3',
    schema: { enum: [...VERSIONS, null] },
  },
  clobTokenIds: {
    does: 'one token id below 2^256 for each outcome, in their order; no other outcome has it',
    schema: listOf(matching(TOKEN_PATTERN), true),
  },
  positionIds: {
    does: 'as clobTokenIds, in place of it where version is v2',
    schema: listOf(matching(TOKEN_PATTERN), true),
  },
  active: flag('must be true for orders to be taken', false),
  closed: flag('true ends the market and cancels its resting orders', false),
  archived: flag('as closed', false),
  acceptingOrders: flag('false pauses the market', true),
  enableOrderBook: flag('false pauses the market', true),
  negRisk: flag('that of the event', false),
  orderPriceMinTickSize: {
    does: 'tick size; 0.01 when absent',
    schema: { enum: [...TICK_SIZES, ...TICK_SIZES.map(String), null] },
  },
  orderMinSize: {
    does: 'least size of an order in shares, with up to six decimals; 5 when absent',
    schema: {
      anyOf: [
        { type: 'number', minimum: 0, maximum: 1e9 },
        { type: 'string', pattern: '^[0-9]{1,9}(?:\\.[0-9]{1,6})?$' },
        { type: 'null' },
      ],
    },
  },
  secondsDelay: {
    does: `taker delay with TAKER_DELAYS=catalog: whole seconds up to ${TAKER_DELAY_MAX}; 0 when absent`,
    schema: { type: ['integer', 'null'], minimum: 0, maximum: TAKER_DELAY_MAX },
  },
  feeSchedule: {
    does: 'fees of takers, which FEES_FROM_CATALOG makes terms: rate and rebateRate from 0 to 1, exponent 0 to 4 (1)',
    schema: {
      anyOf: [
        {
          type: 'object',
          properties: {
            rate: { type: ['number', 'string'] },
            exponent: { type: ['number', 'string'] },
            rebateRate: { type: ['number', 'string'] },
            takerOnly: { type: 'boolean' },
          },
          required: ['rate'],
        },
        { type: 'null' },
      ],
    },
  },
  feesEnabled: flag('false: no fees, whatever feeSchedule says', true),
  creator: wallet('wallet of whoever proposed the market; that of the event when absent'),
  submitted_by: wallet('as creator'),
} as const satisfies Readonly<Record<string, FieldRule>>;

/** Which list of tokens a market needs. */
export const TOKENS_NEEDED = {
  if: { properties: { version: { const: POSITIONS_VERSION } }, required: ['version'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['positionIds'] },
  else: { required: ['clobTokenIds'] },
} as const;

export type MarketField = keyof typeof MARKET_FIELDS;

export const EVENT_FIELDS = {
  id: ID,
  version: {
    does: 'of all markets with positionIds that say nothing else',
    schema: { enum: [...VERSIONS, null] },
  },
  negRisk: flag('of all markets that say nothing else', false),
  creator: wallet('of all markets that say nothing else'),
  submitted_by: wallet('as creator'),
} as const satisfies Readonly<Record<string, FieldRule>>;

export const GROUP_FIELDS = { id: ID } as const satisfies Readonly<Record<string, FieldRule>>;

export const SITE_FIELDS = {
  id: {
    does: 'host name of the site',
    schema: { type: 'string', minLength: 1, not: matching(WALLET_PATTERN) },
    isNeeded: true,
  },
  creators: {
    does: 'wallets of the creators whose markets are those of the site',
    schema: { type: 'array', items: matching(WALLET_PATTERN) },
  },
} as const satisfies Readonly<Record<string, FieldRule>>;
