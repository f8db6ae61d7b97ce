/**
 * Operations on events and markets. What a market says and whether it takes orders is a generation of the catalog;
 * its resolution is a command in the log, after which the catalog says so too.
 *
 * Thread: I/O.
 */
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { hasOrders } from '../../engine/markets/markets.ts';
import { hasReachedEnd, marketEnd, marketFlags, marketTicks } from '../../engine/reads.ts';
import { ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { REFUSALS } from '../common/refusals.ts';
import { bytesToWords } from '../common/uint256.ts';
import { operatorRequestId } from '../ledger/request-id.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { Edit } from '../venue/edit.ts';
import { groupOf } from '../venue/venue-ids.ts';
import type { VenueMarkets } from '../venue/venue-markets.ts';
import { BAD_ID, type LedgerOperationParts, newRequestId, refusalOf } from './ledger-operations.ts';
import { OperationRefused } from './operation-row.ts';
import type {
  OperationHandlers,
  OperationInput,
  OperationKey,
  OperationOutput,
} from './operation-table.ts';
import { outcomesOf, type PayoutInput, weightsOf } from './payout-input.ts';

type MarketOperation = Extract<OperationKey, `POST /admin/${'events' | 'markets'}${string}`>;

interface MarketOperationParts extends LedgerOperationParts {
  readonly venue: Pick<VenueMarkets, 'make'>;
  /** The id of the event of a market; undefined where the catalog has none. */
  readonly eventOf: (condition: string) => string | undefined;
  /** Names of the outcomes, in the order of the engine; undefined where the catalog does not list the market. */
  readonly namesOf: (market: MarketRow) => readonly string[] | undefined;
  /** Called with a market that has resolved and of which the catalog could not be made to say so. */
  readonly unsaid: (condition: string) => void;
}

type EventResult = OperationOutput<'POST /admin/events'> | OperationRefused;
type MarketResult = OperationOutput<'POST /admin/markets'> | OperationRefused;
type Resolved = OperationOutput<'POST /admin/markets/resolve'> | OperationRefused;
interface Resolution extends PayoutInput {
  readonly condition: string;
  readonly id?: string;
}

const [CATALOG_BEHIND] = REFUSALS.CATALOG_BEHIND;
const NO_GROUP = new OperationRefused(
  409,
  REFUSALS.NO_GROUP[0],
  'payout of the whole to the first outcome needs it: one market of an event at most can have that',
);
const NO_MARKET = new OperationRefused(404, 'market not found', 'no market has this condition id');

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
    'POST /admin/markets/resolve': (input) => resolve(parts, input, at(), weightsOf),
    'POST /admin/markets/void': (input) => resolve(parts, input, at(), 'void'),
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

async function made({ venue }: MarketOperationParts, edit: Edit): Promise<MarketResult> {
  const result = await venue.make(edit);
  if ('failure' in result) {
    return new OperationRefused(503, 'the catalog cannot be changed', result.failure);
  }
  if ('error' in result) return new OperationRefused(result.status, result.error, result.detail);
  const { generation, outcomes, tokens, ...shown } = result;
  const lists = { tokens: [...tokens], outcomes: [...outcomes] };
  return { ...shown, ...lists, changed: generation !== 0 };
}

/** @param pays void: the same weight for each outcome */
async function resolve(
  parts: MarketOperationParts,
  { condition: text, id: idText = newRequestId(parts.now()), ...input }: Resolution,
  at: string,
  pays: typeof weightsOf | 'void',
): Promise<Resolved> {
  const { ledger, seqlock, t } = parts;
  const condition = text.toLowerCase();
  const id = operatorRequestId(idText);
  if (id === undefined) return BAD_ID;
  const market = marketByCondition(t, condition);
  if (market === 0) return NO_MARKET;
  const outcomes = outcomesOf(t, market, parts.namesOf(market));
  const isVoid = pays === 'void';
  const weights = isVoid ? outcomes.tokenIds.map(() => 1) : pays(input, outcomes);
  if (weights instanceof OperationRefused) return weights;
  const group = groupWords(parts, market, condition);
  if (
    group === undefined &&
    isNegRisk(t, market) &&
    weights.slice(1).every((weight) => weight === 0)
  ) {
    return NO_GROUP;
  }
  const outcome = await ledger.resolve({
    id,
    market,
    weights,
    isVoid,
    ...(group === undefined ? {} : { group }),
  });
  if (outcome.kind !== 'done') return refusalOf(outcome);
  const shown = await made(parts, { kind: 'resolved', conditions: [condition], at });
  if (shown instanceof OperationRefused) {
    parts.unsaid(condition);
    const detail = `send it again with the id ${idText}: ${shown.detail}`;
    return new OperationRefused(503, CATALOG_BEHIND, detail);
  }
  const { isDone } = (await seqlock.read(() => resolutionOf(t, market)))!;
  return {
    id: idText,
    condition,
    payout: [...weights],
    payouts: Object.fromEntries(outcomes.tokenIds.map((token, i) => [token, weights[i]!])),
    outcomes: [...outcomes.names],
    void: isVoid,
    state: isDone ? 'resolved' : 'resolving',
    repeated: outcome.isRepeated,
  };
}

function isNegRisk(t: Tables, market: MarketRow): boolean {
  return (marketFlags(t, market) & MarketFlag.negRisk) !== 0;
}

function groupWords(
  { eventOf, t }: MarketOperationParts,
  market: MarketRow,
  condition: string,
): Int32Array | undefined {
  if (!isNegRisk(t, market)) return undefined;
  const event = eventOf(condition);
  return event === undefined ? undefined : bytesToWords(groupOf(event), new Int32Array(ID_WORDS));
}
