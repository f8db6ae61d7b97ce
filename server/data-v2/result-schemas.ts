/** Answers, and positions in lists, of the routes of boards, profit and volume below /v2. */
import { type Static, Type } from '../common/schema.ts';

const Text = Type.String();
const Amount = Type.Number();
const Count = Type.Integer({ minimum: 0 });
const Address = Type.String({ pattern: '^0x[0-9a-f]{40}$' });
const Seconds = Type.Integer({ description: 'unix seconds' });
const Rank = Type.Integer({ minimum: 1 });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false } as const;

const ofWallet = {
  user_id: Address,
  pnl: Type.Number({ description: 'realised profit of the period' }),
  volume: Type.Number({ description: 'shares of both sides' }),
  user_name: Text,
  profile_image: Text,
  x_username: Text,
  verified: Type.Boolean(),
};
export const LeaderboardRow = Type.Object({ rank: Rank, ...ofWallet }, closed);
export const LeaderboardStanding = orNull(
  Type.Object({ rank_pnl: orNull(Rank), rank_volume: orNull(Rank), ...ofWallet }, closed),
);

const ofForecasts = {
  user_id: Address,
  brier: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'mean squared error of the prices, 0 is perfect',
  }),
  markets: Type.Integer({ minimum: 1, description: 'resolved markets' }),
  shares: Type.Number({ description: 'traded in them' }),
  user_name: Text,
};
export const BrierRow = Type.Object({ rank: Rank, ...ofForecasts }, closed);
export const BrierStanding = orNull(Type.Object({ rank: orNull(Rank), ...ofForecasts }, closed));

const Micros = Type.String({ pattern: '^-?[0-9]{1,37}$' });
const Row = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 });
export const LeaderboardPosition = Type.Tuple([Micros, Row, Row, Row]);
export type LeaderboardCursor = Static<typeof LeaderboardPosition>;
export const WinnerPosition = Type.Tuple([Micros, Row, Row, Row]);
export type WinnerCursor = Static<typeof WinnerPosition>;

export const BiggestWinner = Type.Object(
  {
    win_rank: Rank,
    kind: Type.Literal('market'),
    user_id: Address,
    pnl: Amount,
    initial_value: Amount,
    final_value: Amount,
    resolved_at: Seconds,
    condition_id: Text,
    position_id: Text,
    event_id: Count,
    event_slug: Text,
    event_title: Text,
    user_name: Text,
    profile_image: Text,
  },
  closed,
);

const ofVolume = { volume: Amount, volume_usdc: Amount, trade_count: Count };
export const UserVolume = Type.Object(ofVolume, closed);

const PnlPoint = Type.Object(
  {
    timestamp: Seconds,
    source_block: Count,
    realized_market_pnl: Amount,
    realized_lp_pnl: Amount,
    realized_combo_pnl: Amount,
    realized_pnl: Amount,
    ...ofVolume,
  },
  closed,
);
export const UserPnl = Type.Object(
  {
    proxy_wallet: Address,
    interval: Text,
    fidelity: Text,
    source_fidelity: Text,
    points: Type.Array(PnlPoint),
  },
  closed,
);
export const UserStats = orNull(
  Type.Object(
    {
      proxy_wallet: Address,
      trades: Type.Integer({ minimum: 0, description: 'markets traded' }),
      biggest_win: Amount,
      views: Count,
      join_date: orNull(Seconds),
      all_time_pnl: orNull(PnlPoint),
    },
    closed,
  ),
);
