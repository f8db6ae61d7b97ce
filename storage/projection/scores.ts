/**
 * Sums of each wallet since its first trade, at the end of each hour with a change, and their ranks: of the profit, or
 * of the volume (results.ts).
 *
 *   results        measure u8 | account u32 (big-endian) -> crc u32 | newest hour u32, then for day, week, month and season
 *                  the number of the newest period u32 and the first sum before it, then the sums, words of 128 bits
 *   result-hours   measure u8 | account u32 | hour u32 (big-endian) -> crc u32 | the sums after that hour
 *   season-scores  measure u8 | account u32 | season u32 (big-endian) -> crc u32 | its score, a word; the newest season of a
 *                  wallet is in its result
 *
 * The score of a wallet in a period is the growth of its first sum. A score of 0 has no rank.
 *
 * Thread: the projector writes; the I/O thread reads (reader.ts).
 */
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import { type BinaryTable, openTable, type RootDatabase } from '../kv/lmdb.ts';
import { HOUR_MS, PERIODS, type Period, PeriodSpan, periodNumber, ROLLING } from './periods.ts';
import { checkRows, DamagedRow } from './projection.ts';
import type { Board, BoardOf, Ranks } from './ranks.ts';
import { readWord, WORD_BYTES, writeWord } from './words.ts';

export type Measure = typeof Board.profit | typeof Board.volume;

/** Sums of a wallet after an hour with a change. */
export interface Point {
  /** Hours of Unix time. */
  readonly hour: number;
  readonly sums: readonly bigint[];
}

interface Since {
  /** Number of the newest period in which the wallet has a sum; -1 = none. */
  number: number;
  /** First sum before that period. */
  base: bigint;
}

interface Standing {
  hour: number;
  readonly since: Readonly<Record<Period, Since>>;
  readonly sums: bigint[];
}

/** A standing changed by the current events. */
interface Changed extends Standing {
  /** Score of each period that is on its board. */
  readonly ranked: Record<Period, bigint>;
  /** Span of the newest amount: no period begins within it. */
  span: PeriodSpan | undefined;
}

/** Boards of past seasons are kept. */
const PRUNED = ['day', 'week', 'month'] as const;
const SINCE_BYTES = 4 + WORD_BYTES;
const SINCE_AT = CRC_BYTES + 4;
const SUMS_AT = SINCE_AT + ROLLING.length * SINCE_BYTES;
const NO_NUMBER = 2 ** 32 - 1;
const HOUR_MAX = 2 ** 32 - 1;
const HOUR_AT = 5;

export class Scores {
  private readonly measure: Measure;
  private readonly count: number;
  private readonly results: BinaryTable;
  private readonly hours: BinaryTable;
  private readonly seasons: BinaryTable;
  private readonly ranks: Ranks;
  private seasonEnds: readonly number[] = [];
  private changed = new Map<number, Changed>();
  /** Newest time of the current events, unix milliseconds. */
  private newest = 0;
  private span: PeriodSpan | undefined;

  /** @param count sums of a wallet */
  constructor(root: RootDatabase<Buffer, string>, ranks: Ranks, measure: Measure, count: number) {
    this.measure = measure;
    this.count = count;
    this.ranks = ranks;
    this.results = openTable(root, 'results');
    this.hours = openTable(root, 'result-hours');
    this.seasons = openTable(root, 'season-scores');
  }

  /** Drops what a failed transaction left. */
  begin(seasonEnds: readonly number[]): void {
    this.seasonEnds = seasonEnds;
    this.changed = new Map();
    this.newest = 0;
    this.span = undefined;
  }

  /** Adds to the sums of a wallet. Call only between begin() and put(), inside a transaction. */
  add(account: number, time: number, amounts: readonly bigint[]): void {
    const wallet = this.load(account);
    const hour = Math.max(wallet.hour, Math.floor(time / HOUR_MS));
    if (hour > wallet.hour && wallet.hour > 0) this.putHour(account, wallet);
    wallet.hour = hour;
    const span = this.spanOf(time);
    if (span !== wallet.span) this.enter(account, wallet, span);
    for (let i = 0; i < amounts.length; i++) wallet.sums[i]! += amounts[i]!;
    this.newest = Math.max(this.newest, time);
  }

  put(): void {
    for (const [account, wallet] of this.changed) {
      this.putHour(account, wallet);
      for (const period of PERIODS) this.rank(account, wallet, period);
      const key = this.walletKey(account);
      void this.results.put(key, encode(key, wallet));
    }
    if (this.newest === 0) return;
    for (const period of PRUNED) this.ranks.prune(this.boardOf(period, this.newest));
  }

