/**
 * Profit, volume, boards and won positions against naive sums: a trading day stretched over months, with restarts and
 * failed writes; a day of the ledger with resolutions.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { accountCount, marketTokens, tokenMarket } from '../../engine/reads.ts';
import { EntryCause, MatchKind } from '../../engine/tables/codes.ts';
import { FILL_WORDS, Fill, State } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { openTable } from '../../storage/kv/lmdb.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import type { Entry } from '../../storage/projection/entries.ts';
import { Projections } from '../../storage/projection/environment.ts';
import { fillCopy } from '../../storage/projection/fills.ts';
import {
  PERIODS,
  type Period,
  PeriodSpan,
  periodNumber,
  ROLLING,
} from '../../storage/projection/periods.ts';
import { newPosition, type Position, trade } from '../../storage/projection/position-rows.ts';
import { Projector } from '../../storage/projection/projector.ts';
import { Board, type BoardCode, type Place, RANKS } from '../../storage/projection/ranks.ts';
import { ProjectionUnready, ResultsReader } from '../../storage/projection/reader.ts';
import { verifyProjections } from '../../storage/projection/verify-derived.ts';
import type { Random } from '../common/random.ts';
import { WITH_LEDGER } from '../engine/ledger-duel.ts';
import { Pair } from './projector-stage.ts';
import { directoryOf, Exchange, ledgerDay, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

const QUICK = { durability: 'committed', readOnly: false } as const;
const LATER = 100_000;
const HOUR = 3_600_000;
/** Units of a micro-unit in which the naive profit divides. */
const FINE = 10n ** 30n;
const MEASURES = [Board.profit, Board.volume] as const;

/** A change of one wallet: profit, or shares and collateral of one trade. */
interface Change {
  readonly account: number;
  readonly time: number;
  readonly profit: bigint;
  readonly volume: readonly bigint[];
}

/** Text of the period of a time, by the calendar of another library than periods.ts. */
function label(period: Period, time: number): string {
  const date = new Date(time);
  if (period === 'all' || period === 'season') return '';
  if (period === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, period === 'month' ? 7 : 10);
}

/** All rows of a board, read in pages of a random length. */
function board(
  reader: ResultsReader,
  random: Random,
  code: BoardCode,
  period: Period,
  time: number,
) {
  const of = { board: code, period, number: periodNumber(period, time, []) };
  const rows: Place[] = [];
  for (;;) {
    const limit = random.between(1, 5);
    const page = reader.page(of, rows.at(-1), limit);
    rows.push(...page.map(({ account, score, token }) => ({ account, score, token })));
    if (page.length < limit) return rows;
  }
}

class Stage {
  readonly context = new Exchange({ ...TIGHT, orders: 5_000, trades: 20_000, history: 5_000 });
  readonly directory: string;
  readonly changes: Change[] = [];
  projections: Projections;
  breaks = false;
  private readonly derived;
  private readonly random: Random;
  private now = 0;
  private projector: Projector;

  constructor(t: TestContext, random: Random) {
    this.random = random;
    for (const batch of tradingDay(random, 3_000, 0)) this.context.apply(batch);
    this.directory = directoryOf(t);
    this.derived = openDerivedTables(this.directory, QUICK);
    const rows = this.stretched();
    this.derived.root.transactionSync(() =>
      this.derived.fills.put(0, rows.length, (n, into, at) => void into.set(rows[n]!, at)),
    );
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector(this.projections);
    t.after(async () => {
      await this.projections.close();
      await this.derived.root.close();
    });
  }

  get end(): number {
    return this.context.t.state[State.fills]!;
  }

  get reader(): ResultsReader {
    this.projections.root.resetReadTxn();
    return new ResultsReader(this.projections);
  }

  derive(end: number, projector = this.projector): void {
    const step = (): boolean => {
      this.now += LATER;
      return projector.step(this.derived, { fills: end, entries: 0 }, true, this.now);
    };
    while (step());
  }

  async restart(): Promise<void> {
    await this.projections.close();
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector(this.projections);
  }

