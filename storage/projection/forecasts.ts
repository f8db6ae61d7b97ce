/**
 * Projection of forecasts: how near the prices at which a wallet traded were to the payouts. Rules:
 * docs/protocol.md#brier-score
 *
 *   forecasts   market u32 | account u32 (big-endian) -> crc u32 | micro-shares | the same times the price in pips |
 *               times its square, of the first outcome, in words of 128 bits; until the market pays
 *   accuracies  account u32 (big-endian) | index of the period u8, and of a season its number u32 (big-endian) -> crc u32 |
 *               number of the period u32 | markets u32 | micro-shares | the same times the squared error in 10^-12, in
 *               words of 128 bits
 *
 * A wallet with enough of both is on the board of Ranks with the negative of its score. Seasons that are over stay.
 * None without a ledger.
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import assert from 'node:assert/strict';
import { ledgerIsOn, resolutionOf } from '../../engine/ledger/reads.ts';
import {
  fillFails,
  fillMaker,
  fillSize,
  fillTaker,
  fillTakerPrice,
  fillTakerToken,
  marketTokens,
  tokenMarket,
  tokenOutcome,
} from '../../engine/reads.ts';
import { EntryCause } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import {
  type FillRow,
  type MarketRow,
  MICRO,
  PIPS_PER_UNIT,
  type TokenRow,
} from '../../engine/tables/units.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { entryOf } from './entries.ts';
import { numberKey } from './keys.ts';
import { PERIODS, type Period, periodNumber } from './periods.ts';
import { checkRows, DamagedRow, type FactEvents, type FactProjection } from './projection.ts';
import { Board, type Ranks } from './ranks.ts';
import type { Results } from './results.ts';
import { readWord, WORD_BYTES, writeWord } from './words.ts';

/** Resolved markets, and micro-shares traded in them, below which a wallet has no rank. */
const RANKED_MARKETS = 3;
const RANKED_SHARES = 10n * BigInt(MICRO);

/** Forecasts of a wallet in the markets that resolved in a period. */
export interface Accuracy {
  readonly markets: number;
  /** Micro-shares. */
  readonly shares: bigint;
  /** Millionths: 0 is perfect, 1,000,000 is the worst. */
  readonly brier: bigint;
}

/** Micro-shares of a wallet in a market, and their sums times the price and its square. */
interface Forecast {
  readonly key: Buffer;
  shares: bigint;
  priced: bigint;
  squared: bigint;
}

interface Sums {
  readonly number: number;
  readonly markets: number;
  readonly shares: bigint;
  readonly errors: bigint;
}

const OUTCOMES = 2;
const PIP_MILLIONTHS = BigInt(MICRO / PIPS_PER_UNIT);
const ONE = BigInt(MICRO);
const WORDS_AT = CRC_BYTES + 8;
const ACCOUNT_AT = 4;

export class Forecasts implements FactProjection {
  readonly name = 'forecasts';
  readonly format = 2;
  private readonly forecasts: BinaryTable;
  private readonly accuracies: BinaryTable;
  private readonly ranks: Ranks;
  private readonly results: Pick<Results, 'ranks' | 'seasons'>;
  private seasonEnds: readonly number[] = [];

  /** @param results applies the same events before this projection does */
  constructor(root: RootDatabase<Buffer, string>, results: Pick<Results, 'ranks' | 'seasons'>) {
    this.results = results;
    this.ranks = results.ranks;
    this.forecasts = openTable(root, 'forecasts');
    this.accuracies = openTable(root, 'accuracies');
  }

  apply(events: FactEvents): void {
    if (!ledgerIsOn(events.tables)) return;
    this.putFills(events);
    this.seasonEnds = this.results.seasons().map(({ end }) => end);
    let newest = 0;
    const paid = new Set<MarketRow>();
    for (const [, row] of events.entries) {
      const { cause, time, token } = entryOf(row);
      if (cause !== EntryCause.redeem) continue;
      newest = Math.max(newest, time);
      const market = tokenMarket(events.tables, token as TokenRow);
      if (paid.has(market)) continue;
      paid.add(market);
      this.settle(events.tables, market, time);
    }
    if (newest === 0) return;
    for (const period of PERIODS)
      if (period !== 'season') this.ranks.prune(this.boardOf(period, newest));
  }

  clear(): void {
    for (const table of [this.forecasts, this.accuracies]) table.clearSync();
  }

  /** Checks rows, and that each wallet with enough of all time has its rank. */
  verify(): string {
    checkRows('forecasts', this.forecasts);
    checkRows('accuracies', this.accuracies);
    for (const key of this.accuracies.getKeys()) {
      const account = key.readUInt32BE(0);
      const found = this.of(account, 'all', 0);
      if (found === undefined || !isRanked(found)) continue;
      if (this.ranks.has(this.boardOf('all', 0), { account, score: -found.brier, token: 0 }))
        continue;
      throw new Error(`forecasts: wallet ${account} has no rank`);
    }
    return `${this.accuracies.getKeysCount()} accuracies`;
  }

  /** Undefined where no market that the wallet traded resolved in the period. Throws DamagedRow. */
  of(account: number, period: Period, number: number): Accuracy | undefined {
    const sums = this.sums(accuracyKey(account, period, number));
    return sums?.number === number ? accuracyOf(sums) : undefined;
  }

