/**
 * Boards of wallets by profit, volume or Brier score, and of won positions, of a current period. A page is read from
 * the index of the projection; the source of a paper node and hidden wallets are left out. Rules:
 * docs/protocol.md#profit-and-volume
 *
 * Thread: I/O.
 */
import { findAccount } from '../../engine/orders/accounts.ts';
import { addressAt } from '../../engine/reads.ts';
import { ADDRESS_WORDS, SOURCE_ADDRESS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow } from '../../engine/tables/units.ts';
import { type Accuracy, isRanked } from '../../storage/projection/forecasts.ts';
import { type Period, periodNumber } from '../../storage/projection/periods.ts';
import { Board, type BoardCode, type BoardOf, type Place } from '../../storage/projection/ranks.ts';
import type { ResultsReader } from '../../storage/projection/reader.ts';
import type { Win } from '../../storage/projection/results.ts';
import type { Profiles } from '../auth/profiles.ts';
import { nextIteration } from '../common/event-loop.ts';
import { wordsToHex } from '../common/uint256.ts';
import { accountByAddress } from '../market-data/find.ts';

export interface LeaderboardParts {
  readonly tables: Tables;
  readonly results: ResultsReader;
  readonly profiles: Profiles;
  /** Market time, unix milliseconds. */
  readonly now: () => number;
}

/** Last row of a page of wallets. */
export interface RankedPlace {
  readonly score: bigint;
  readonly account: number;
  readonly rank: number;
  /** Number of the row on the board, from 1 on. */
  readonly ordinal: number;
}

export interface Standing {
  readonly profit: bigint;
  /** Micro-shares of both sides. */
  readonly volume: bigint;
}

type WalletBoard = Exclude<BoardCode, typeof Board.wins>;

export interface RankedWin extends Win {
  /** Number of the row on the board, from 1 on. */
  readonly ordinal: number;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Rows read without a pause: some milliseconds. */
const ROWS_PER_TURN = 256;
/** Rows of a board; a wallet behind them has no rank. */
export const RANKED_MAX = 10_000;
const WINS_MAX = 500;

export class Leaderboard {
  private readonly parts: LeaderboardParts;

  constructor(parts: LeaderboardParts) {
    this.parts = parts;
  }

  /** Wallets after a place. Wallets of equal score share a rank, and the next rank skips. */
  async wallets(
    board: WalletBoard,
    period: Period,
    after: RankedPlace | undefined,
    limit: number,
    number = this.number(period),
  ): Promise<Page<RankedPlace>> {
    const rows: RankedPlace[] = [];
    let { ordinal, rank, score } = after ?? { ordinal: 0, rank: 0, score: undefined };
    const place = after && { score: after.score, account: after.account, token: 0 };
    for await (const row of this.listed({ board, period, number }, place)) {
      if (rows.length === limit) return { rows, hasMore: true };
      if (ordinal === RANKED_MAX) break;
      ordinal += 1;
      if (row.score !== score) rank = ordinal;
      score = row.score;
      rows.push({ account: row.account, score, rank, ordinal });
    }
    return { rows, hasMore: false };
  }

  /** Rank of a wallet; null without a score, behind the last row, or where it is left out. */
  async rank(board: WalletBoard, period: Period, account: number): Promise<number | null> {
    const own = this.score(board, account, period);
    if (own === undefined || !this.isListed(account)) return null;
    const leftOut = await this.leftOutAbove(board, period, own);
    const of = { board, period, number: this.number(period) };
    const before = this.parts.results.countAbove(of, own, RANKED_MAX + leftOut) - leftOut;
    return before < RANKED_MAX ? Math.max(before, 0) + 1 : null;
  }

  /** Profit in micro-units and volume in micro-shares of a wallet. */
  standing(account: number, period: Period, number = this.number(period)): Standing {
    const { results } = this.parts;
    return {
      profit: results.score(Board.profit, account, period, number),
      volume: results.score(Board.volume, account, period, number),
    };
  }

  /** Forecasts of a wallet; undefined where no market that it traded resolved in the period. */
  accuracy(account: number, period: Period, number = this.number(period)): Accuracy | undefined {
    return this.parts.results.accuracy(account, period, number);
  }

  /** Won positions after a place, the largest profit first. */
  async wins(
    period: Period,
    after: RankedWin | undefined,
    limit: number,
  ): Promise<Page<RankedWin>> {
    const rows: RankedWin[] = [];
    const number = this.number(period);
    let ordinal = after?.ordinal ?? 0;
    let place = after && { score: after.profit, account: after.account, token: after.token };
    for (;;) {
      const piece = this.parts.results.wins(period, number, place, ROWS_PER_TURN);
      for (const win of piece) {
        if (!this.isListed(win.account)) continue;
        if (ordinal === WINS_MAX) return { rows, hasMore: false };
        if (rows.length === limit) return { rows, hasMore: true };
        ordinal += 1;
        rows.push({ ...win, ordinal });
      }
      const last = piece.at(-1);
      if (last === undefined || piece.length < ROWS_PER_TURN) return { rows, hasMore: false };
      place = { score: last.profit, account: last.account, token: last.token };
      await nextIteration();
    }
  }

  /** Address of a wallet, 0x and lower-case digits. */
  address(account: number): string {
    const { accountI } = this.parts.tables;
    return wordsToHex(accountI, addressAt(account as AccountRow), ADDRESS_WORDS);
  }

  /** Display name; '' of a hidden wallet and without one. @param wallet 0x and 40 lower-case digits */
  name(wallet: string): string {
    return this.parts.profiles.shownName(wallet);
  }

  private async *listed(of: BoardOf, after: Place | undefined): AsyncGenerator<Place, void> {
    for (let place = after; ; ) {
      const piece = this.parts.results.page(of, place, ROWS_PER_TURN);
      for (const row of piece) if (this.isListed(row.account)) yield row;
      if (piece.length < ROWS_PER_TURN) return;
      place = piece.at(-1)!;
      await nextIteration();
    }
  }

  /** Score by which a board ranks a wallet; undefined = it has no rank. */
  private score(board: WalletBoard, account: number, period: Period): bigint | undefined {
    if (board === Board.brier) {
      const accuracy = this.accuracy(account, period);
      return accuracy !== undefined && isRanked(accuracy) ? -accuracy.brier : undefined;
    }
    const score = this.parts.results.score(board, account, period, this.number(period));
    return score === 0n ? undefined : score;
  }

  /** Number of wallets with a higher score that are left out. */
  private async leftOutAbove(board: WalletBoard, period: Period, score: bigint): Promise<number> {
    const { profiles, tables } = this.parts;
    const isAbove = (account: number): boolean => {
      const own = account === 0 ? undefined : this.score(board, account, period);
      return own !== undefined && own > score;
    };
    let count = isAbove(findAccount(tables, SOURCE_ADDRESS, 0)) ? 1 : 0;
    let read = 0;
    for (const wallet of profiles.hidden) {
      read += 1;
      if (read % ROWS_PER_TURN === 0) await nextIteration();
      if (isAbove(accountByAddress(tables, wallet))) count += 1;
    }
    return count;
  }

  private isListed(account: number): boolean {
    const { profiles, tables } = this.parts;
    if (account === findAccount(tables, SOURCE_ADDRESS, 0)) return false;
    return !profiles.of(this.address(account)).isHidden;
  }

  private number(period: Period): number {
    const { now, results } = this.parts;
    const ends = period === 'season' ? results.seasons().map(({ end }) => end) : [];
    return periodNumber(period, now(), ends);
  }
}