  clear(): void {
    for (const table of [this.results, this.hours, this.seasons]) table.clearSync();
  }

  /** Sums of each wallet. Throws an Error that names a damaged row, or a wallet without its rank. */
  verify(): Map<number, readonly bigint[]> {
    checkRows('results', this.results);
    checkRows('result-hours', this.hours);
    checkRows('season-scores', this.seasons);
    const all = new Map<number, readonly bigint[]>();
    let newest = 0;
    for (const [account, { hour, sums }] of this.all()) {
      all.set(account, sums);
      newest = Math.max(newest, hour);
    }
    for (const [account, standing] of this.all()) {
      for (const period of PERIODS) {
        const isSeason = period === 'season';
        const of = isSeason
          ? { board: this.measure, period, number: standing.since.season.number }
          : this.boardOf(period, newest * HOUR_MS);
        const score = scoreOf(standing, period, of.number);
        if (score === 0n || this.ranks.has(of, { account, score, token: 0 })) continue;
        throw new Error(`results: wallet ${account} has no rank for its ${period}`);
      }
    }
    return all;
  }

  /** Sums of a wallet since its first trade; undefined = none. Throws DamagedRow. */
  sumsOf(account: number): readonly bigint[] | undefined {
    return this.standing(account)?.sums;
  }

  /** Growth of the first sum in a period. Throws DamagedRow. */
  score(account: number, period: Period, number: number): bigint {
    const standing = this.standing(account);
    if (standing === undefined) return 0n;
    const isPast = period === 'season' && number < standing.since.season.number;
    return isPast ? this.pastScore(account, number) : scoreOf(standing, period, number);
  }

  /** Newest point before an hour; undefined = none. Throws DamagedRow. */
  pointBefore(account: number, hour: number): Point | undefined {
    if (hour <= 0) return undefined;
    const start = this.hourKey(account, Math.min(hour, HOUR_MAX) - 1);
    const end = this.walletKey(account);
    const [found] = this.hours.getRange({ start, end, limit: 1, reverse: true });
    return found && this.pointOf(found.key, found.value);
  }

  /** Points of a wallet from an hour on to before another, in order, `limit` at most. Throws DamagedRow. */
  points(account: number, from: number, to: number, limit: number): Point[] {
    const [start, end] = [this.hourKey(account, from), this.hourKey(account, to)];
    const range = this.hours.getRange({ start, end, limit });
    return Array.from(range, ({ key, value }) => this.pointOf(key, value));
  }

  private spanOf(time: number): PeriodSpan {
    if (this.span?.has(time) !== true) this.span = new PeriodSpan(time, this.seasonEnds);
    return this.span!;
  }

  /** Begins the periods of a span in which the wallet has no sum yet. */
  private enter(account: number, wallet: Changed, span: PeriodSpan): void {
    for (const period of ROLLING) {
      const since = wallet.since[period];
      const number = span.numbers[period];
      if (number <= since.number) continue;
      this.rank(account, wallet, period);
      if (period === 'season') this.putSeason(account, wallet);
      since.number = number;
      since.base = wallet.sums[0]!;
      wallet.ranked[period] = 0n;
    }
    wallet.span = span;
  }

  private boardOf(period: Period, time: number): BoardOf {
    return { board: this.measure, period, number: periodNumber(period, time, this.seasonEnds) };
  }

  private pastScore(account: number, season: number): bigint {
    const key = this.hourKey(account, season);
    const value = this.seasons.get(key);
    if (value === undefined) return 0n;
    if (!checksumMatches(key, value)) throw new DamagedRow('season-scores');
    return readWord(value, CRC_BYTES);
  }

  /** Stores the score of a wallet in a season that is over. */
  private putSeason(account: number, { since, sums }: Standing): void {
    const { base, number } = since.season;
    const score = sums[0]! - base;
    if (number < 0 || score === 0n) return;
    const key = this.hourKey(account, number);
    const value = Buffer.allocUnsafeSlow(CRC_BYTES + WORD_BYTES);
    writeWord(value, CRC_BYTES, score);
    void this.seasons.put(key, withChecksum(key, value));
  }

  private *all(): Generator<readonly [number, Standing]> {
    const start = Buffer.of(this.measure);
    const end = Buffer.of(this.measure + 1);
    for (const { key, value } of this.results.getRange({ start, end })) {
      yield [key.readUInt32BE(1), this.decode(key, value)];
    }
  }

