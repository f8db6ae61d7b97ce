/**
 * Operations on events and markets. Texts of a market and its acceptance of orders are in the catalog
 * generation.
 *
 * Thread: I/O. Not here: payouts (resolution-operations.ts).
 */

import { hasOrders } from '../../engine/markets/markets.ts';
import { hasReachedEnd, marketEnd, marketTicks } from '../../engine/reads.ts';
import type { Edit } from '../catalog/edits/edit.ts';
import type { MarketEdits } from '../catalog/edits/market-edits.ts';
import type { Static } from '../common/schema.ts';
import { marketByCondition } from '../market-data/find.ts';
import { LEDGER_OFF, type LedgerOperationParts } from './ledger-operations.ts';
import { addLiquidity, type LiquidityOperationParts } from './liquidity-operations.ts';
import {
  OperationRefused,
  type OperationRow,
  operation,
  refused,
  refusedField,
} from './operation-row.ts';
import {
  ConditionInput,
  EditEventInput,
  EditMarketInput,
  EventAnswer,
  EventInput,
  MarketAnswer,
  MarketInput,
} from './venue-schemas.ts';

export interface MarketOperationParts
  extends Pick<LedgerOperationParts, 'now' | 'sequenceLock' | 't'> {
  readonly venue: Pick<MarketEdits, 'make'>;
}

interface MadeMarketParts extends MarketOperationParts, LiquidityOperationParts {}

type EventResult = Static<typeof EventAnswer> | OperationRefused;
type MarketResult = Static<typeof MarketAnswer> | OperationRefused;

export const MARKET_OPERATIONS = [
  operation(
    'POST /admin/events',
    {
      does: 'makes an event',
      input: EventInput,
      answer: EventAnswer,
    },
    (parts: MarketOperationParts) => (input) =>
      withKey(input, (fields) => editEvent(parts, { kind: 'event', fields, at: isoNow(parts) })),
  ),
  operation(
    'POST /admin/events/edit',
    {
      does: 'changes what an event says',
      input: EditEventInput,
      answer: EventAnswer,
    },
    (parts: MarketOperationParts) =>
      ({ event: id, ...changes }) =>
        editEvent(parts, { kind: 'change event', event: id, changes, at: isoNow(parts) }),
  ),
  operation(
    'POST /admin/markets',
    {
      does: 'makes a market, in an event that an operator made or in one of its own',
      input: MarketInput,
      answer: MarketAnswer,
    },
    (parts: MadeMarketParts) => (input) =>
      withKey(input, ({ keepOpen, liquidity, protocol, ...fields }) => {
        const given = {
          ...fields,
          ...(keepOpen === true && { keepOpen }),
          ...(protocol === 2 && { protocol: 2 as const }),
        };
        const make = () => made(parts, { kind: 'market', fields: given, at: isoNow(parts) });
        return liquidity === undefined ? make() : madeLiquid(parts, input, liquidity, make);
      }),
  ),
  operation(
    'POST /admin/markets/edit',
    {
      does: 'changes what a market says, its tick, minimum, fee, taker delay or end',
      input: EditMarketInput,
      answer: MarketAnswer,
    },
    (parts: MarketOperationParts) => (input) => edit(parts, input, isoNow(parts)),
  ),
  changing(
    'POST /admin/markets/halt',
    { does: 'refuses orders for a market; open ones stay', resolver: true },
    { acceptingOrders: false },
  ),
  changing(
    'POST /admin/markets/resume',
    { does: 'takes orders for a halted market again', resolver: true },
    { acceptingOrders: true },
  ),
  changing(
    'POST /admin/markets/close',
    { does: 'ends a market for good: its open orders end, it can still resolve' },
    { closed: true },
  ),
];

const TWO_OUTCOMES = refusedField('liquidity', 'the house quotes markets of two outcomes alone');

/** Makes a market and pays in its liquidity, once under the id that follows from the market. */
async function madeLiquid(
  parts: MadeMarketParts,
  { outcomes }: Static<typeof MarketInput>,
  amount: string,
  make: () => Promise<MarketResult>,
): Promise<MarketResult> {
  if (parts.liquidity === undefined) return LEDGER_OFF;
  if (outcomes.length !== 2) return TWO_OUTCOMES;
  const result = await make();
  if (result instanceof OperationRefused) return result;
  const id = `liquidity of ${result.condition}`;
  const payment = await addLiquidity(parts, result.condition, amount, id);
  return payment instanceof OperationRefused ? payment : { ...result, liquidity: payment.amount };
}

function isoNow({ now }: MarketOperationParts): string {
  return new Date(now()).toISOString();
}

