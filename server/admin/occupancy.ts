/** How full the engine's tables are. Thread: any that may read them. */

import { matchingUse } from '../../engine/book/matching.ts';
import { State } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';

export interface Occupancy {
  readonly table: string;
  readonly used: number;
  readonly capacity: number;
  /** The variable that sets its capacity. */
  readonly variable: string;
}

export function occupancyOf({ capacities: c, matching, state: s }: Tables): Occupancy[] {
  const { levels } = matchingUse(matching);
  const finished = s[State.closed]! - s[State.firstKeptClosed]!;
  const fills = Math.min(s[State.fills]!, c.trades);
  return [
    { table: 'markets', used: s[State.markets]!, capacity: c.markets, variable: 'MARKETS_MAX' },
    { table: 'tokens', used: s[State.tokens]!, capacity: c.tokens, variable: 'TOKENS_MAX' },
    // The two tokens of a binary market share one book, but there is room for one book per token.
    { table: 'books', used: s[State.books]!, capacity: c.tokens, variable: 'TOKENS_MAX' },
    { table: 'accounts', used: s[State.accounts]!, capacity: c.accounts, variable: 'ACCOUNTS_MAX' },
    { table: 'orders', used: s[State.openOrders]!, capacity: c.orders, variable: 'ORDERS_MAX' },
    { table: 'levels', used: levels, capacity: c.levels, variable: 'LEVELS_MAX' },
    { table: 'finished', used: finished, capacity: c.history, variable: 'ORDER_HISTORY' },
    { table: 'trades', used: fills, capacity: c.trades, variable: 'TRADES_MAX' },
  ];
}
