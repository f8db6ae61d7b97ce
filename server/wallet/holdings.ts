/**
 * Positions of a wallet for a query. They are read some hundred at a time, by token, with pauses. A wallet has at
 * most as many as there are tokens.
 *
 * Thread: I/O. Non-goals: text (position-text.ts).
 */

import { resolutionOf } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import {
  marketTokens,
  tokenComplement,
  tokenLastPrice,
  tokenMarket,
  tokenOutcome,
} from '../../engine/reads.ts';
import { SOURCE_ADDRESS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type MarketRow, PIPS_PER_UNIT, type TokenRow } from '../../engine/tables/units.ts';
import type { WalletPosition } from '../../storage/projection/positions.ts';
import type { PositionsReader } from '../../storage/projection/reader.ts';
import { nextIteration } from '../common/event-loop.ts';
import { tokensOfMarket } from '../market-data/find.ts';
import type { MarketLookup } from '../market-data/texts.ts';
import { Best, type SortKey } from './best.ts';
import { averagePrice, gain, percentGain, worth } from './money.ts';
import type { ClosedQuery, PositionsQuery } from './portfolio-schemas.ts';

export interface HoldingsParts {
  readonly tables: Tables;
  readonly positions: PositionsReader;
  readonly infos: MarketLookup;
}

/** Positions read without a pause: about a millisecond. */
const ROWS_PER_TURN = 128;

type SortBy = PositionsQuery['sortBy'] | ClosedQuery['sortBy'];

/** Approximate sort keys: positions with almost equal keys may come in either order. */
export const SORT_KEYS = {
  CURRENT: (from, position) => Number(worth(position.net, from.price(position.token))),
  INITIAL: (_, { cost }) => Number(cost),
  TOKENS: (_, { net }) => Number(net),
  CASHPNL: (from, position) => Number(gain(position, from.price(position.token))),
  PERCENTPNL: (from, position) => Number(percentGain(position, from.price(position.token))),
  TITLE: (from, { token }) => from.info(token)?.question ?? '',
  RESOLVING: (from, { token }) => from.info(token)?.endDate ?? '',
  PRICE: (from, { token }) => from.price(token),
  AVGPRICE: (_, position) => Number(averagePrice(position)),
  REALIZEDPNL: (_, { realised }) => Number(realised),
  TIMESTAMP: (_, { time }) => time,
} satisfies Readonly<Record<SortBy, (from: Holdings, position: WalletPosition) => SortKey>>;

type PageQuery = Pick<ClosedQuery, 'title' | 'limit' | 'offset' | 'sortDirection'> & {
  readonly sortBy: SortBy;
};

export class Holdings {
  private readonly parts: HoldingsParts;

  constructor(parts: HoldingsParts) {
    this.parts = parts;
  }

  /**
   * Open positions of a wallet, in the order of the query.
   * @param markets null = all
   */
  open(account: number, markets: ReadonlySet<number> | null, query: PositionsQuery) {
    const threshold = BigInt(query.sizeThreshold);
    const { mergeable, redeemable } = query;
    // Shares are never redeemed by their holder: payouts of a ledger come by themselves.
    if (redeemable === true) return Promise.resolve([]);
    return this.page(account, markets, query, (position) => {
      const { net } = position;
      if (net === 0n || (net < 0n ? -net : net) < threshold) return false;
      return mergeable === undefined || this.isMergeable(position) === mergeable;
    });
  }

  /** Closed positions: everything that was bought was sold again. */
  closed(account: number, markets: ReadonlySet<number> | null, query: ClosedQuery) {
    return this.page(account, markets, query, ({ net }) => net === 0n);
  }

  async marketsTraded(account: number): Promise<number> {
    let traded = 0;
    let last = 0;
    for await (const piece of this.pieces(account, null)) {
      for (const { token } of piece) {
        // The tokens of a market are in consecutive rows.
        const market = tokenMarket(this.parts.tables, token as TokenRow);
        if (market !== last) traded += 1;
        last = market;
      }
    }
    return traded;
  }

  async *pieces(
    account: number,
    markets: ReadonlySet<number> | null,
  ): AsyncGenerator<readonly WalletPosition[], void> {
    const { positions } = this.parts;
    if (account === 0) return;
    if (markets === null) {
      for (let token = 0; ; ) {
        const piece = positions.ofWallet(account, token, ROWS_PER_TURN);
        yield piece;
        if (piece.length < ROWS_PER_TURN) return;
        token = piece.at(-1)!.token + 1;
        await nextIteration();
      }
    }
    let looked = 0;
    for (const market of markets) {
      const tokens = tokensOfMarket(this.parts.tables, market as MarketRow);
      yield tokens.flatMap((token) => positions.of(account, token) ?? []);
      looked += tokens.length;
      if (looked < ROWS_PER_TURN) continue;
      looked = 0;
      await nextIteration();
    }
  }

  /**
   * Largest holders of a token, the largest first, without the source of a paper node.
   * @param least smallest position, in micro-shares
   */
  async holders(token: TokenRow, limit: number, least: bigint): Promise<WalletPosition[]> {
    const best = new Best<WalletPosition>(limit, true);
    const source = findAccount(this.parts.tables, SOURCE_ADDRESS, 0);
    for (let account = 0; limit > 0; ) {
      const piece = this.parts.positions.inToken(token, account, ROWS_PER_TURN);
      for (const position of piece) {
        const isCounted = position.net >= least && position.account !== source;
        if (position.net > 0n && isCounted) best.add(position, Number(position.net));
      }
      await nextIteration();
      if (piece.length < ROWS_PER_TURN) break;
      account = piece.at(-1)!.account + 1;
    }
    return best.from(0);
  }

  /**
   * Pips of the last trade, or the payout of a share of a resolved market. Shares that were split and never traded
   * are worth their part of a complete set.
   */
  price(token: number): number {
    const { tables } = this.parts;
    const row = token as TokenRow;
    const market = tokenMarket(tables, row);
    const resolution = resolutionOf(tables, market);
    if (resolution !== undefined) {
      const weight = resolution.weights[tokenOutcome(tables, row)]!;
      return Math.floor((weight * PIPS_PER_UNIT) / resolution.sum);
    }
    return tokenLastPrice(tables, row) || Math.floor(PIPS_PER_UNIT / marketTokens(tables, market));
  }

  info(token: number) {
    return this.parts.infos(tokenMarket(this.parts.tables, token as TokenRow));
  }

  isMergeable({ account, net, token }: WalletPosition): boolean {
    const other = tokenComplement(this.parts.tables, token as TokenRow);
    if (net <= 0n || other === 0) return false;
    return (this.parts.positions.of(account, other)?.net ?? 0n) > 0n;
  }

  private async page(
    account: number,
    markets: ReadonlySet<number> | null,
    { limit, offset, sortBy, sortDirection, title }: PageQuery,
    passes: (position: WalletPosition) => boolean,
  ): Promise<WalletPosition[]> {
    if (limit === 0) return [];
    const best = new Best<WalletPosition>(offset + limit, sortDirection === 'DESC');
    const wanted = title.toLowerCase();
    const key = SORT_KEYS[sortBy];
    for await (const piece of this.pieces(account, markets)) {
      for (const position of piece) {
        if (!passes(position)) continue;
        if (wanted !== '' && !this.isTitled(position.token, wanted)) continue;
        best.add(position, key(this, position));
      }
    }
    return best.from(offset);
  }

  private isTitled(token: number, wanted: string): boolean {
    return this.info(token)?.question.toLowerCase().includes(wanted) ?? false;
  }
}
