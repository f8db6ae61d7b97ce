/**
 * Brier scores and their boards against a naive mean, fill by fill: months of made fills and payouts, with restarts,
 * failed writes and a rebuild; a day of the ledger.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Event } from '../../engine/events.ts';
import { setWeight } from '../../engine/ledger/payout.ts';
import { resolutionOf } from '../../engine/ledger/reads.ts';
import { accountCount, marketTokens, tokenMarket, tokenOutcome } from '../../engine/reads.ts';
import { EntryCause, MatchKind } from '../../engine/tables/codes.ts';
import {
  Fill,
  FillTerm,
  MARKET_I,
  Market,
  RESOLUTION_I,
  Resolution,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, ResolutionRow, TokenRow } from '../../engine/tables/units.ts';
import { openTable } from '../../storage/kv/lmdb.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { ENTRY_BYTES, entryOf } from '../../storage/projection/entries.ts';
import { Projections } from '../../storage/projection/environment.ts';
import { PERIODS, type Period, periodNumber } from '../../storage/projection/periods.ts';
import { Projector } from '../../storage/projection/projector.ts';
import { Board, RANKS } from '../../storage/projection/ranks.ts';
import { ResultsReader } from '../../storage/projection/reader.ts';
import type { Random } from '../common/random.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';
import { Pair } from './projector-stage.ts';
import { directoryOf, Exchange, ledgerDay, seeded } from './stored-exchange.ts';

const QUICK = { durability: 'committed', readOnly: false } as const;
const LATER = 100_000;
const HOUR = 3_600_000;
const FILL_BYTES = 160;
const WALLETS = 6;
const MARKETS = 40;
/** Payouts: sure ones, void ones, and fractions that are no whole millionths. */
const PAYOUTS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, 2],
  [3, 4],
] as const;

/** First day of the period of a time, by the calendar of another library than periods.ts. */
function label(period: Period, time: number, seasonEnds: readonly number[]): string {
  const date = new Date(time);
  if (period === 'all') return '';
  if (period === 'season') return `${seasonEnds.filter((end) => end < time).length}`;
  if (period === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, period === 'month' ? 7 : 10);
}

/** Scores of all wallets in markets whose payout is counted. Each side of a fill buys some outcome at some price. */
function naiveScores(t: Tables, fills: readonly Buffer[], isCounted: (market: number) => boolean) {
  const sums = new Map<number, { markets: Set<number>; shares: bigint; errors: bigint }>();
  for (const fill of fills) {
    const i = (column: number): number => fill.readInt32LE(4 * column);
    const isFailed = (i(Fill.terms) & FillTerm.fails) !== 0;
    const market = tokenMarket(t, i(Fill.takerToken) as TokenRow);
    const isBinary = marketTokens(t, market) === 2;
    if (isFailed || i(Fill.taker) === i(Fill.maker) || !isBinary || !isCounted(market)) continue;
    const { sum, weights } = resolutionOf(t, market)!;
    const first = (1_000_000n * BigInt(weights[0]!)) / BigInt(sum);
    const takerBuys = i(Fill.takerSide) === 0;
    const makerBuys = (i(Fill.kind) !== MatchKind.complementary) === takerBuys;
    const size = BigInt(fill.readDoubleLE(8 * Fill.size));
    for (const [account, token, pips, buys] of [
      [i(Fill.taker), i(Fill.takerToken), i(Fill.takerPrice), takerBuys],
      [i(Fill.maker), i(Fill.makerToken), i(Fill.makerPrice), makerBuys],
    ] as const) {
      const price = BigInt(100 * (buys ? pips : 10_000 - pips));
      const isFirst = (tokenOutcome(t, token as TokenRow) === 0) === buys;
      const own = sums.get(account) ?? { markets: new Set(), shares: 0n, errors: 0n };
      sums.set(account, own);
      own.markets.add(market);
      own.shares += size;
      own.errors += size * (price - (isFirst ? first : 1_000_000n - first)) ** 2n;
    }
  }
  return new Map(
    [...sums].map(([account, { errors, markets, shares }]) => {
      const whole = shares * 1_000_000n;
      const brier = errors / whole + (2n * (errors % whole) >= whole ? 1n : 0n);
      return [account, { markets: markets.size, shares, brier }] as const;
    }),
  );
}

interface Seen {
  readonly t: Tables;
  readonly fills: readonly Buffer[];
  /** Unix milliseconds of the first payout of each market. */
  readonly paidAt: ReadonlyMap<number, number>;
  /** Unix milliseconds of the last payout. */
  readonly newest: number;
  /** Last unix milliseconds of the seasons that are over. */
  readonly seasonEnds: readonly number[];
}

