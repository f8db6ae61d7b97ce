/**
 * The most expensive request of each row of the route table on a node with large stores, as a bench knows it: the
 * longest walk, the largest answer, the most items. A row without a question says what bounds it.
 *
 * Questions differ from one another, so that no answer is one that is kept.
 */
import type { RouteKey } from '../../server/routes/route-table.ts';
import type { TradedMarkets } from '../http/market-store.ts';

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
  'POST /auth/api-key': ONE_ROW,
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
  'POST /replace': BY_WORKER,
  'DELETE /order': BY_WORKER,
  'DELETE /orders': BY_WORKER,
  'DELETE /cancel-market-orders': BY_WORKER,
  'POST /heartbeats': ONE_ROW,
  'POST /v1/heartbeats': ONE_ROW,
  'GET /data/order/:id': ONE_ROW,
  'GET /data/orders': (_, round) => get(`/data/orders?next_cursor=${cursor(100 * round)}`),
  'GET /data/trades': (_, round) => get(`/data/trades?next_cursor=${cursor(100 * round)}`),
  'GET /ledger/statement': FIXED_PAGE,
  'GET /balance-allowance': FIXED,
  'GET /balance-allowance/update': FIXED,
  'GET /ledger/balance': FIXED,
  'POST /split': BY_WORKER,
  'POST /merge': BY_WORKER,
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
  'GET /live-volume': ({ largestEvent }) => get(`/live-volume?id=${largestEvent}`),
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
