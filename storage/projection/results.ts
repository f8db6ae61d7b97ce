/**
 * Projection of results: profit and volume of each wallet by hour, their boards by period, and won positions. Rules:
 * docs/protocol.md#profit-and-volume
 *
 *   ranks                   boards (ranks.ts)
 *   results, result-hours   sums of the wallets (scores.ts): profit and the rebates in it; shares, collateral and trades
 *                           of the volume
 *   seasons                 number u32 (big-endian) -> crc u32 | its last unix millisecond f64 | start sum f64
 *   best-wins               account u32 (big-endian) -> crc u32 | profit of its best won position, 128 bits
 *
 * Profits are the gains of the positions and rebates, which the same transaction applies before. A position is won by
 * a payout of a resolution that exceeds its cost.
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import {
  fillFails,
  fillMaker,
  fillMakerCollateral,
  fillSize,
  fillTaker,
  fillTakerCollateral,
  fillTime,
} from '../../engine/reads.ts';
import { EntryCause } from '../../engine/tables/codes.ts';
import type { FillRow } from '../../engine/tables/units.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { entryOf } from './entries.ts';
import { numberKey } from './keys.ts';
import { PERIODS, type Period, periodNumber } from './periods.ts';
import type { Gain, Positions } from './positions.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';
import { Board, type BoardOf, type Place, Ranks } from './ranks.ts';
import { Scores } from './scores.ts';
import { readWord, WORD_BYTES, writeWord } from './words.ts';

/** Sums of a volume, in this order. Ranked is the first. */
export const Volume = { shares: 0, collateral: 1, trades: 2, count: 3 } as const;

/** Sums of a profit, in this order. Ranked is the first, which the other is a part of. */
const Profit = { all: 0, rebates: 1, count: 2 } as const;

/** A position that a resolution paid more than it had cost. */
export interface Win {
  readonly account: number;
  readonly token: number;
  /** Micro-units: payout less cost. */
  readonly profit: bigint;
  readonly payout: bigint;
  /** Unix milliseconds of the payout. */
  readonly time: number;
}

/** A season that is over. */
export interface Season {
  readonly number: number;
  /** Its last unix millisecond. */
  readonly end: number;
  /** Micro-units with which each wallet began the next one; 0 = no wallet had another sum. */
  readonly startSum: number;
}

const SEASON_BYTES = 2 * 8;
const WIN_BYTES = 8 + WORD_BYTES;

export class Results implements FactProjection {
  readonly name = 'results';
  readonly format = 3;
  readonly profit: Scores;
  readonly volume: Scores;
  readonly ranks: Ranks;
  private readonly bestWins: BinaryTable;
  private readonly seasonRows: BinaryTable;
  private readonly positions: Pick<Positions, 'all' | 'gains'>;

  /** @param positions applies the same events before this projection does */
  constructor(root: RootDatabase<Buffer, string>, positions: Pick<Positions, 'all' | 'gains'>) {
    this.positions = positions;
    this.ranks = new Ranks(root);
    this.profit = new Scores(root, this.ranks, Board.profit, Profit.count);
    this.volume = new Scores(root, this.ranks, Board.volume, Volume.count);
    this.bestWins = openTable(root, 'best-wins');
    this.seasonRows = openTable(root, 'seasons');
  }

  apply(events: FactEvents): void {
    const { gains } = this.positions;
    this.putSeasons(events);
    const ends = this.seasons().map(({ end }) => end);
    this.profit.begin(ends);
    this.volume.begin(ends);
    for (const { account, profit, time, token } of gains) {
      this.profit.add(account, time, [profit, token === 0 ? profit : 0n]);
    }
    for (let row = 0 as FillRow; row < events.count; row++) {
      if (fillFails(events, row)) continue;
      const time = fillTime(events, row);
      const size = BigInt(fillSize(events, row));
      const paid = BigInt(fillTakerCollateral(events, row));
      this.volume.add(fillTaker(events, row), time, [size, paid, 1n]);
      const received = BigInt(fillMakerCollateral(events, row));
      this.volume.add(fillMaker(events, row), time, [size, received, 1n]);
    }
    this.profit.put();
    this.volume.put();
    this.putWins(gains, ends);
  }

  clear(): void {
    for (const part of [this.profit, this.volume, this.ranks]) part.clear();
    for (const table of [this.bestWins, this.seasonRows]) table.clearSync();
  }