  /** Checks sums, points and boards of every wallet by the changes of the first fills. */
  check(end: number): void {
    const { reader } = this;
    const changes = this.changes.slice(0, 2 * end);
    const time = changes.at(-1)!.time;
    for (const measure of MEASURES) {
      const amounts = (c: Change) => (measure === Board.profit ? [c.profit, 0n] : c.volume);
      for (const period of PERIODS) {
        const scores = new Map<number, bigint>();
        for (const change of changes) {
          if (label(period, change.time) !== label(period, time)) continue;
          const before = scores.get(change.account) ?? 0n;
          scores.set(change.account, before + amounts(change)[0]!);
        }
        const expected = [...scores]
          .filter(([, score]) => score !== 0n)
          .map(([account, score]) => ({ account, score, token: 0 }))
          .sort((a, b) =>
            a.score === b.score ? a.account - b.account : a.score < b.score ? 1 : -1,
          );
        assert.deepEqual(board(reader, this.random, measure, period, time), expected, period);
        for (const [account, score] of scores) {
          const number = periodNumber(period, time, []);
          assert.equal(reader.score(measure, account, period, number), score);
          const of = { board: measure, period, number };
          const above = expected.filter((row) => row.score > score).length;
          assert.equal(reader.countAbove(of, score, expected.length), above);
          const limit = this.random.below(expected.length + 2);
          assert.equal(reader.countAbove(of, score, limit), Math.min(above, limit));
          if (period !== 'all')
            assert.equal(reader.score(measure, account, period, number + 1), 0n);
        }
      }
      for (let account = 1; account <= accountCount(this.context.t); account++) {
        const own = changes.filter((change) => change.account === account);
        this.checkWallet(reader, measure, account, own, amounts);
      }
    }
  }

  /** Checks that all rows equal those of an uninterrupted run. */
  async checkRows(t: TestContext): Promise<void> {
    const others = new Projections(directoryOf(t), QUICK);
    this.derive(this.end, this.newProjector(others));
    this.projections.root.resetReadTxn();
    for (const name of ['results', 'result-hours', RANKS]) {
      const [own, whole] = [this.projections, others].map(({ root }) => [
        ...openTable(root, name).getRange(),
      ]);
      assert(own!.length > 0, name);
      assert.deepEqual(own, whole, name);
    }
    await others.close();
  }

  private checkWallet(
    reader: ResultsReader,
    measure: (typeof MEASURES)[number],
    account: number,
    own: readonly Change[],
    amounts: (change: Change) => readonly bigint[],
  ): void {
    const sumsAt = (end: number): bigint[] | undefined => {
      const before = own.filter(
        (change) => change.time < end && amounts(change).some((amount) => amount !== 0n),
      );
      if (before.length === 0) return undefined;
      return amounts(before[0]!).map((_, i) =>
        before.reduce((sum, change) => sum + amounts(change)[i]!, 0n),
      );
    };
    assert.deepEqual(reader.sums(measure, account), sumsAt(Number.POSITIVE_INFINITY));
    for (let tries = 0; tries < 5 && own.length > 0; tries++) {
      const hour = Math.floor(this.random.pick(own).time / HOUR) + this.random.between(-1, 2);
      assert.deepEqual(reader.pointBefore(measure, account, hour)?.sums, sumsAt(hour * HOUR));
      const [point] = reader.points(measure, account, hour, hour + 1, 1);
      const isChanged = own.some(
        (change) =>
          Math.floor(change.time / HOUR) === hour &&
          amounts(change).some((amount) => amount !== 0n),
      );
      assert.deepEqual(point?.sums, isChanged ? sumsAt((hour + 1) * HOUR) : undefined);
    }
  }

  /** Rows of the fills with times of some months; notes the changes of both wallets. */
  private stretched(): Buffer[] {
    const { random } = this;
    const held = new Map<string, Position>();
    let time = Date.UTC(2026, 10, 20);
    return Array.from({ length: this.end }, (_, n) => {
      time += random.chance(3) ? random.below(12 * 24 * HOUR) : random.below(HOUR / 4);
      const row = fillCopy(this.context.t, n);
      row.writeDoubleLE(time, 8 * Fill.time);
      const i = Int32Array.from({ length: FILL_WORDS }, (_, w) => row.readInt32LE(4 * w));
      const f = (column: number): bigint => BigInt(row.readDoubleLE(8 * column));
      const [size, fee] = [f(Fill.size), f(Fill.fee)];
      const takerBuys = i[Fill.takerSide] === 0;
      const makerBuys = (i[Fill.kind] !== MatchKind.complementary) === takerBuys;
      const side = (account: number, token: number, buys: boolean, paid: bigint, cost: bigint) => {
        const at = `${account}/${token}`;
        const position = held.get(at) ?? newPosition();
        held.set(at, position);
        const before = position.realised;
        if (!buys) trade(position, false, size, paid - cost, time);
        else if ((i[Fill.terms]! & 1) === 1) trade(position, true, size, paid, time, cost);
        else trade(position, true, size - cost, paid, time);
        const profit = position.realised - before;
        this.changes.push({ account, time, profit, volume: [size, paid, 1n] });
      };
      side(i[Fill.taker]!, i[Fill.takerToken]!, takerBuys, f(Fill.takerCollateral), fee);
      side(i[Fill.maker]!, i[Fill.makerToken]!, makerBuys, f(Fill.makerCollateral), 0n);
      return row;
    });
  }

