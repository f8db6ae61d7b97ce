/**
 * Operations on events and markets. What a market says and whether it takes orders is a generation of the catalog;
 * its resolution is a command in the log, after which the catalog says so too.
 *
 * Thread: I/O.
 */
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { hasOrders } from '../../engine/markets/markets.ts';
import { marketFlags, marketTicks, marketTokens } from '../../engine/reads.ts';
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

type MarketOperation = Extract<OperationKey, `POST /admin/${'events' | 'markets'}${string}`>;

interface MarketOperationParts extends LedgerOperationParts {
  readonly venue: Pick<VenueMarkets, 'make'>;
  /** The id of the event of a market; undefined where the catalog has none. */
  readonly eventOf: (condition: string) => string | undefined;
  /** Called with a market that has resolved and of which the catalog could not be made to say so. */
  readonly unsaid: (condition: string) => void;
}

type EventResult = OperationOutput<'POST /admin/events'> | OperationRefused;
type MarketResult = OperationOutput<'POST /admin/markets'> | OperationRefused;
type Resolved = OperationOutput<'POST /admin/markets/resolve'> | OperationRefused;
interface Resolution {
  readonly condition: string;
  readonly payout?: readonly number[];
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
    ({ condition }: { readonly condition: string }): Promise<MarketResult> =>
      made(parts, { kind: 'change', condition: condition.toLowerCase(), changes, at: at() });
  const event = async (edit: Edit): Promise<EventResult> => {
    const result = await made(parts, edit);
    if (result instanceof OperationRefused) return result;
    return { event: result.event, slug: result.slug, changed: result.changed };
  };
  return {
    'POST /admin/events': (wish) => event({ kind: 'event', wish, at: at() }),
    'POST /admin/events/edit': ({ event: id, ...changes }) =>
      event({ kind: 'change event', event: id, changes, at: at() }),
    'POST /admin/markets': (wish) => made(parts, { kind: 'market', wish, at: at() }),
    'POST /admin/markets/edit': (input) => edit(parts, input, at()),
    'POST /admin/markets/halt': change({ acceptingOrders: false }),
    'POST /admin/markets/resume': change({ acceptingOrders: true }),
    'POST /admin/markets/close': change({ closed: true }),
    'POST /admin/markets/resolve': (input) => resolve(parts, input, at()),
    'POST /admin/markets/void': (input) => resolve(parts, input, at()),
  };
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
  const { condition: text, event, fee, minimum, negRisk, outcomes, tick, ...shown } = input;
  const condition = text.toLowerCase();
  const changes = {
    ...shown,
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
  return made(parts, { kind: 'change', condition, changes, fixed, at });
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
  const { generation, tokens, ...shown } = result;
  return { ...shown, tokens: [...tokens], changed: generation !== 0 };
}

/** Without a payout it is void. */
async function resolve(
  parts: MarketOperationParts,
  { condition: text, id: idText = newRequestId(parts.now()), payout }: Resolution,
  at: string,
): Promise<Resolved> {
  const { ledger, seqlock, t } = parts;
  const condition = text.toLowerCase();
  const id = operatorRequestId(idText);
  if (id === undefined) return BAD_ID;
  const market = marketByCondition(t, condition);
  if (market === 0) return NO_MARKET;
  const weights = payout ?? Array.from({ length: marketTokens(t, market) }, () => 1);
  const isVoid = payout === undefined;
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