/** Operation that changes a market always in the same way. */
function changing<const Key extends `POST /${string}`>(
  key: Key,
  row: Pick<OperationRow, 'does' | 'resolver'>,
  changes: Readonly<Record<string, boolean>>,
) {
  return operation(
    key,
    { ...row, input: ConditionInput, answer: MarketAnswer },
    (parts: MarketOperationParts) =>
      async (input): Promise<MarketResult> => {
        const condition = input.condition.toLowerCase();
        const at = isoNow(parts);
        return (
          endedRefusal(parts, condition) ?? made(parts, { kind: 'change', condition, changes, at })
        );
      },
  );
}

async function editEvent(parts: MarketOperationParts, edited: Edit): Promise<EventResult> {
  const result = await made(parts, edited);
  if (result instanceof OperationRefused) return result;
  return { event: result.event, slug: result.slug, changed: result.changed };
}

const TWO_KEYS = refusedField('id', 'id is the older name of key: give one of them');

interface Keyed {
  readonly key?: string;
  readonly id?: string;
}

/** Both names of the key are accepted; stored catalogs use the older one. */
function withKey<Input extends Keyed, Result>(
  { id, key, ...fields }: Input,
  make: (fields: Omit<Input, 'id' | 'key'> & { readonly id?: string }) => Promise<Result>,
): Promise<Result | OperationRefused> {
  if (id !== undefined && key !== undefined) return Promise.resolve(TWO_KEYS);
  const name = key ?? id;
  return make(name === undefined ? fields : { ...fields, id: name });
}

const COARSER = refused(
  'COARSER_TICK',
  'tick must divide the one before it, or the market must have no open order',
);

/** Resting orders stay on their prices; a new minimum or fee applies to new orders. */
async function edit(
  parts: MarketOperationParts,
  input: Static<typeof EditMarketInput>,
  at: string,
): Promise<MarketResult> {
  const {
    condition: text,
    event,
    fee,
    feeExponent,
    feeRate,
    feeRebate,
    keepOpen,
    minimum,
    negRisk,
    outcomes,
    takerDelay,
    tick,
    ...shown
  } = input;
  const condition = text.toLowerCase();
  const ended = endedRefusal(parts, condition);
  if (ended !== undefined) return ended;
  const tradingEnd = keepOpen === true ? null : shown.endDate;
  const terms = {
    orderPriceMinTickSize: tick,
    orderMinSize: minimum,
    feeBps: fee,
    secondsDelay: takerDelay,
  };
  const changes = { ...shown, ...given({ tradingEnd, ...terms }) };
  if (tick !== undefined && (await isCoarser(parts, condition, tick))) return COARSER;
  const fixed = given({ outcomes, event, negRisk });
  const fees = given({ feeExponent, feeRate, feeRebate });
  const result = await made(parts, { kind: 'change', condition, changes, fees, fixed, at });
  // The old trading end may have passed meanwhile; then the engine has kept it.
  return tradingEnd === undefined ? result : (endedRefusal(parts, condition) ?? result);
}

type Given<Members> = { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> };

function given<Members extends object>(members: Members): Given<Members> {
  const has = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(has) as Given<Members>;
}

function endedRefusal(
  { t }: MarketOperationParts,
  condition: string,
): OperationRefused | undefined {
  const market = marketByCondition(t, condition);
  if (market === 0 || !hasReachedEnd(t, market)) return undefined;
  const end = new Date(marketEnd(t, market)).toISOString();
  return refused(
    'MARKET_ENDED',
    `its end came at ${end}: it takes no orders again, and never changes; it can still resolve`,
  );
}

/** Returns true where resting orders of a market could be off the new grid. */
async function isCoarser(
  { sequenceLock, t }: MarketOperationParts,
  condition: string,
  tick: string,
): Promise<boolean> {
  const market = marketByCondition(t, condition);
  if (market === 0 || Math.round(1 / Number(tick)) % marketTicks(t, market) === 0) return false;
  return sequenceLock.read(() => hasOrders(t, market));
}

export async function made(
  { venue }: Pick<MarketOperationParts, 'venue'>,
  edit: Edit,
): Promise<MarketResult> {
  const result = await venue.make(edit);
  if ('failure' in result) {
    return refused('CATALOG_NOT_CHANGED', result.failure);
  }
  if ('error' in result) return new OperationRefused(result.status, result.error, result.detail);
  const { generation, outcomes, tokens, ...shown } = result;
  const lists = { tokens: [...tokens], outcomes: [...outcomes] };
  return { ...shown, ...lists, changed: generation !== 0 };
}