  /** Checks rows, ranks, and that each wallet's profit is that of its positions and its rebates. */
  verify(): string {
    checkRows('best-wins', this.bestWins);
    checkRows('seasons', this.seasonRows);
    const ranks = this.ranks.check();
    const volumes = this.volume.verify();
    const profits = this.profit.verify();
    const realised = new Map<number, bigint>();
    for (const position of this.positions.all()) {
      const { account } = position;
      realised.set(account, (realised.get(account) ?? 0n) + position.realised);
    }
    for (const account of new Set([...realised.keys(), ...profits.keys()])) {
      const sums = profits.get(account);
      const own = (sums?.[Profit.all] ?? 0n) - (sums?.[Profit.rebates] ?? 0n);
      const sum = realised.get(account) ?? 0n;
      if (own === sum) continue;
      throw new Error(
        `results: the profit of wallet ${account} without rebates is ${own}, its positions made ${sum}`,
      );
    }
    return `${volumes.size} results, ${ranks} ranks`;
  }

  /** Seasons that are over, in order. Throws DamagedRow. */
  seasons(): Season[] {
    return Array.from(this.seasonRows.getRange(), ({ key, value }) => {
      if (value.length !== CRC_BYTES + SEASON_BYTES || !checksumMatches(key, value))
        throw new DamagedRow('seasons');
      const [end, startSum] = [value.readDoubleLE(CRC_BYTES), value.readDoubleLE(CRC_BYTES + 8)];
      return { number: key.readUInt32BE(0), end, startSum };
    });
  }

  /** Won positions of a period after a place, the largest profit first. Throws DamagedRow. */
  wins(period: Period, number: number, after: Place | undefined, limit: number): Win[] {
    const of = { board: Board.wins, period, number };
    return this.ranks.page(of, after, limit).map(({ account, bytes, score, token }) => {
      if (bytes.length !== WIN_BYTES) throw new DamagedRow('boards');
      const time = bytes.readDoubleLE(0);
      return { account, token, profit: score, payout: readWord(bytes, 8), time };
    });
  }

  /** Profit of the best won position of a wallet; 0 = none. Throws DamagedRow. */
  bestWin(account: number): bigint {
    const key = numberKey(account);
    const value = this.bestWins.get(key);
    if (value === undefined) return 0n;
    if (value.length !== CRC_BYTES + WORD_BYTES || !checksumMatches(key, value)) {
      throw new DamagedRow('best-wins');
    }
    return readWord(value, CRC_BYTES);
  }

  /** The venue's entry begins the end of a season, and those of wallets have the start sum. */
  private putSeasons({ entries }: FactEvents): void {
    let startSum = 0;
    for (const [, row] of entries) {
      const entry = entryOf(row);
      if (entry.cause !== EntryCause.season) continue;
      const isOfWallet = entry.account !== 0;
      if (isOfWallet && entry.cashAfter === startSum) continue;
      startSum = isOfWallet ? entry.cashAfter : 0;
      const end = isOfWallet ? this.seasons().at(-1)!.end : entry.time;
      const key = numberKey(entry.reference);
      const value = Buffer.allocUnsafeSlow(CRC_BYTES + SEASON_BYTES);
      value.writeDoubleLE(end, CRC_BYTES);
      value.writeDoubleLE(startSum, CRC_BYTES + 8);
      this.seasonRows.putSync(key, withChecksum(key, value));
    }
  }

  private putWins(gains: readonly Gain[], seasonEnds: readonly number[]): void {
    let newest = 0;
    const best = new Map<number, bigint>();
    for (const { account, payout, profit, time, token } of gains) {
      if (payout === undefined || profit <= 0n) continue;
      newest = Math.max(newest, time);
      const bytes = Buffer.allocUnsafeSlow(WIN_BYTES);
      bytes.writeDoubleLE(time, 0);
      writeWord(bytes, 8, payout);
      for (const period of PERIODS) {
        this.ranks.put(winsOf(period, time, seasonEnds), { account, score: profit, token }, bytes);
      }
      const before = best.get(account) ?? this.bestWin(account);
      if (profit > before) best.set(account, profit);
    }
    for (const [account, profit] of best) {
      const key = numberKey(account);
      const value = Buffer.allocUnsafeSlow(CRC_BYTES + WORD_BYTES);
      writeWord(value, CRC_BYTES, profit);
      void this.bestWins.put(key, withChecksum(key, value));
    }
    if (newest === 0) return;
    for (const period of PERIODS) this.ranks.prune(winsOf(period, newest, seasonEnds));
  }
}

function winsOf(period: Period, time: number, seasonEnds: readonly number[]): BoardOf {
  return { board: Board.wins, period, number: periodNumber(period, time, seasonEnds) };
}