/** Compares scores and boards of the newest periods and of all seasons. Returns the number of wallets on the board of all time. */
function check(projections: Projections, { fills, newest, paidAt, seasonEnds, t }: Seen): number {
  projections.root.resetReadTxn();
  const reader = new ResultsReader(projections);
  let ranked = 0;
  const periods = [
    ...PERIODS.map((period) => [period, newest] as const),
    ...seasonEnds.map((end) => ['season', end] as const),
  ];
  for (const [period, at] of periods) {
    const isCounted = (market: number): boolean =>
      paidAt.has(market) &&
      label(period, paidAt.get(market)!, seasonEnds) === label(period, at, seasonEnds);
    const all = naiveScores(t, fills, isCounted);
    const number = periodNumber(period, at, seasonEnds);
    for (let account = 0; account <= accountCount(t); account++)
      assert.deepEqual(reader.accuracy(account, period, number), all.get(account));
    const expected = [...all]
      .filter(([, { markets, shares }]) => markets >= 3 && shares >= 10_000_000n)
      .map(([account, { brier }]) => ({ account, score: -brier, token: 0 }))
      .sort((a, b) => Number(b.score - a.score) || a.account - b.account);
    const rows = reader.page({ board: Board.brier, period, number }, undefined, 1_000);
    assert.deepEqual(
      rows.map(({ account, score, token }) => ({ account, score, token })),
      expected,
      period,
    );
    if (period === 'all') ranked = expected.length;
  }
  return ranked;
}

/** Fills and payouts of some months, in their order, as rows of derived/. */
class Stage {
  readonly t = new Exchange(WITH_LEDGER).t;
  readonly fills: Buffer[] = [];
  readonly entries: Buffer[] = [];
  readonly paidAt = new Map<number, number>();
  readonly seasonEnds: number[] = [];
  newest = 0;
  projections: Projections;
  breaks = false;
  private readonly derived;
  private readonly directory: string;
  private readonly random: Random;
  private time = Date.UTC(2026, 10, 20);
  private now = 0;
  private projector: Projector;

  constructor(t: TestContext, random: Random) {
    this.random = random;
    this.directory = directoryOf(t);
    this.derived = openDerivedTables(this.directory, QUICK);
    this.register();
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector(this.projections);
    t.after(async () => {
      await this.projections.close();
      await this.derived.root.close();
    });
  }

  get count(): number {
    return this.fills.length + this.entries.length;
  }

  /** Adds a fill of an open market, payouts of a market, or now and then the end of a season. */
  happen(): void {
    const { random } = this;
    this.time += random.chance(4) ? random.below(9 * 24 * HOUR) : random.below(HOUR);
    if (random.chance(1.5)) this.endSeason();
    const market = 1 + random.below(MARKETS);
    if (this.paidAt.has(market)) return;
    if (!random.chance(6)) this.fill(market);
    else {
      this.paidAt.set(market, this.time);
      // Later steps of a payout change nothing.
      for (let steps = random.between(1, 3); steps > 0; steps--) {
        this.pay(market);
        this.time += random.below(2 * 24 * HOUR);
      }
    }
  }

  derive(projector = this.projector): void {
    const { derived, entries, fills } = this;
    derived.root.transactionSync(() => {
      derived.fills.put(0, fills.length, (n, into, at) => void into.set(fills[n]!, at));
      derived.entries.put(0, entries.length, (n, into, at) => void into.set(entries[n]!, at));
    });
    const ends = { fills: fills.length, entries: entries.length };
    do this.now += LATER;
    while (projector.step(derived, ends, true, this.now));
  }

  async restart(): Promise<void> {
    await this.projections.close();
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector(this.projections);
  }

  /** Checks that all rows equal those of a rebuild. */
  async checkRows(t: TestContext): Promise<void> {
    const others = new Projections(directoryOf(t), QUICK);
    this.derive(this.newProjector(others));
    for (const name of ['forecasts', 'accuracies', RANKS]) {
      const [own, whole] = [this.projections, others].map(({ root }) => [
        ...openTable(root, name).getRange(),
      ]);
      assert(own!.length > 0, name);
      assert.deepEqual(own, whole, name);
    }
    await others.close();
  }

  private fill(market: number): void {
    const { random } = this;
    const row = Buffer.alloc(FILL_BYTES);
    const first = this.t.marketI[(market << MARKET_I) + Market.firstToken]!;
    const kind = random.pick([MatchKind.complementary, MatchKind.mint, MatchKind.merge]);
    const takerSells = kind === MatchKind.merge || (kind !== MatchKind.mint && random.chance(50));
    const outcome = random.below(2);
    const isAcross = kind !== MatchKind.complementary;
    const pips = random.between(1, 9_999);
    const size = random.between(1, 9_000_000);
    row.writeDoubleLE(this.time, 8 * Fill.time);
    row.writeDoubleLE(size, 8 * Fill.size);
    for (const [column, value] of [
      [Fill.kind, kind],
      [Fill.takerSide, takerSells ? 1 : 0],
      [Fill.takerToken, first + outcome],
      [Fill.makerToken, first + (isAcross ? 1 - outcome : outcome)],
      [Fill.takerPrice, pips],
      [Fill.makerPrice, isAcross ? 10_000 - pips : pips],
      [Fill.taker, 1 + random.below(WALLETS)],
      [Fill.maker, 1 + random.below(WALLETS)],
      [Fill.terms, random.chance(10) ? FillTerm.unsettled | FillTerm.fails : 0],
    ] as const)
      row.writeInt32LE(value, 4 * column);
    this.fills.push(row);
  }

