/**
 * GET /trades: fills of the whole exchange. The allow-list comes before the query
 * (docs/protocol.md#data-api-queries).
 *
 * Thread: I/O.
 */
import { NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import type { Allowlist } from '../http/address.ts';
import { ignoredHeaders } from '../http/ignored-parameters.ts';
import { rawRoute } from '../http/route.ts';
import type { TradesPages } from './trades-pages.ts';
import type { TradesRenderer } from './trades-render.ts';
import { TRADES_QUERY, TradesAnswer } from './trades-schemas.ts';

export interface TradesRouteParts {
  readonly trades: TradesRenderer;
  readonly pages: TradesPages;
  readonly allowlist: Allowlist;
  /** Unknown fields are ignored, and named in a header of the answer. */
  readonly isTolerant: boolean;
}

export const TRADES_ROUTES = [
  rawRoute(
    'GET /trades',
    {
      api: 'data',
      query: TRADES_QUERY,
      answer: TradesAnswer,
      does: 'fills: `limit offset takerOnly filterType filterAmount market user side`',
    },
    ({ allowlist, isTolerant, pages, trades }: TradesRouteParts) => {
      const isListed = allowlist.entries.length > 0;
      return {
        headers: [],
        query: TRADES_QUERY,
        run(context) {
          // An address costs a call into the HTTP server, so it is read only where there is a list.
          if (isListed && !allowlist.allows(context.address)) {
            return context.reply(401, NOT_ALLOWED_ADDRESS);
          }
          const known = pages.find(context.query);
          if (known !== undefined) return context.reply(200, known);
          const ignored: string[] = [];
          const query = TRADES_QUERY.parse(context.query, [], isTolerant ? ignored : undefined);
          if (typeof query === 'string') return context.reply(400, query);
          const headers = ignoredHeaders(ignored);
          const page = trades.render(query);
          if (page instanceof Promise)
            return page.then((rows) => context.reply(200, rows, headers));
          if (headers.length === 0) pages.add(context.query, page);
          return context.replyTransient(200, page, headers);
        },
      };
    },
  ),
];