  private load(account: number): Changed {
    const known = this.changed.get(account);
    if (known !== undefined) return known;
    const standing = this.standing(account) ?? this.newStanding();
    const ranked = { day: 0n, week: 0n, month: 0n, all: 0n, season: 0n };
    for (const period of PERIODS) {
      ranked[period] = scoreOf(standing, period, standing.since[period].number);
    }
    const changed: Changed = { ...standing, ranked, span: undefined };
    this.changed.set(account, changed);
    return changed;
  }

  private newStanding(): Standing {
    return { hour: 0, since: newSince(), sums: new Array<bigint>(this.count).fill(0n) };
  }

  private standing(account: number): Standing | undefined {
    const key = this.walletKey(account);
    const value = this.results.get(key);
    return value === undefined ? undefined : this.decode(key, value);
  }

  /** Moves a wallet to its place on the board of its newest period. */
  private rank(account: number, { ranked, since, sums }: Changed, period: Period): void {
    const { base, number } = since[period];
    const before = ranked[period];
    const score = sums[0]! - base;
    if (number < 0 || score === before) return;
    const of = { board: this.measure, period, number };
    if (before !== 0n) this.ranks.remove(of, { account, score: before, token: 0 });
    if (score !== 0n) this.ranks.put(of, { account, score, token: 0 });
  }

  private putHour(account: number, { hour, sums }: Standing): void {
    const key = this.hourKey(account, hour);
    const value = Buffer.allocUnsafeSlow(CRC_BYTES + WORD_BYTES * sums.length);
    sums.forEach((sum, i) => {
      writeWord(value, CRC_BYTES + WORD_BYTES * i, sum);
    });
    void this.hours.put(key, withChecksum(key, value));
  }

  private pointOf(key: Buffer, value: Buffer): Point {
    if (value.length !== CRC_BYTES + WORD_BYTES * this.count || !checksumMatches(key, value)) {
      throw new DamagedRow('result-hours');
    }
    return { hour: key.readUInt32BE(HOUR_AT), sums: this.words(value, CRC_BYTES) };
  }

  private decode(key: Buffer, value: Buffer): Standing {
    if (value.length !== SUMS_AT + WORD_BYTES * this.count || !checksumMatches(key, value)) {
      throw new DamagedRow('results');
    }
    const since = newSince();
    ROLLING.forEach((period, i) => {
      const at = SINCE_AT + i * SINCE_BYTES;
      const number = value.readUInt32LE(at);
      since[period] = { number: number === NO_NUMBER ? -1 : number, base: readWord(value, at + 4) };
    });
    return { hour: value.readUInt32LE(CRC_BYTES), since, sums: this.words(value, SUMS_AT) };
  }

  private words(value: Buffer, at: number): bigint[] {
    return Array.from({ length: this.count }, (_, i) => readWord(value, at + WORD_BYTES * i));
  }

  private walletKey(account: number): Buffer {
    const key = Buffer.allocUnsafeSlow(HOUR_AT);
    key.writeUInt8(this.measure, 0);
    key.writeUInt32BE(account, 1);
    return key;
  }

  private hourKey(account: number, hour: number): Buffer {
    const key = Buffer.allocUnsafeSlow(HOUR_AT + 4);
    this.walletKey(account).copy(key);
    key.writeUInt32BE(Math.min(Math.max(hour, 0), HOUR_MAX), HOUR_AT);
    return key;
  }
}

function newSince(): Record<Period, Since> {
  const none = (): Since => ({ number: -1, base: 0n });
  const all = { number: 0, base: 0n };
  return { day: none(), week: none(), month: none(), season: none(), all };
}

function scoreOf({ since, sums }: Standing, period: Period, number: number): bigint {
  const of = since[period];
  return of.number === number && number >= 0 ? sums[0]! - of.base : 0n;
}

function encode(key: Buffer, { hour, since, sums }: Standing): Buffer {
  const value = Buffer.allocUnsafeSlow(SUMS_AT + WORD_BYTES * sums.length);
  value.writeUInt32LE(hour, CRC_BYTES);
  ROLLING.forEach((period, i) => {
    const { base, number } = since[period];
    const at = SINCE_AT + i * SINCE_BYTES;
    value.writeUInt32LE(number < 0 ? NO_NUMBER : number, at);
    writeWord(value, at + 4, base);
  });
  sums.forEach((sum, i) => {
    writeWord(value, SUMS_AT + WORD_BYTES * i, sum);
  });
  return withChecksum(key, value);
}
