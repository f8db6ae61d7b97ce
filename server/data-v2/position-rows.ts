/**
 * Positions as rows of GET /v2/positions, their status and their order. Rules: docs/protocol.md#rows-of-the-data-api-v2
 *
 * Thread: I/O. Amounts are whole micro-units; sort keys are approximate.
 */
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { marketFlags, tokenComplement, tokenMarket } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { AccountRow, Pips, TokenRow } from '../../engine/tables/units.ts';
import type { WalletPosition } from '../../storage/projection/positions.ts';
import { pipsText } from '../common/decimal.ts';
import { type Holdings, SORT_KEYS } from '../wallet/holdings.ts';
import {
  averagePrice,
  gain,
  microsText,
  percentGain,
  percentRealised,
  worth,
} from '../wallet/money.ts';
import { type RowTexts, rowText } from './row-texts.ts';
import type { POSITION_STATUSES } from './schemas.ts';

export type Status = (typeof POSITION_STATUSES)[number];

const NO_DATE = '1970-01-01';
const DATE_LENGTH = NO_DATE.length;
const MS = 1_000;

export const SORTS = [
  'CURRENT_VALUE',
  'PRICE',
  'TOKENS',
  'UNREALIZED_PNL',
  'REALIZED_PNL',
  'TOTAL_PNL',
  'TIMESTAMP',
] as const;
type Sort = (typeof SORTS)[number];

const KEYS: Readonly<Record<Sort, (from: Holdings, position: WalletPosition) => number>> = {
  CURRENT_VALUE: SORT_KEYS.CURRENT,
  PRICE: SORT_KEYS.PRICE,
  TOKENS: SORT_KEYS.TOKENS,
  UNREALIZED_PNL: SORT_KEYS.CASHPNL,
  REALIZED_PNL: SORT_KEYS.REALIZEDPNL,
  TOTAL_PNL: (from, position) =>
    Number(position.realised + gain(position, from.price(position.token))),
  TIMESTAMP: SORT_KEYS.TIMESTAMP,
};

/** Orders of a holding that no longer exists. */
const OF_HOLDING: readonly Sort[] = ['CURRENT_VALUE', 'PRICE', 'TOKENS', 'UNREALIZED_PNL'];

/** @param sort '' = that of the status */
export function sortKeyOf(status: Status, sort: Sort | '') {
  if (status === 'CLOSED' && (sort === '' || OF_HOLDING.includes(sort))) return KEYS.REALIZED_PNL;
  if (sort !== '') return KEYS[sort];
  return status === 'MERGEABLE' ? KEYS.TOKENS : KEYS.CURRENT_VALUE;
}

export class PositionRows {
  readonly holdings: Holdings;
  private readonly texts: RowTexts;

  constructor(holdings: Holdings, texts: RowTexts) {
    this.holdings = holdings;
    this.texts = texts;
  }

  /** Returns false for a position that the status leaves out. */
  isOf(status: Status, position: WalletPosition): boolean {
    if (status === 'CLOSED') return position.net === 0n;
    if (position.net === 0n) return false;
    if (status === 'OPEN') return true;
    if (status === 'MERGEABLE') return this.holdings.isMergeable(position);
    if (!this.isRedeemable(position)) return false;
    return status === 'REDEEMABLE' || this.holdings.price(position.token) === 0;
  }

  /** True while a payout of the market is under way, and the shares are not paid yet. */
  private isRedeemable({ net, token }: WalletPosition): boolean {
    const { tables } = this.texts;
    return net > 0n && resolutionOf(tables, tokenMarket(tables, token as TokenRow)) !== undefined;
  }

  /** Numbers of a position, as text. */
  gains(position: WalletPosition): Readonly<Record<string, string>> {
    const pips = this.holdings.price(position.token);
    const unrealised = gain(position, pips);
    return {
      avg_price: microsText(averagePrice(position)),
      entry_cost_usdc: microsText(position.cost),
      current_price: pipsText(pips as Pips),
      current_value: microsText(worth(position.net, pips)),
      realized_pnl: microsText(position.realised),
      unrealized_pnl: microsText(unrealised),
      total_pnl: microsText(position.realised + unrealised),
    };
  }

  text(position: WalletPosition): string {
    const { holdings, texts } = this;
    const { tables } = texts;
    const token = position.token as TokenRow;
    const market = tokenMarket(tables, token);
    const info = texts.info(market);
    const other = tokenComplement(tables, token);
    const redeemable = this.isRedeemable(position);
    const open: Status = redeemable ? 'REDEEMABLE' : 'OPEN';
    return rowText(
      {
        current_size: microsText(position.net),
        ...this.gains(position),
        entry_fees_usdc: microsText(position.fees),
        total_cost_usdc: microsText(position.cost + position.fees),
        total_size: microsText(position.bought),
        percent_pnl: microsText(percentGain(position, holdings.price(token))),
        percent_realized_pnl: microsText(percentRealised(position)),
      },
      {
        proxy_wallet: texts.wallet(position.account as AccountRow),
        token_id: texts.tokenId(token),
        condition_id: texts.conditionId(market),
        status: position.net === 0n ? 'CLOSED' : open,
        redeemable,
        mergeable: holdings.isMergeable(position),
        negative_risk: (marketFlags(tables, market) & MarketFlag.negRisk) !== 0,
        archived: info?.archived ?? false,
        ...texts.ofToken(token),
        event_id: info?.eventId ?? '',
        opposite_outcome: other === 0 ? '' : texts.outcome(other),
        opposite_token_id: other === 0 ? '' : texts.tokenId(other),
        end_date: info?.endDate?.slice(0, DATE_LENGTH) || NO_DATE,
        last_event_at: Math.floor(position.time / MS),
        first_entry_at: Math.floor(position.opened / MS),
        name: texts.name(position.account as AccountRow),
        profile_image: '',
        verified: false,
      },
    );
  }
}