  private newProjector(projections: Projections): Projector {
    const nothing = (): void => undefined;
    const { results } = projections;
    const apply = results.apply.bind(results);
    results.apply = (events) => {
      apply(events);
      if (this.breaks) throw new Error('the disk is full');
    };
    const { t: tables } = this.context;
    return new Projector({ tables, projections, warn: nothing, needRows: nothing });
  }
}

test('boards, sums and points equal naive sums over months, restarts and failed writes', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    assert(
      stage.changes.some(({ profit }) => profit > 0n),
      'somebody gains',
    );
    assert(
      stage.changes.some(({ profit }) => profit < 0n),
      'somebody loses',
    );
    for (let end = 0; end < stage.end; ) {
      end = Math.min(stage.end, end + 1 + random.below(200));
      stage.breaks = random.chance(30);
      if (stage.breaks) assert.throws(() => stage.derive(end), /disk is full/);
      stage.breaks = false;
      if (random.chance(30)) await stage.restart();
      stage.derive(end);
      if (random.chance(25)) stage.check(end);
    }
    stage.check(stage.end);
    await stage.checkRows(t);
  }));

test('results are rebuilt after a damaged rank, and unavailable meanwhile', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    stage.derive(stage.end);
    const ranks = openTable(stage.projections.root, RANKS);
    stage.projections.root.resetReadTxn();
    const of = { board: Board.volume, period: 'all', number: 0 } as const;
    for (const key of [...ranks.getKeys()]) await ranks.put(key, Buffer.alloc(4));
    assert.throws(() => stage.reader.page(of, undefined, 10), ProjectionUnready);
    while (stage.projections.position() !== undefined) {
      await new Promise(setImmediate);
      stage.projections.root.resetReadTxn();
    }
    stage.derive(stage.end);
    stage.check(stage.end);
  }));

test('periods begin at midnight, on Mondays and on first days of months in UTC', () => {
  const at = (text: string): number => Date.parse(`${text}Z`);
  const isNext = (period: Period, before: string, after: string): void =>
    assert.equal(periodNumber(period, at(after), []) - periodNumber(period, at(before), []), 1);
  isNext('day', '2026-11-22T23:59:59.999', '2026-11-23T00:00');
  isNext('week', '2026-11-22T23:59:59.999', '2026-11-23T00:00');
  isNext('week', '2026-12-27T00:00', '2027-01-03T23:59:59');
  isNext('month', '2026-12-31T23:59:59.999', '2027-01-01T00:00');
  isNext('month', '2028-02-01T00:00', '2028-03-31T00:00');
  assert.equal(periodNumber('all', 0, []), periodNumber('all', at('2026-11-23T00:00'), []));
});

test('no period begins within a span, and one begins at the first time behind it', () => {
  const start = Date.parse('2026-11-30T22:00Z');
  const ends = [start + 1_800_000, start + 1_800_001, start + 30 * 3_600_000];
  const numbersAt = (time: number): number[] =>
    ROLLING.map((period) => periodNumber(period, time, ends));
  const isSame = (a: number, b: number): boolean => `${numbersAt(a)}` === `${numbersAt(b)}`;
  const times = ends.flatMap((end) => [end - 1, end, end + 1]);
  for (let hour = 0; hour < 60; hour++) {
    const time = start + 3_600_000 * hour;
    times.push(time - 1, time, time + 1);
  }
  for (const time of times) {
    const span = new PeriodSpan(time, ends);
    assert.deepEqual(
      ROLLING.map((period) => span.numbers[period]),
      numbersAt(time),
    );
    for (const other of times) assert.equal(span.has(other), isSame(time, other));
  }
});

interface Payout {
  readonly token: number;
  readonly time: number;
  readonly cash: bigint;
  readonly gain: bigint;
}

/**
 * Profit and payouts of a wallet by its statement, oldest first, at average costs in fine units. Amounts of the
 * projection differ by their roundings, at most the bound.
 */
