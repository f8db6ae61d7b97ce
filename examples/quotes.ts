/**
 * A strategy for backtests, simple and of this project's own making: in every market a bid and an offer around
 * the middle, moved away from what it has already. An offer is a bid for the other outcome, so it needs no
 * shares; what it gets of both outcomes it merges to cash.
 *
 *   npm run cli -- backtest RECORDING examples/quotes.ts --html report.html
 */
import type { Book, Market, Strategy, Venue } from 'prediction-market-node/backtest';

/** Defaults; `--set away=3` and `--sweep away=1..4:1,size=10,20` give others. */
export const parameters = {
  /** Shares of a quote, and the most that it wants of one outcome. */
  size: 20,
  sharesMax: 100,
  /** Ticks from the middle to a quote. */
  away: 2,
};

export default function quotes({ away, sharesMax, size } = parameters): Strategy {
  /** Quotes of a market, as they were placed last. */
  const placed = new Map<Market, string>();

  function quote({ market, mid, tick, token }: Book, venue: Venue): void {
    if (mid === undefined || market.state !== 'open') return;
    const [first = '', second = ''] = market.tokens;
    const net = venue.position(first).total - venue.position(second).total;
    // With all that it wants of one outcome, the middle is one and a half quotes away.
    const skew = Math.round((1.5 * away * net) / sharesMax);
    const middle = Math.round(mid / tick) - skew;
    const bid = clamped(middle - away, tick) * tick;
    const ask = clamped(middle + away, tick) * tick;
    const wanted = `${bid} ${ask} ${net}`;
    if (placed.get(market) === wanted) return;
    placed.set(market, wanted);
    for (const each of market.tokens) venue.cancelAll(each);
    const terms = { side: 'BUY', size: Math.max(size, market.minSize), postOnly: true } as const;
    if (net < sharesMax) venue.place({ ...terms, token, price: bid });
    if (net > -sharesMax) venue.place({ ...terms, token: second, price: 1 - ask });
  }

  return {
    name: 'quotes',
    onBook: quote,
    onFill: ({ market }, venue) => {
      const sets = Math.min(...market.tokens.map((token) => venue.position(token).free));
      if (sets > 0) venue.merge(market, sets);
      quote(venue.book(market.tokens[0] ?? ''), venue);
    },
  };
}

/** A tick within the prices. */
function clamped(ticks: number, tick: number): number {
  return Math.min(Math.max(ticks, 1), Math.round(1 / tick) - 1);
}
