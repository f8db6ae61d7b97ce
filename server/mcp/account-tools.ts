/**
 * Tools that read the wallet of the key.
 *
 * Thread: any.
 */
import { decimalOf } from '../../client/money.ts';
import type { DataPosition, OwnOrderAnswer, Routes } from '../../client/types.ts';
import { Type } from '../common/schema.ts';
import { CHOICE, LIST, MARKET } from './arguments.ts';
import { dataPage } from './market-tools.ts';
import { marketOf, outcomesOf } from './markets.ts';
import { cut, listed, timeText } from './pages.ts';
import { tool, type Venue } from './tool.ts';

type Entry = Routes['GET /ledger/statement']['answer']['data'][number];

const MS = 1_000;
const ROWS = 50;
const TITLE_MAX = 200;
const NOTHING = { total: '0', reserved: '0', free: '0' };

const openOrders = tool({
  title: 'Open orders',
  does: 'Open orders of the wallet, newest first. market is a condition id, which other tools take.',
  needs: 'read',
  routes: ['GET /data/orders', 'GET /markets/:id', 'GET /markets/slug/:slug'],
  args: Type.Object({ market: Type.Optional(MARKET), ...LIST(ROWS) }),
  async run({ args, venue }) {
    const found = args.market === undefined ? undefined : await marketOf(venue, args.market);
    const list = await listed(
      args,
      async (next_cursor) => {
        const query = { market: found?.conditionId, wallet: venue.agentOf, next_cursor };
        const page = await venue.call('GET /data/orders', { query });
        return { rows: page.data, next: page.next_cursor };
      },
      orderRow,
    );
    return { orders: list.rows, next: list.next };
  },
});

const positions = tool({
  title: 'Positions',
  does: 'Shares that the wallet has by outcome, their average cost, value and profit. It follows a trade within a second.',
  needs: 'read',
  routes: ['GET /v2/positions', 'GET /markets/:id', 'GET /markets/slug/:slug'],
  args: Type.Object({
    market: Type.Optional(MARKET),
    status: Type.Optional(CHOICE(['open', 'redeemable', 'closed'], 'open by default')),
    ...LIST(ROWS),
  }),
  async run({ args, venue }) {
    const found = args.market === undefined ? undefined : await marketOf(venue, args.market);
    const status = (args.status ?? 'open').toUpperCase() as 'OPEN' | 'REDEEMABLE' | 'CLOSED';
    const list = await listed(
      args,
      async (cursor) => {
        const asked = { user: venue.wallet, condition: found?.conditionId, status };
        const query = { ...asked, limit: ROWS, cursor };
        return dataPage(await venue.call('GET /v2/positions', { query }));
      },
      positionRow,
    );
    return { wallet: venue.wallet, positions: list.rows, next: list.next };
  },
});

const balance = tool({
  title: 'Balance',
  does: 'Cash of the wallet: total, reserved by open orders, free; of an agent also what it may spend today. With market also its shares of each outcome.',
  needs: 'read',
  routes: ['GET /agents', 'GET /ledger/balance', 'GET /markets/:id', 'GET /markets/slug/:slug'],
  args: Type.Object({ market: Type.Optional(MARKET) }),
  async run({ args, venue }) {
    const found = args.market === undefined ? undefined : await marketOf(venue, args.market);
    const query = { wallet: venue.agentOf };
    const balances = await venue.call('GET /ledger/balance', { query });
    const cash = decimals(balances.cash);
    const whose = { wallet: venue.wallet, agent: await agentBounds(venue) };
    if (found === undefined) return { ...whose, cash };
    const shares = outcomesOf(found).map(({ name, tokenId }) => {
      const funds = balances.positions.find(({ token_id }) => token_id === tokenId) ?? NOTHING;
      return { outcome: name, ...decimals(funds) };
    });
    return { ...whose, cash, market: found.slug, shares };
  },
});

const statement = tool({
  title: 'Statement',
  does: 'Every change of cash and shares of the wallet with its cause, newest first.',
  needs: 'read',
  routes: ['GET /ledger/statement'],
  args: Type.Object({ ...LIST(ROWS) }),
  async run({ args, venue }) {
    const list = await listed(
      args,
      async (next_cursor) => {
        const query = { limit: ROWS, wallet: venue.agentOf, next_cursor };
        const page = await venue.call('GET /ledger/statement', { query });
        return { rows: page.data, next: page.next_cursor };
      },
      entryRow,
    );
    return { entries: list.rows, next: list.next };
  },
});

export const ACCOUNT_TOOLS = { open_orders: openOrders, positions, balance, statement };

function orderRow(order: OwnOrderAnswer) {
  const { created_at, expiration, id, market, order_type, original_size, outcome } = order;
  return {
    order_id: id,
    market,
    outcome,
    side: order.side,
    price: order.price,
    size: original_size,
    filled: order.size_matched,
    order_type,
    expires: expiration === '0' ? undefined : timeText(Number(expiration)),
    placed: timeText(created_at),
  };
}

function positionRow(position: DataPosition) {
  const { avg_price, current_price, current_size, current_value, outcome, slug, title } = position;
  return {
    market: slug,
    title: cut(title, TITLE_MAX),
    outcome,
    shares: current_size,
    average_price: avg_price,
    price: current_price,
    value: current_value,
    profit: position.total_pnl,
    status: position.status,
  };
}

function entryRow({ cash, cash_after, cause, shares, ...entry }: Entry) {
  return {
    time: timeText(entry.timestamp / MS),
    cause,
    market: entry.condition_id || undefined,
    outcome: entry.outcome || undefined,
    cash: decimalOf(cash),
    shares: decimalOf(shares),
    cash_after: decimalOf(cash_after),
  };
}

/** Bounds that the owner of the wallet has set; undefined where the key is no agent. */
async function agentBounds({ address, agentOf, call }: Venue) {
  if (agentOf === undefined) return undefined;
  const { data } = await call('GET /agents', { query: { wallet: agentOf } });
  const own = data.find(({ agent }) => agent === address);
  return (
    own && {
      state: own.state,
      left_today: decimalOf(own.left),
      cash_per_day: decimalOf(own.cashPerDay),
      max_order_size: decimalOf(own.maxOrderSize),
      markets: own.markets,
      ends: timeText(own.end),
    }
  );
}

function decimals({ free, reserved, total }: typeof NOTHING) {
  return { total: decimalOf(total), reserved: decimalOf(reserved), free: decimalOf(free) };
}
