/**
 * The most expensive request of each row of the route table on a node with large stores, as a bench knows it: the
 * longest walk, the largest answer, the most items. A row without a question says what bounds it.
 *
 * Questions differ from one another, so that no answer is one that is kept.
 */
import type { RouteKey } from '../../server/routes/route-table.ts';
import { START_MS, type TradedMarkets } from '../http/market-store.ts';

export interface Store extends TradedMarkets {
  /** Event with most markets. */
  readonly largestEvent: string;
  readonly largestSeries: string;
  readonly tag: string;
  readonly tagSlug: string;
  readonly eventSlug: string;
  readonly word: string;
  /** Wallet with most trades. */
  readonly whale: string;
}

export interface Question {
  readonly path: string;
  readonly body?: string;
}

type Worst = ((store: Store, round: number) => Question) | string;

const ITEMS_MAX = 500;
const DEEP_MAX = 100;
/** Condition ids that a request line has room for. */
const NAMED_MAX = 200;
/** Day on which the stores begin, and most of their markets trade. */
const FIRST_DAY = new Date(START_MS).toISOString().slice(0, 10);
const NOTHING = 'filterType=CASH&filterAmount=99999999';
/** The greatest number of columns that a query may name. Trading changes the first two. */
const MARKET_COLUMNS = 'volume,liquidity,question';
const EVENT_COLUMNS = 'volume,liquidity,title';

const ONE_ROW = 'one look-up';
const FIXED_PAGE = 'at most 1,000 rows that lie together';
const FIXED = 'an answer of fixed size';
const BY_WORKER = 'parsed and applied by a worker; measured in the suite order-path';
const EMPTY = 'an empty answer';
const FEW_KEYS = 'at most 1,000 keys of an address';

const get = (path: string): Question => ({ path });
const post = (path: string, value: unknown): Question => ({ path, body: JSON.stringify(value) });
const items = ({ tokenIds }: Store, round: number, most = ITEMS_MAX): { token_id: string }[] =>
  tokenIds
    .slice((round * most) % Math.max(1, tokenIds.length - most))
    .slice(0, most)
    .map((token_id) => ({ token_id }));
const named = ({ conditionIds }: Store, round: number): string =>
  conditionIds.slice(round, round + NAMED_MAX).join(',');
/** Asks for all rows, none of which is thought of before. */
const sorted = (columns: string, round: number): string =>
  `limit=500&offset=${round}&order=${columns}&ascending=${round % 2 === 0}`;

const ofEvent =
  (tail: string): Worst =>
  (store) =>
    get(`/events/${store.largestEvent}${tail}`);
const ofTag =
  (tail: string): Worst =>
  (store) =>
    get(`/tags/${store.tag}${tail}`);
const ofTagSlug =
  (tail: string): Worst =>
  (store) =>
    get(`/tags/slug/${store.tagSlug}${tail}`);
const ofItems =
  (path: string): Worst =>
  (store, round) =>
    post(path, items(store, round));
const positions = (path: string, sortBy: string): Worst => {
  return ({ whale }, round) =>
    get(`${path}?user=${whale}&limit=500&offset=${round}&sortBy=${sortBy}`);
};

const twenty = (conditionIds: readonly string[], round: number): string =>
  conditionIds.slice(20 * round, 20 * round + 20).join(',');

