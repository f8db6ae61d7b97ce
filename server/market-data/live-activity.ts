/**
 * Latest trades of one market as clients of another service name them: the rows of GET /trades under other names.
 *
 * Thread: I/O.
 */
import { NOT_ALLOWED_ADDRESS } from '../common/error-bodies.ts';
import { compileQuery } from '../common/query.ts';
import { type Static, Type } from '../common/schema.ts';
import type { Allowlist } from '../http/address.ts';
import type { Handler } from '../http/http.ts';
import { route, SAME } from '../http/route.ts';
import type { TradesRenderer } from './trades-render.ts';
import { TRADES_QUERY, type TradesAnswer } from './trades-schemas.ts';

const ACTIVITY_PATH = compileQuery(Type.Object({ condition_id: Type.String() }), ['condition_id']);

const LiveActivityAnswer = Type.Array(
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

export interface LiveActivityParts {
  readonly trades: TradesRenderer;
  readonly allowlist: Allowlist;
}

const activity = { query: ACTIVITY_PATH, answer: LiveActivityAnswer, listed: true } as const;

export const LIVE_ACTIVITY_ROUTES = [
  route(
    'GET /live-activity/events/:condition_id',
    { ...activity, does: 'latest trades of a market' },
    liveActivity,
  ),
  route(
    'GET /markets/live-activity/:condition_id',
    { ...activity, repeats: true, does: SAME },
    liveActivity,
  ),
];

function liveActivity({
  allowlist,
  trades,
}: LiveActivityParts): Handler<{ readonly condition_id: string }> {
  const isListed = allowlist.entries.length > 0;
  return async (context, { condition_id: id }) => {
    if (isListed && !allowlist.allows(context.address)) {
      return context.reply(401, NOT_ALLOWED_ADDRESS);
    }
    const query = TRADES_QUERY.parse(`market=${encodeURIComponent(id)}`);
    if (typeof query === 'string') return context.reply(200, '[]');
    const rows = JSON.parse((await trades.render(query)).toString()) as TradeRow[];
    context.reply(200, JSON.stringify(rows.map(activityOf)));
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
