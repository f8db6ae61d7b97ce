/**
 * Operations on events and markets: what a market says and whether it takes orders is a generation of the catalog.
 *
 * Thread: I/O. Not here: payouts (resolution-operations.ts).
 */
import { hasOrders } from '../../engine/markets/markets.ts';
import { hasReachedEnd, marketEnd, marketTicks } from '../../engine/reads.ts';
import { REFUSALS } from '../common/refusals.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { Edit } from '../venue/edit.ts';
import type { VenueMarkets } from '../venue/venue-markets.ts';
import type { LedgerOperationParts } from './ledger-operations.ts';
import { OperationRefused } from './operation-row.ts';
import type {
  OperationHandlers,
  OperationInput,
  OperationKey,
  OperationOutput,
} from './operation-table.ts';

type MarketOperation =
  | Extract<OperationKey, `POST /admin/events${string}`>
  | 'POST /admin/markets'
  | `POST /admin/markets/${'edit' | 'halt' | 'resume' | 'close'}`;

export interface MarketOperationParts extends Pick<LedgerOperationParts, 'now' | 'seqlock' | 't'> {
  readonly venue: Pick<VenueMarkets, 'make'>;
}

type EventResult = OperationOutput<'POST /admin/events'> | OperationRefused;
type MarketResult = OperationOutput<'POST /admin/markets'> | OperationRefused;

export function marketOperations(parts: MarketOperationParts): OperationHandlers<MarketOperation> {
  const at = (): string => new Date(parts.now()).toISOString();
  const change =
    (changes: Readonly<Record<string, unknown>>) =>
    async ({ condition }: { readonly condition: string }): Promise<MarketResult> =>
      endedRefusal(parts, condition) ??
      made(parts, { kind: 'change', condition: condition.toLowerCase(), changes, at: at() });
  const event = async (edit: Edit): Promise<EventResult> => {
    const result = await made(parts, edit);
    if (result instanceof OperationRefused) return result;
    return { event: result.event, slug: result.slug, changed: result.changed };
  };
  return {
    'POST /admin/events': (input) =>
      withKey(input, (wish) => event({ kind: 'event', wish, at: at() })),
    'POST /admin/events/edit': ({ event: id, ...changes }) =>
      event({ kind: 'change event', event: id, changes, at: at() }),
    'POST /admin/markets': (input) =>
      withKey(input, ({ keepOpen, ...wish }) =>
        made(parts, {
          kind: 'market',
          wish: keepOpen === true ? { ...wish, keepOpen } : wish,
          at: at(),
        }),
      ),
    'POST /admin/markets/edit': (input) => edit(parts, input, at()),
    'POST /admin/markets/halt': change({ acceptingOrders: false }),
    'POST /admin/markets/resume': change({ acceptingOrders: true }),
    'POST /admin/markets/close': change({ closed: true }),
  };
}

const TWO_KEYS = new OperationRefused(
  400,
  `${REFUSALS.INVALID_FIELD[0]}id`,
  'id is the older name of key: give one of them',
);

interface Keyed {
  readonly key?: string;
  readonly id?: string;
}

/** Both names of the key make the same wish, which stored catalogs know by the older one. */
function withKey<Input extends Keyed, Result>(
  { id, key, ...wish }: Input,
  make: (wish: Omit<Input, 'id' | 'key'> & { readonly id?: string }) => Promise<Result>,
): Promise<Result | OperationRefused> {
  if (id !== undefined && key !== undefined) return Promise.resolve(TWO_KEYS);
  const name = key ?? id;
  return make(name === undefined ? wish : { ...wish, id: name });
}

const COARSER = new OperationRefused(
  409,
  REFUSALS.COARSER_TICK[0],
  'tick must divide the one before it, or the market must have no open order',
);

/** Resting orders stay on their prices; a new minimum or fee is for orders that come. */
async function edit(
  parts: MarketOperationParts,
  input: OperationInput<'POST /admin/markets/edit'>,
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
  // The end before may have come meanwhile; then the engine has kept it.
  return tradingEnd === undefined ? result : (endedRefusal(parts, condition) ?? result);
}

/** The refusal of a change to a market whose end has come; undefined = it may change. */
function endedRefusal(
  { t }: MarketOperationParts,
  condition: string,
): OperationRefused | undefined {
  const market = marketByCondition(t, condition);
  if (market === 0 || !hasReachedEnd(t, market)) return undefined;
  const end = new Date(marketEnd(t, market)).toISOString();
  return new OperationRefused(
    409,
    REFUSALS.MARKET_ENDED[0],
    `its end came at ${end}: it takes no orders again, and never changes; it can still resolve`,
  );
}

/** Whether resting orders of a market could be off the new grid. */
async function isCoarser(
  { seqlock, t }: MarketOperationParts,
  condition: string,
  tick: string,
): Promise<boolean> {
  const market = marketByCondition(t, condition);
  if (market === 0 || Math.round(1 / Number(tick)) % marketTicks(t, market) === 0) return false;
  return seqlock.read(() => hasOrders(t, market));
}

/** Makes an edit of the catalog; resolves with what is served then. */
export async function made(
  { venue }: Pick<MarketOperationParts, 'venue'>,
  edit: Edit,
): Promise<MarketResult> {
  const result = await venue.make(edit);
  if ('failure' in result) {
    return new OperationRefused(503, 'the catalog cannot be changed', result.failure);
  }
  if ('error' in result) return new OperationRefused(result.status, result.error, result.detail);
  const { generation, outcomes, tokens, ...shown } = result;
  const lists = { tokens: [...tokens], outcomes: [...outcomes] };
  return { ...shown, ...lists, changed: generation !== 0 };
}