export const WORST: Readonly<Record<RouteKey, Worst>> = {
  'GET /': FIXED,
  'GET /ok': FIXED,
  'GET /health': FIXED,
  'GET /healthz': FIXED,
  'GET /ready': FIXED,
  'GET /gamma/status': FIXED,
  'GET /status': FIXED,
  'GET /time': FIXED,
  'GET /version': FIXED,
  'GET /exchange-info': FIXED,
  'GET /rate-limits': FIXED,
  'GET /openapi.json': FIXED,
  'GET /asyncapi.json': FIXED,
  'GET /docs': FIXED,
  'GET /docs/:file': FIXED,
  'GET /app': FIXED,
  'GET /app/*': FIXED,
  // Not served in the benchmark: MCP is off.
  'POST /mcp': FIXED,
  'POST /auth/api-key': ONE_ROW,
  'POST /invites/redeem': ONE_ROW,
  'GET /auth/derive-api-key': ONE_ROW,
  'GET /auth/api-keys': FEW_KEYS,
  'DELETE /auth/api-key': ONE_ROW,
  'DELETE /auth/derive-api-key': ONE_ROW,
  'GET /auth/ban-status/closed-only': FIXED,
  'POST /auth/readonly-api-key': ONE_ROW,
  'GET /auth/readonly-api-keys': FEW_KEYS,
  'DELETE /auth/readonly-api-key': ONE_ROW,
  'GET /auth/validate-readonly-api-key': ONE_ROW,
  'POST /order': BY_WORKER,
  'POST /orders': BY_WORKER,
  'POST /orders/explain': BY_WORKER,
  'POST /orders/preview': ({ tokenIds }, round) =>
    post('/orders/preview', {
      tokenId: tokenIds[round],
      side: round % 2 === 0 ? 'BUY' : 'SELL',
      orderType: 'FAK',
      size: '1000000000',
    }),
  'POST /replace': BY_WORKER,
  'DELETE /order': BY_WORKER,
  'DELETE /orders': BY_WORKER,
  'DELETE /cancel-market-orders': BY_WORKER,
  'GET /faults': FEW_KEYS,
  'POST /faults': ONE_ROW,
  'DELETE /faults': FEW_KEYS,
  'POST /heartbeats': ONE_ROW,
  'POST /v1/heartbeats': ONE_ROW,
  'GET /data/order/:id': ONE_ROW,
  'GET /data/orders': (_, round) => get(`/data/orders?next_cursor=${cursor(100 * round)}`),
  'GET /data/trades': (_, round) => get(`/data/trades?next_cursor=${cursor(100 * round)}`),
  'GET /ledger/statement': FIXED_PAGE,
  'GET /rebates/current': ({ whale }) =>
    get(`/rebates/current?date=${FIRST_DAY}&maker_address=${whale}`),
  'GET /balance-allowance': FIXED,
  'GET /balance-allowance/update': FIXED,
  'GET /ledger/balance': FIXED,
  'GET /deployed': FIXED,
  'POST /submit': BY_WORKER,
  'GET /nonce': FIXED,
  'GET /relay-payload': FIXED,
  'GET /v1/account/transactions/params': FIXED,
  'GET /transaction': FIXED,
  'GET /v1/account/transactions/:id': FIXED,
  'POST /split': BY_WORKER,
  'POST /merge': BY_WORKER,
  'POST /agents': BY_WORKER,
  'GET /agents': FEW_KEYS,
  'POST /agents/revoke': BY_WORKER,
  'POST /profile': ONE_ROW,
  'GET /book': ({ tokenIds }, round) => get(`/book?token_id=${tokenIds[round]}`),
  'GET /book/:token_id': ({ tokenIds }, round) => get(`/book/${tokenIds.at(-1 - round)}`),
  'POST /books': (store, round) =>
    post('/books', items(store, round % 2, round < 2 ? DEEP_MAX : ITEMS_MAX)),
  'GET /price': ONE_ROW,
  'GET /price/:token_id': ONE_ROW,
  'POST /prices': ofItems('/prices'),
  'GET /midpoint': ONE_ROW,
  'GET /midpoint/:token_id': ONE_ROW,
  'POST /midpoints': ofItems('/midpoints'),
  'GET /spread': ONE_ROW,
  'GET /spread/:token_id': ONE_ROW,
  'POST /spreads': ofItems('/spreads'),
  'GET /last-trade-price': ONE_ROW,
  'GET /last-trade-price/:token_id': ONE_ROW,
  'POST /last-trades-prices': ofItems('/last-trades-prices'),
  'GET /tick-size': ONE_ROW,
  'GET /tick-size/:token_id': ONE_ROW,
  'GET /neg-risk': ONE_ROW,
  'GET /neg-risk/:token_id': ONE_ROW,
  'GET /fee-rate': ONE_ROW,
  'GET /fee-rate/:token_id': ONE_ROW,
  'GET /prices-history': ({ tokenIds }, round) =>
    get(`/prices-history?market=${tokenIds[round]}&interval=max&fidelity=1`),
  'POST /batch-prices-history': ({ tokenIds }, round) =>
    post('/batch-prices-history', {
      markets: tokenIds.slice(20 * round, 20 * round + 20),
      interval: 'max',
      fidelity: 1,
    }),
  'POST /data/volumes': ({ conditionIds }, round) =>
    post('/data/volumes', {
      conditions: conditionIds
        .slice(round, round + ITEMS_MAX)
        .map((condition_id) => ({ condition_id })),
      include_24h: true,
    }),
  'GET /trades': (store, round) =>
    get(
      [
        `/trades?${NOTHING}&takerOnly=false`,
        `/trades?market=${named(store, round)}&${NOTHING}&takerOnly=false`,
        `/trades?user=${store.whale}&${NOTHING}&takerOnly=false`,
        `/trades?limit=10000&offset=${1_000 * round}&takerOnly=false`,
        `/trades?limit=10000&offset=10000&side=SELL&takerOnly=false&market=${named(store, round)}`,
      ][round % 5]!,
    ),
  'GET /activity': ({ whale }, round) =>
    get(
      `/activity?user=${whale}&limit=500&offset=${9_500 + round}&sortBy=${round % 2 ? 'CASH' : 'TOKENS'}`,
    ),
  'GET /positions': positions('/positions', 'TITLE'),
  'GET /closed-positions': positions('/closed-positions', 'TITLE'),
  'GET /value': ({ whale }) => get(`/value?user=${whale}`),
  'GET /traded': ({ whale }) => get(`/traded?user=${whale}`),
  'GET /holders': (store, round) =>
    get(`/holders?market=${named(store, round)}&limit=500&minBalance=0`),
  'GET /oi': (store, round) => get(`/oi?market=${named(store, round)}`),
  'GET /liquidity': (store, round) => get(`/liquidity?condition=${named(store, round)}`),
  'GET /live-volume': ({ largestEvent }) => get(`/live-volume?id=${largestEvent}`),
  'GET /v1/leaderboard': () => get('/v1/leaderboard?timePeriod=ALL&limit=50&offset=1000'),
  'GET /v2/leaderboard': ({ whale }, round) =>
    get(`/v2/leaderboard?time_period=all&limit=1000${round % 2 === 0 ? '' : `&user=${whale}`}`),
  'GET /v2/leaderboard/brier': () => get('/v2/leaderboard/brier?time_period=all&limit=1000'),
  'GET /v2/user-stats': ({ whale }) => get(`/v2/user-stats?user=${whale}`),
  'GET /v2/user-pnl': ({ whale }) => get(`/v2/user-pnl?user=${whale}&interval=max`),
  'GET /v2/user-volume': ({ whale }) => get(`/v2/user-volume?user=${whale}`),
  'GET /seasons': () => get('/seasons?limit=500'),
  'GET /seasons/:season': () => get('/seasons/1?limit=500'),
  'GET /v2/biggest-winners': () => get('/v2/biggest-winners?time_period=all&limit=1000'),
  'GET /v2/trades': ({ conditionIds, whale }, round) =>
    get(
      [
        '/v2/trades?taker_only=false&filter_amount=100000000000',
        `/v2/trades?condition=${twenty(conditionIds, round)}&filter_amount=100000000000`,
        `/v2/trades?user=${whale}&taker_only=false&limit=1000`,
        '/v2/trades?limit=1000&taker_only=false',
      ][round % 4]!,
    ),
  'GET /v2/activity': ({ whale }, round) =>
    get(`/v2/activity?user=${whale}&limit=1000&sort_direction=${round % 2 ? 'ASC' : 'DESC'}`),
  'GET /v2/positions': ({ conditionIds, whale }, round) =>
    get(
      round % 2
        ? `/v2/positions?user=${whale}&limit=1000&sort_by=TOTAL_PNL`
        : `/v2/positions?condition=${conditionIds[round]}&limit=1000&sort_by=PRICE`,
    ),
  'GET /v2/value': ({ whale }) => get(`/v2/value?user=${whale}`),
  'GET /v2/holders': ({ conditionIds }, round) =>
    get(`/v2/holders?condition=${twenty(conditionIds, round)}&limit=1000`),
  'GET /v2/oi': ({ conditionIds }, round) => get(`/v2/oi?condition=${twenty(conditionIds, round)}`),
  'GET /v2/live-volume': ({ largestEvent }) => get(`/v2/live-volume?event_id=${largestEvent}`),
  'GET /v2/prices-history': ({ tokenIds }, round) =>
    get(`/v2/prices-history?token_id=${tokenIds[round]}&interval=max&bucket_seconds=660`),
  'GET /v2/resolutions': ({ largestEvent }) => get(`/v2/resolutions?event_id=${largestEvent}`),
  'GET /v2/approvals': FIXED,
  'GET /v2/status': FIXED,
  'GET /v2/builders/leaderboard': FIXED,
  'GET /v2/builders/volume': FIXED,
  'GET /v2/activity/combos': FIXED,
  'GET /v2/positions/combos': FIXED,
  'GET /public-profile': ONE_ROW,
  'GET /comments': FIXED,
  'GET /comments/keyset': FIXED,
  'GET /comments/:id': FIXED,
  'GET /comments/user_address/:address': FIXED,
  'GET /markets': (_, round) =>
    get(`/markets?${sorted(MARKET_COLUMNS, round)}&include_tag=true&volume_max=${1e9 + round}`),
  'GET /markets/keyset': (_, round) =>
    get(`/markets/keyset?limit=500&order=${MARKET_COLUMNS}&volume_max=${1e9 + round}`),
  'GET /markets/:id': ONE_ROW,
  'GET /markets/slug/:slug': ONE_ROW,
  'GET /markets/:id/tags': ONE_ROW,
  'GET /events': (_, round) => get(`/events?${sorted(EVENT_COLUMNS, round)}`),
  'GET /events/keyset': (_, round) =>
    get(`/events/keyset?limit=500&order=${EVENT_COLUMNS}&volume_max=${1e9 + round}`),
  'GET /events/:id': ofEvent(''),
  'GET /events/slug/:slug': ({ eventSlug }) => get(`/events/slug/${eventSlug}`),
  'GET /events/:id/tags': ofEvent('/tags'),
  'GET /series': (_, round) => get(`/series?limit=500&offset=${round}`),
  'GET /series/:id': ({ largestSeries }) => get(`/series/${largestSeries}`),
  'GET /tags': (_, round) => get(`/tags?limit=500&offset=${round}`),
  'GET /tags/:id': ofTag(''),
  'GET /tags/slug/:slug': ofTagSlug(''),
  'GET /tags/:id/related-tags': ofTag('/related-tags'),
  'GET /tags/:id/related-tags/tags': ofTag('/related-tags/tags'),
  'GET /tags/slug/:slug/related-tags': ofTagSlug('/related-tags'),
  'GET /tags/slug/:slug/related-tags/tags': ofTagSlug('/related-tags/tags'),
  'GET /public-search': ({ word }, round) =>
    get(
      `/public-search?q=${word.slice(0, 2 + (round % 3))}&limit_per_type=500&sort=${EVENT_COLUMNS}`,
    ),
  'GET /sampling-markets': (_, round) =>
    get(`/sampling-markets?next_cursor=${cursor(1_000 * round)}`),
  'GET /sampling-simplified-markets': (_, round) =>
    get(`/sampling-simplified-markets?next_cursor=${cursor(1_000 * round)}`),
  'GET /clob/markets': (_, round) => get(`/clob/markets?next_cursor=${cursor(100 * round)}`),
  'GET /clob/markets/:condition_id': ONE_ROW,
  'GET /simplified-markets': (_, round) =>
    get(`/simplified-markets?next_cursor=${cursor(100 * round)}`),
  'GET /markets-by-token/:token_id': ONE_ROW,
  'GET /clob-markets/:condition_id': ONE_ROW,
  'GET /live-activity/events/:condition_id': ({ conditionIds }, round) =>
    get(`/live-activity/events/${conditionIds[round]}`),
  'GET /markets/live-activity/:condition_id': ({ conditionIds }, round) =>
    get(`/markets/live-activity/${conditionIds[round]}`),
  'GET /data/pre-migration-orders': EMPTY,
  'GET /order-scoring': FIXED,
  'POST /orders-scoring': (_, round) =>
    post(
      '/orders-scoring',
      Array.from(
        { length: ITEMS_MAX },
        (_, i) => `0x${String(round * ITEMS_MAX + i).padStart(64, '0')}`,
      ),
    ),
  'GET /notifications': EMPTY,
  'DELETE /notifications': FIXED,
  'GET /rewards/user': EMPTY,
  'GET /rewards/user/total': EMPTY,
  'GET /rewards/user/percentages': EMPTY,
  'GET /rewards/user/markets': EMPTY,
  'GET /rewards/markets/current': EMPTY,
  'GET /rewards/markets/:condition_id': EMPTY,
  'GET /auth/builder-api-key': EMPTY,
  'GET /builder/trades': EMPTY,
  'GET /fees/builder-fees/:code': FIXED,
  // The last one: nothing rests of the wallet after it.
  'DELETE /cancel-all': () => ({ path: '/cancel-all' }),
};

function cursor(offset: number): string {
  return Buffer.from(String(offset)).toString('base64');
}
