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
import type { LedgerOperationParts } from './ledger-operations.ts';
import { OperationRefused, operation, refused, refusedField } from './operation-row.ts';
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
    (parts: MarketOperationParts) => (input) =>
      withKey(input, ({ keepOpen, ...fields }) =>
        made(parts, {
          kind: 'market',
          fields: keepOpen === true ? { ...fields, keepOpen } : fields,
          at: isoNow(parts),
        }),
      ),
  ),
  operation(
    'POST /admin/markets/edit',
    {
      does: 'changes what a market says, its tick, minimum, fee or end',
      input: EditMarketInput,
      answer: MarketAnswer,
    },
    (parts: MarketOperationParts) => (input) => edit(parts, input, isoNow(parts)),
  ),
  operation(
    'POST /admin/markets/halt',
    {
      does: 'refuses orders for a market; open ones stay',
      input: ConditionInput,
      answer: MarketAnswer,
    },
    (parts: MarketOperationParts) =>
      ({ condition }) =>
        change(parts, condition, { acceptingOrders: false }),
  ),
  operation(
    'POST /admin/markets/resume',
    {
      does: 'takes orders for a halted market again',
      input: ConditionInput,
      answer: MarketAnswer,
    },
    (parts: MarketOperationParts) =>
      ({ condition }) =>
        change(parts, condition, { acceptingOrders: true }),
  ),
  operation(
    'POST /admin/markets/close',
    {
      does: 'ends a market for good: its open orders end, it can still resolve',
      input: ConditionInput,
      answer: MarketAnswer,
    },
    (parts: MarketOperationParts) =>
      ({ condition }) =>
        change(parts, condition, { closed: true }),
  ),
];

function isoNow({ now }: MarketOperationParts): string {
  return new Date(now()).toISOString();
}

async function change(
  parts: MarketOperationParts,
  condition: string,
  changes: Readonly<Record<string, unknown>>,
): Promise<MarketResult> {
  const edited = { kind: 'change', condition: condition.toLowerCase(), changes } as const;
  return endedRefusal(parts, condition) ?? made(parts, { ...edited, at: isoNow(parts) });
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

/** Edits a market. Resting orders stay on their prices; a new minimum or fee applies to new orders. */
async function edit(
  parts: MarketOperationParts,
  input: Static<typeof EditMarketInput>,
  at: string,
): Promise<MarketResult> {
  const {
    condition: text,
    event,
    fee,
    keepOpen,
    minimum,
    negRisk,
    outcomes,
    tick,
    ...shown
  } = input;
  const condition = text.toLowerCase();
  const refused = endedRefusal(parts, condition);
  if (refused !== undefined) return refused;
  const tradingEnd = keepOpen === true ? null : shown.endDate;
  const changes = {
    ...shown,
    ...(tradingEnd === undefined ? {} : { tradingEnd }),
    ...(tick === undefined ? {} : { orderPriceMinTickSize: tick }),
    ...(minimum === undefined ? {} : { orderMinSize: minimum }),
    ...(fee === undefined ? {} : { feeBps: fee }),
  };
  if (tick !== undefined && (await isCoarser(parts, condition, tick))) return COARSER;
  const fixed = {
    ...(outcomes === undefined ? {} : { outcomes }),
    ...(event === undefined ? {} : { event }),
    ...(negRisk === undefined ? {} : { negRisk }),
  };
  const result = await made(parts, { kind: 'change', condition, changes, fixed, at });
  // The old trading end may have passed meanwhile; then the engine has kept it.
  return tradingEnd === undefined ? result : (endedRefusal(parts, condition) ?? result);
}

/** Refusal of a change to a market past its trading end; undefined = it may change. */
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

/** Makes an edit of the catalog; resolves with the served result. */
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