  private endSeason(): void {
    const row = Buffer.alloc(ENTRY_BYTES);
    this.seasonEnds.push(this.time);
    row.writeInt32LE(EntryCause.season, 4 * Event.cause);
    row.writeDoubleLE(this.time, 8 * Event.entry);
    row.writeDoubleLE(this.seasonEnds.length, 8 * Event.reference);
    this.entries.push(row);
    this.time += 1;
  }

  private pay(market: number): void {
    const row = Buffer.alloc(ENTRY_BYTES);
    const { marketI } = this.t;
    const first = marketI[(market << MARKET_I) + Market.firstToken]!;
    // The time is in place of the number.
    row.writeInt32LE(EntryCause.redeem, 4 * Event.cause);
    row.writeInt32LE(1 + this.random.below(WALLETS), 4 * Event.account);
    row.writeInt32LE(first + this.random.below(2), 4 * Event.token);
    row.writeDoubleLE(this.time, 8 * Event.entry);
    assert.equal(entryOf(row).time, this.time);
    this.entries.push(row);
    this.newest = this.time;
  }

  /** Markets with two outcomes, some with three, and the payout that each will have. */
  private register(): void {
    const { marketI, resolutionI, state, tokenI } = this.t;
    state[State.ledger] = 1;
    state[State.accounts] = WALLETS;
    let token = 1;
    for (let market = 1; market <= MARKETS; market++) {
      const outcomes = this.random.chance(10) ? 3 : 2;
      marketI[(market << MARKET_I) + Market.firstToken] = token;
      marketI[(market << MARKET_I) + Market.tokenCount] = outcomes;
      marketI[(market << MARKET_I) + Market.resolution] = market;
      for (let outcome = 0; outcome < outcomes; outcome++, token++) {
        tokenI[(token << TOKEN_I) + Token.market] = market;
        tokenI[(token << TOKEN_I) + Token.outcome] = outcome;
      }
      const weights = this.random.pick(PAYOUTS);
      weights.forEach((weight, i) => {
        setWeight(this.t, market as ResolutionRow, i, weight);
      });
      resolutionI[(market << RESOLUTION_I) + Resolution.sum] = weights[0] + weights[1];
    }
    state[State.markets] = MARKETS;
    state[State.tokens] = token - 1;
  }

  private newProjector(projections: Projections): Projector {
    const nothing = (): void => undefined;
    const { forecasts } = projections;
    const apply = forecasts.apply.bind(forecasts);
    forecasts.apply = (events) => {
      apply(events);
      if (this.breaks) throw new Error('the disk is full');
    };
    return new Projector({ tables: this.t, projections, warn: nothing, needRows: nothing });
  }
}

test('Brier scores and boards equal naive means over months, restarts, failed writes and a rebuild', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    let ranked = 0;
    for (let part = 0; part < 60; part++) {
      const before = stage.count;
      for (let n = random.below(25); n > 0; n--) stage.happen();
      stage.breaks = stage.count > before && random.chance(20);
      if (stage.breaks) assert.throws(() => stage.derive(), /disk is full/);
      stage.breaks = false;
      if (random.chance(15)) await stage.restart();
      stage.derive();
      if (random.chance(30)) ranked = Math.max(ranked, check(stage.projections, stage));
    }
    ranked = Math.max(ranked, check(stage.projections, stage));
    assert(ranked > 0, 'somebody has a rank');
    assert.match(stage.projections.forecasts.verify(), /[1-9]\d* accuracies/);
    await stage.checkRows(t);
  }));

test('Brier scores of a day of the ledger count each side of each fill that settled', (t) =>
  seeded(async (random) => {
    const pair = new Pair(t, {}, WITH_LEDGER);
    await pair.go(ledgerDay(random, 1_500));
    pair.settle();
    pair.follower.close(pair.log.last, pair.now);
    const projections = new Projections(pair.dataDir, QUICK);
    const tables = pair.context.t;
    const paidAt = new Map<MarketRow, number>();
    let newest = 0;
    for (let account = 1; account <= accountCount(tables); account++) {
      for (const entry of projections.statements.ofAccount(account, 2 ** 48, LATER)) {
        if (entry.cause !== EntryCause.redeem) continue;
        newest = Math.max(newest, entry.time);
        const market = tokenMarket(tables, entry.token as TokenRow);
        paidAt.set(market, Math.min(paidAt.get(market) ?? entry.time, entry.time));
      }
    }
    check(projections, { t: tables, fills: pair.fills, paidAt, newest, seasonEnds: [] });
    await projections.close();
  }));