  private putFills(events: FactEvents): void {
    const { count, tables } = events;
    const changed = new Map<number, Forecast>();
    for (let row = 0 as FillRow; row < count; row++) {
      const token = fillTakerToken(events, row);
      const market = tokenMarket(tables, token);
      const [taker, maker] = [fillTaker(events, row), fillMaker(events, row)];
      const isCounted = taker !== maker && !fillFails(events, row);
      if (!isCounted || marketTokens(tables, market) !== OUTCOMES) continue;
      const own = fillTakerPrice(events, row);
      // Both sides of a fill name the same price of the first outcome.
      const pips = BigInt(tokenOutcome(tables, token) === 0 ? own : PIPS_PER_UNIT - own);
      const shares = BigInt(fillSize(events, row));
      for (const account of [taker, maker]) {
        const at = account * 2 ** 24 + market;
        const forecast = changed.get(at) ?? this.forecast(forecastKey(market, account));
        changed.set(at, forecast);
        forecast.shares += shares;
        forecast.priced += shares * pips;
        forecast.squared += shares * pips * pips;
      }
    }
    for (const { key, priced, shares, squared } of changed.values()) {
      void this.forecasts.put(key, encode(key, [], [shares, priced, squared]));
    }
  }

  /** Moves the forecasts of a market into the sums of their wallets; a second call finds none. */
  private settle(tables: Tables, market: MarketRow, time: number): void {
    if (marketTokens(tables, market) !== OUTCOMES) return;
    const resolution = resolutionOf(tables, market);
    assert(resolution !== undefined, 'a market that pays has a resolution');
    const { sum, weights } = resolution;
    const payout = (ONE * BigInt(weights[0]!)) / BigInt(sum);
    const range = { start: numberKey(market), end: numberKey(market + 1) };
    for (const key of [...this.forecasts.getKeys(range)]) {
      const { priced, shares, squared } = this.forecast(key);
      const errors =
        PIP_MILLIONTHS * PIP_MILLIONTHS * squared -
        2n * payout * PIP_MILLIONTHS * priced +
        payout * payout * shares;
      const account = key.readUInt32BE(ACCOUNT_AT);
      for (const period of PERIODS) this.add(account, period, time, shares, errors);
      void this.forecasts.remove(key);
    }
  }

  private add(account: number, period: Period, time: number, shares: bigint, errors: bigint): void {
    const of = this.boardOf(period, time);
    const { number } = of;
    const key = accuracyKey(account, period, number);
    const stored = this.sums(key);
    const before =
      stored?.number === number ? stored : { number, markets: 0, shares: 0n, errors: 0n };
    const after = {
      number,
      markets: before.markets + 1,
      shares: before.shares + shares,
      errors: before.errors + errors,
    };
    const words = [after.shares, after.errors];
    void this.accuracies.put(key, encode(key, [number, after.markets], words));
    const [old, next] = [before, after].map((sums) =>
      sums.markets === 0 ? undefined : accuracyOf(sums),
    );
    if (old !== undefined && isRanked(old))
      this.ranks.remove(of, { account, score: -old.brier, token: 0 });
    if (next !== undefined && isRanked(next))
      this.ranks.put(of, { account, score: -next.brier, token: 0 });
  }

  private boardOf(period: Period, time: number) {
    const number = periodNumber(period, time, this.seasonEnds);
    return { board: Board.brier, period, number };
  }

  private forecast(key: Buffer): Forecast {
    const value = this.forecasts.get(key);
    if (value === undefined) return { key, shares: 0n, priced: 0n, squared: 0n };
    if (value.length !== CRC_BYTES + 3 * WORD_BYTES || !checksumMatches(key, value))
      throw new DamagedRow('forecasts');
    const [shares, priced, squared] = [0, 1, 2].map((i) =>
      readWord(value, CRC_BYTES + i * WORD_BYTES),
    );
    return { key, shares: shares!, priced: priced!, squared: squared! };
  }

  private sums(key: Buffer): Sums | undefined {
    const value = this.accuracies.get(key);
    if (value === undefined) return undefined;
    if (value.length !== WORDS_AT + 2 * WORD_BYTES || !checksumMatches(key, value))
      throw new DamagedRow('accuracies');
    return {
      number: value.readUInt32LE(CRC_BYTES),
      markets: value.readUInt32LE(CRC_BYTES + 4),
      shares: readWord(value, WORDS_AT),
      errors: readWord(value, WORDS_AT + WORD_BYTES),
    };
  }
}

export function isRanked({ markets, shares }: Pick<Accuracy, 'markets' | 'shares'>): boolean {
  return markets >= RANKED_MARKETS && shares >= RANKED_SHARES;
}

/** Rounds once, halves up. */
function accuracyOf({ errors, markets, shares }: Sums): Accuracy {
  return { markets, shares, brier: (2n * errors + ONE * shares) / (2n * ONE * shares) };
}

function forecastKey(market: number, account: number): Buffer {
  return Buffer.concat([numberKey(market), numberKey(account)]);
}

function accuracyKey(account: number, period: Period, number: number): Buffer {
  const key = [numberKey(account), Buffer.of(PERIODS.indexOf(period))];
  return Buffer.concat(period === 'season' ? [...key, numberKey(number)] : key);
}

function encode(key: Buffer, heads: readonly number[], words: readonly bigint[]): Buffer {
  const at = CRC_BYTES + 4 * heads.length;
  const value = Buffer.allocUnsafeSlow(at + WORD_BYTES * words.length);
  heads.forEach((head, i) => {
    value.writeUInt32LE(head, CRC_BYTES + 4 * i);
  });
  words.forEach((word, i) => {
    writeWord(value, at + WORD_BYTES * i, word);
  });
  return withChecksum(key, value);
}
