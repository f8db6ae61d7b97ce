/**
 * Operations on events and markets. What a market says and whether it takes orders is a generation of the catalog;
 * its resolution is a command in the log, after which the catalog says so too.
 *
 * Thread: I/O.
 */
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { marketFlags, marketTokens } from '../../engine/reads.ts';
import { ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
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
import type { OperationHandlers, OperationKey, OperationOutput } from './operation-table.ts';

type MarketOperation = 'POST /admin/events' | Extract<OperationKey, `POST /admin/markets${string}`>;

interface MarketOperationParts extends LedgerOperationParts {
  readonly venue: Pick<VenueMarkets, 'make'>;
  /** The id of the event of a market; undefined where the catalog has none. */
  readonly eventOf: (condition: string) => string | undefined;
}

type MarketResult = OperationOutput<'POST /admin/markets'> | OperationRefused;
type Resolved = OperationOutput<'POST /admin/markets/resolve'> | OperationRefused;
interface Resolution {
  readonly condition: string;
  readonly payout?: readonly number[];
  readonly id?: string;
}

const [CATALOG_BEHIND] = REFUSALS.CATALOG_BEHIND;
const NO_MARKET = new OperationRefused(404, 'market not found', 'no market has this condition id');

export function marketOperations(parts: MarketOperationParts): OperationHandlers<MarketOperation> {
  const at = (): string => new Date(parts.now()).toISOString();
  const change =
    (changes: Readonly<Record<string, unknown>>) =>
    ({ condition }: { readonly condition: string }): Promise<MarketResult> =>
      made(parts, { kind: 'change', condition: condition.toLowerCase(), changes, at: at() });
  return {
    async 'POST /admin/events'(wish) {
      const result = await made(parts, { kind: 'event', wish, at: at() });
      if (result instanceof OperationRefused) return result;
      return { event: result.event, slug: result.slug, changed: result.changed };
    },
    'POST /admin/markets': (wish) => made(parts, { kind: 'market', wish, at: at() }),
    'POST /admin/markets/edit': ({ condition, minimum, tick, ...shown }) =>
      change({
        ...shown,
        ...(tick === undefined ? {} : { orderPriceMinTickSize: tick }),
        ...(minimum === undefined ? {} : { orderMinSize: minimum }),
      })({ condition }),
    'POST /admin/markets/halt': change({ acceptingOrders: false }),
    'POST /admin/markets/resume': change({ acceptingOrders: true }),
    'POST /admin/markets/close': change({ closed: true }),
    'POST /admin/markets/resolve': (input) => resolve(parts, input, at()),
    'POST /admin/markets/void': (input) => resolve(parts, input, at()),
  };
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
  const outcome = await ledger.resolve({
    id,
    market,
    weights,
    isVoid,
    ...(group === undefined ? {} : { group }),
  });
  if (outcome.kind !== 'done') return refusalOf(outcome);
  const changes = { closed: true, acceptingOrders: false };
  const shown = await made(parts, { kind: 'change', condition, changes, isFinal: true, at });
  // A market that the catalog does not list any more is resolved all the same.
  if (shown instanceof OperationRefused && shown.status !== 404) {
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

function groupWords(
  { eventOf, t }: MarketOperationParts,
  market: MarketRow,
  condition: string,
): Int32Array | undefined {
  if ((marketFlags(t, market) & MarketFlag.negRisk) === 0) return undefined;
  const event = eventOf(condition);
  return event === undefined ? undefined : bytesToWords(groupOf(event), new Int32Array(ID_WORDS));
}
