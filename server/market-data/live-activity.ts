/**
 * The latest trades of one market in the shape that clients of another service call its live
 * activity: the rows of GET /trades under other names.
 *
 * Thread: I/O.
 */
import { NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';
import type { Allowlist } from '../http/address.ts';
import type { Handler } from '../http/http.ts';
import type { TradesRenderer } from './trades-render.ts';
import { TRADES_QUERY, type TradesAnswer } from './trades-schemas.ts';

export const ACTIVITY_PATH = compileQuery(Type.Object({ condition_id: Type.String() }), [
  'condition_id',
]);

export const LiveActivityAnswer = Type.Array(
  Type.Object({
    event_type: Type.Literal('trade'),
    market: Type.Object({
      condition_id: Type.String(),
      asset_id: Type.String(),
      question: Type.String(),
      icon: Type.String(),
      slug: Type.String(),
    }),
    user: Type.Object({ address: Type.String(), username: Type.String() }),
    side: Type.String(),
    size: Type.String(),
    fee_rate_bps: Type.String(),
    price: Type.String(),
    outcome: Type.String(),
    outcome_index: Type.Integer(),
    transaction_hash: Type.String(),
    timestamp: Type.String({ description: 'unix seconds' }),
  }),
);

type TradeRow = Static<typeof TradesAnswer>[number];

/** @param allowlist who may read trades: wallets and amounts are the same here */
export function liveActivityHandlers(trades: TradesRenderer, allowlist: Allowlist) {
  const isListed = allowlist.entries.length > 0;
  const activity: Handler<{ condition_id: string }> = async (context, { condition_id: id }) => {
    if (isListed && !allowlist.allows(context.address)) {
      return context.reply(401, NOT_ALLOWED_ADDRESS);
    }
    const query = TRADES_QUERY.parse(`market=${encodeURIComponent(id)}`);
    if (typeof query === 'string') return context.reply(200, '[]');
    const rows = JSON.parse((await trades.render(query)).toString()) as TradeRow[];
    context.reply(200, JSON.stringify(rows.map(activityOf)));
  };
  return {
    'GET /live-activity/events/:condition_id': activity,
    'GET /markets/live-activity/:condition_id': activity,
  };
}

function activityOf(row: TradeRow): object {
  return {
    event_type: 'trade',
    market: {
      condition_id: row.conditionId,
      asset_id: row.asset,
      question: row.title,
      icon: row.icon,
      slug: row.slug,
    },
    user: { address: row.proxyWallet, username: '' },
    side: row.side,
    size: String(row.size),
    fee_rate_bps: '0',
    price: String(row.price),
    outcome: row.outcome,
    outcome_index: row.outcomeIndex,
    transaction_hash: row.transactionHash,
    timestamp: String(row.timestamp),
  };
}
