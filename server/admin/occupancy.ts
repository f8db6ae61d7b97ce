/** Use and capacity of the engine's tables. Thread: any that may read them. */

import { matchingUse } from '../../engine/book/matching.ts';
import { ledgerIsOn, ledgerTotals, operatorIds } from '../../engine/ledger/reads.ts';
import { closedInMemory } from '../../engine/orders/orders.ts';
import {
  accountCount,
  bookCount,
  fillCount,
  marketCount,
  openOrders,
  sourceLevels,
  tokenCount,
} from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';

interface Occupancy {
  readonly table: string;
  readonly used: number;
  readonly capacity: number;
  /** Setting of its capacity. */
  readonly variable: string;
}

function positionsOf(t: Tables): Occupancy {
  const { positions: used } = ledgerTotals(t);
  return { table: 'positions', used, capacity: t.capacities.positions, variable: 'POSITIONS_MAX' };
}

function operatorIdsOf(t: Tables): Occupancy {
  const capacity = t.capacities.operatorIds;
  return { table: 'operator ids', used: operatorIds(t), capacity, variable: 'OPERATOR_IDS_MAX' };
}

export function occupancyOf(t: Tables): Occupancy[] {
  const { capacities: c } = t;
  const { levels } = matchingUse(t.matching);
  const fills = Math.min(fillCount(t), c.trades);
  return [
    { table: 'markets', used: marketCount(t), capacity: c.markets, variable: 'MARKETS_MAX' },
    { table: 'tokens', used: tokenCount(t), capacity: c.tokens, variable: 'TOKENS_MAX' },
    // The two tokens of a binary market share one book, but there is room for one book per token.
    { table: 'books', used: bookCount(t), capacity: c.tokens, variable: 'TOKENS_MAX' },
    { table: 'accounts', used: accountCount(t), capacity: c.accounts, variable: 'ACCOUNTS_MAX' },
    {
      table: 'orders',
      used: openOrders(t) + sourceLevels(t),
      capacity: c.orders,
      variable: 'ORDERS_MAX',
    },
    { table: 'levels', used: levels, capacity: c.levels, variable: 'LEVELS_MAX' },
    { table: 'finished', used: closedInMemory(t), capacity: c.history, variable: 'ORDER_HISTORY' },
    ...(ledgerIsOn(t) ? [positionsOf(t), operatorIdsOf(t)] : []),
    { table: 'trades', used: fills, capacity: c.trades, variable: 'TRADES_MAX' },
  ];
}