function naiveProfit(t: Tables, entries: readonly Entry[]) {
  const held = new Map<number, { shares: bigint; cost: bigint }>();
  const payouts: Payout[] = [];
  const failures = entries.filter(({ cause }) => cause === EntryCause.failed);
  const failed = new Set(failures.map(({ reference }) => reference));
  let profit = 0n;
  for (const { cash, cause, reference, shares, time, token } of entries) {
    // A trade that fails counts nothing from the start.
    const isTrade = cause === EntryCause.trade || cause === EntryCause.failed;
    if (token === 0 || (isTrade && failed.has(reference))) continue;
    const isSet = cause === EntryCause.split || cause === EntryCause.merge;
    const size = BigInt(Math.abs(shares));
    const outcomes = isSet ? BigInt(marketTokens(t, tokenMarket(t, token))) : 1n;
    const money = ((isSet ? size : BigInt(Math.abs(cash))) * FINE) / outcomes;
    const position = held.get(token) ?? { shares: 0n, cost: 0n };
    held.set(token, position);
    if (shares > 0) {
      position.shares += size;
      position.cost += money;
      continue;
    }
    assert(size <= position.shares, 'nobody sells short');
    const cost = (position.cost * size) / position.shares;
    position.shares -= size;
    position.cost -= cost;
    profit += money - cost;
    if (cause !== EntryCause.redeem) continue;
    payouts.push({ token, time, cash: BigInt(cash), gain: (money - cost) / FINE });
  }
  return { bound: BigInt(3 * entries.length), payouts, profit: profit / FINE };
}

function assertNear(actual: bigint, expected: bigint, bound: bigint, what: string): void {
  const off = actual - expected;
  assert(-bound <= off && off <= bound, `${what}: ${actual}, by the statement ${expected}`);
}

/** Checks profits and won positions of a day of the ledger. Returns the numbers of positions that surely won, and of rebates. */
async function checkLedgerDay(t: TestContext, random: Random) {
  const pair = new Pair(t, {}, WITH_LEDGER);
  await pair.go(ledgerDay(random, 1_500));
  pair.settle();
  const { last } = pair.log;
  pair.follower.close(last, pair.now);
  const seen = { tables: pair.context.t, last, digests: new Map(), firstFill: 0 };
  assert.match((await verifyProjections(pair.dataDir, seen)).text, /results, \d+ ranks/);
  const projections = new Projections(pair.dataDir, QUICK);
  const reader = new ResultsReader(projections);
  const wins = reader.wins('all', 0, undefined, 10_000);
  let [won, rebates] = [0, 0];
  for (let account = 1; account <= accountCount(pair.context.t); account++) {
    const entries = projections.statements.ofAccount(account, Number.POSITIVE_INFINITY, 100_000);
    const { bound, payouts, profit } = naiveProfit(pair.context.t, entries.reverse());
    const paid = entries.filter(({ cause }) => cause === EntryCause.rebate);
    rebates += paid.length;
    const rebate = paid.reduce((sum, { cash }) => sum + BigInt(cash), 0n);
    const [sum, ofRebates] = reader.sums(Board.profit, account) ?? [0n, 0n];
    assert.equal(ofRebates, rebate);
    assertNear(sum!, profit + rebate, bound, `profit of ${account}`);
    const own = wins.filter((win) => win.account === account);
    for (const { payout, profit: gain, time, token } of own) {
      const pay = payouts.find((one) => one.token === token && one.time === time);
      assert.equal(payout, pay?.cash, 'a win is a payout');
      assert(gain > 0n);
      assertNear(gain, pay!.gain, bound, `win of ${account} in ${token}`);
    }
    const sure = payouts.filter(({ gain }) => gain > bound);
    for (const { time, token } of sure) {
      const isThere = own.some((win) => win.token === token && win.time === time);
      assert(isThere, `${account} won in ${token}`);
    }
    const best = own.reduce((most, win) => (win.profit > most ? win.profit : most), 0n);
    assert.equal(reader.bestWin(account), best);
    won += sure.length;
  }
  assert.equal(reader.sums(Board.profit, 0), undefined, 'the venue has none');
  await projections.close();
  return { winners: won, rebates };
}

test('profits of a ledger are those of positions and rebates, and payouts above their cost are won', (t) =>
  seeded(async (random) => {
    let [winners, rebates] = [0, 0];
    for (let days = 0; winners === 0 || rebates === 0; days++) {
      assert(days < 20, 'some day has a resolution, and some a rebate');
      const day = await checkLedgerDay(t, random);
      winners += day.winners;
      rebates += day.rebates;
    }
  }));

test('verification names a wallet whose profit is not that of its positions', async (t) => {
  const dataDir = directoryOf(t);
  const projections = new Projections(dataDir, QUICK);
  const { profit } = projections.results;
  projections.root.transactionSync(() => {
    profit.begin([]);
    profit.add(1, HOUR, [7n, 2n]);
    profit.put();
    projections.putPosition({ end: 0, entries: 0, isWhole: true, crc: 0 });
  });
  await projections.close();
  const { t: tables } = new Exchange();
  const seen = { tables, last: 0, digests: new Map(), firstFill: 0 };
  await assert.rejects(
    verifyProjections(dataDir, seen),
    /profit of wallet 1 without rebates is 5, its positions/,
  );
});
