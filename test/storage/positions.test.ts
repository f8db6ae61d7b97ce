/**
 * Positions against a naive ledger over random trading days: fees, mints, merges, wallets that sell what
 * they never bought; restarts, failed writes and damage in the middle. And the rules of money by hand.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { MatchKind } from '../../engine/tables/codes.ts';
import {
  FILL_WORDS,
  Fill,
  MARKET_I,
  Market,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { fillCopy, StoredFills } from '../../storage/projection/fills.ts';
import {
  decodePosition,
  encodePosition,
  newPosition,
  type Position,
  trade,
  walletKey,
} from '../../storage/projection/position-rows.ts';
import {
  beginPositions,
  openPositions,
  PositionsReader,
  PositionsUnready,
  putMark,
  readMark,
} from '../../storage/projection/positions.ts';
import { PositionsWriter } from '../../storage/projection/positions-writer.ts';
import type { Random } from '../common/random.ts';
import { directoryOf, Exchange, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

const QUICK = { durability: 'committed', readOnly: false } as const;
/** Units of a micro-unit in which the naive ledger divides. */
const FINE = 10n ** 30n;

/** When what waits is due. */
const LATER = 100_000;

/** One side of a fill, as the ledger lists it. */
interface Entry {
  readonly account: number;
  readonly token: number;
  /** Micro-units net of fees, what comes in above zero. */
  readonly shares: bigint;
  readonly cash: bigint;
}

interface Ledger {
  readonly entries: Entry[];
  /** Fees in shares by token, and minted less merged by market. */
  readonly fees: Map<number, bigint>;
  readonly interest: Map<number, bigint>;
}

/** Fills that fail to be read after so many, once. */
class Stumbling extends StoredFills {
  left = Number.POSITIVE_INFINITY;

  override *range(start: number, end: number): ReturnType<StoredFills['range']> {
    for (const fill of super.range(start, end)) {
      this.left -= 1;
      if (this.left < 0) {
        this.left = Number.POSITIVE_INFINITY;
        throw new Error('the disk is full');
      }
      yield fill;
    }
  }
}

class Stage {
  readonly context = new Exchange({ ...TIGHT, orders: 5_000, trades: 20_000, history: 5_000 });
  readonly directory: string;
  readonly warnings: string[] = [];
  readonly fills: Stumbling;
  /** Whether a transaction would find no room. */
  isFull = false;
  private readonly derived;
  private tables;
  private now = 0;
  private writer: PositionsWriter;

  constructor(t: TestContext, random: Random) {
    for (const batch of tradingDay(random, 4_000)) this.context.apply(batch);
    this.directory = directoryOf(t);
    this.derived = openDerivedTables(this.directory, QUICK);
    this.fills = new Stumbling(this.context.t, this.derived.fills, 0);
    this.tables = openPositions(this.directory, QUICK);
    this.writer = this.newWriter();
    t.after(async () => {
      await this.tables.root.close();
      await this.derived.root.close();
    });
  }

  get end(): number {
    return this.context.t.state[State.fills]!;
  }

  get reader(): PositionsReader {
    this.tables.root.resetReadTxn();
    return new PositionsReader(this.tables);
  }

  /** Derives up to a fill; throws what a write throws. */
  derive(end: number, isNewest = true): void {
    while (this.step(end, isNewest));
  }

  step(end: number, isNewest = true): boolean {
    this.now += LATER;
    return this.writer.step(this.fills, end, isNewest, this.now);
  }

  async restart(): Promise<void> {
    await this.tables.root.close();
    this.tables = openPositions(this.directory, QUICK);
    this.writer = this.newWriter();
  }

  /** Another byte in the stored row of a wallet. */
  async damage(account: number, token: number): Promise<void> {
    const key = walletKey(token, account);
    this.tables.root.resetReadTxn();
    const value = Buffer.from(this.tables.wallets.get(key)!);
    value[20]! ^= 4;
    await this.tables.wallets.put(key, value);
  }

  ledger(end: number): Ledger {
    const { t } = this.context;
    const ledger: Ledger = { entries: [], fees: new Map(), interest: new Map() };
    const add = (to: Map<number, bigint>, at: number, amount: bigint): void =>
      void to.set(at, (to.get(at) ?? 0n) + amount);
    for (let n = 0; n < end; n++) {
      const row = fillCopy(t, n);
      const i = Int32Array.from({ length: FILL_WORDS }, (_, w) => row.readInt32LE(4 * w));
      const f = (column: number): bigint => BigInt(row.readDoubleLE(8 * column));
      const [size, fee] = [f(Fill.size), f(Fill.fee)];
      const takerBuys = i[Fill.takerSide] === 0;
      const across = i[Fill.kind] !== MatchKind.complementary;
      const side = (account: number, token: number, buys: boolean, money: bigint, paid: bigint) =>
        ledger.entries.push({
          account,
          token,
          shares: buys ? size - paid : -size,
          cash: buys ? -money : money - paid,
        });
      const token = i[Fill.takerToken]!;
      side(i[Fill.taker]!, token, takerBuys, f(Fill.takerCollateral), fee);
      const makerBuys = across === takerBuys;
      side(i[Fill.maker]!, i[Fill.makerToken]!, makerBuys, f(Fill.makerCollateral), 0n);
      if (takerBuys) add(ledger.fees, token, fee);
      const market = t.tokenI[(token << TOKEN_I) + Token.market]!;
      if (across) add(ledger.interest, market, takerBuys ? size : -size);
    }
    return ledger;
  }

  /** Every position, holder and open interest is what the ledger says. */
  check(end: number): void {
    const { reader } = this;
    const { t } = this.context;
    const { entries, fees, interest } = this.ledger(end);
    const held = new Map<string, Entry[]>();
    for (const entry of entries) {
      const at = `${entry.account}/${entry.token}`;
      held.set(at, [...(held.get(at) ?? []), entry]);
    }
    const sums = new Map<number, bigint>();
    const found = Array.from({ length: t.state[State.accounts]! }, (_, account) =>
      reader.ofWallet(account + 1, 0, 1_000),
    ).flat();
    assert.equal(found.length, held.size, 'positions are those of the ledger');
    for (const position of found) {
      checkPosition(position, held.get(`${position.account}/${position.token}`)!);
      assert.deepEqual(reader.of(position.account, position.token), position);
      sums.set(position.token, (sums.get(position.token) ?? 0n) + position.net);
    }
    for (let token = 1; token <= t.state[State.tokens]!; token++) {
      const market = t.tokenI[(token << TOKEN_I) + Token.market]!;
      const outstanding = (sums.get(token) ?? 0n) + (fees.get(token) ?? 0n);
      assert.equal(outstanding, interest.get(market) ?? 0n, 'shares are conserved');
      assert.deepEqual(
        reader.inToken(token, 0, 1_000),
        found.filter((one) => one.token === token),
      );
    }
    for (let market = 1; market <= t.state[State.markets]!; market++) {
      assert(t.marketI[(market << MARKET_I) + Market.firstToken]! > 0);
      assert.equal(reader.interest(market), interest.get(market) ?? 0n);
    }
    const all = [...interest.values()].reduce((sum, shares) => sum + shares, 0n);
    assert.equal(reader.interest(0), all);
  }

  private newWriter(): PositionsWriter {
    const warn = (line: string): void => void this.warnings.push(line);
    const needRoom = (): void => assert(!this.isFull, 'the disk is full');
    return new PositionsWriter(this.context.t, this.tables, warn, needRoom);
  }
}

/** Sums are exact, also those of money; what is realised differs from fine division by its roundings. */
function checkPosition(position: Position, entries: readonly Entry[]): void {
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
  const bought = entries.filter(({ shares }) => shares > 0n);
  assert.equal(position.net, sum(entries.map(({ shares }) => shares)));
  assert.equal(position.realised - position.cost, sum(entries.map(({ cash }) => cash)));
  assert.equal(position.bought, sum(bought.map(({ shares }) => shares)));
  assert.equal(position.spent, -sum(bought.map(({ cash }) => cash)));
  if (position.net === 0n) assert.equal(position.cost, 0n);
  else assert(position.net > 0n ? position.cost >= 0n : position.cost <= 0n);
  let net = 0n;
  let cost = 0n;
  for (const { cash, shares } of entries) {
    const closes = net !== 0n && shares > 0n !== net > 0n;
    const size = (n: bigint): bigint => (n < 0n ? -n : n);
    const closing = !closes ? 0n : size(shares) < size(net) ? size(shares) : size(net);
    if (closing > 0n) cost -= (cost * closing) / size(net);
    cost -= ((size(shares) - closing) * cash * FINE) / size(shares);
    net += shares;
  }
  const rounded = position.cost * FINE - cost;
  const bound = BigInt(2 * entries.length) * FINE;
  assert(-bound <= rounded && rounded <= bound, `cost ${position.cost}, exactly ${cost} / ${FINE}`);
}

test('positions are those of a naive ledger, over restarts and failed writes', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    assert(stage.end > 500, 'the day has trades');
    stage.derive(0);
    for (let end = 0; end < stage.end; ) {
      end = Math.min(stage.end, end + 1 + random.below(400));
      let isDerived = false;
      if (random.chance(30)) {
        stage.fills.left = random.below(200);
        try {
          stage.derive(end);
          isDerived = true;
        } catch (error) {
          assert.match(String(error), /disk is full/);
        }
        stage.fills.left = Number.POSITIVE_INFINITY;
      }
      if (random.chance(30)) await stage.restart();
      stage.isFull = random.chance(20) && !isDerived;
      if (stage.isFull) assert.throws(() => stage.derive(end), /disk is full/);
      stage.isFull = false;
      stage.derive(end);
      if (random.chance(20)) stage.check(end);
    }
    stage.check(stage.end);
    assert.deepEqual(stage.warnings, []);
  }));

test('damage, and positions of another log, are derived again; meanwhile nothing is told', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    stage.derive(stage.end);
    const [{ account, token }] = stage.ledger(stage.end).entries as [Entry];
    await stage.damage(account, token);
    assert.throws(() => stage.reader.of(account, token), PositionsUnready);
    assert.throws(() => stage.reader.ofWallet(account, 0, 100), PositionsUnready);
    // The reader's word reaches the writer by the disk.
    while (stage.reader.isComplete()) await new Promise(setImmediate);
    assert(stage.step(stage.end));
    assert(!stage.reader.isComplete());
    stage.derive(stage.end);
    assert(stage.reader.isComplete());
    stage.check(stage.end);

    await stage.damage(account, token);
    // The writer comes upon it, sooner or later, where somebody trades.
    await stage.restart();
    stage.derive(stage.end - 1, true);
    assert.match(stage.warnings.at(-1)!, /deriving fills 0 to/);
    stage.check(stage.end - 1);
    stage.derive(stage.end);
    stage.check(stage.end);
  }));

test('of a log that holds nothing all positions are told at once; what is begun stays as it is', (t) => {
  const tables = openPositions(directoryOf(t), QUICK);
  const reader = new PositionsReader(tables);
  assert.throws(() => reader.interest(0), PositionsUnready);
  beginPositions(tables);
  assert.equal(reader.interest(0), 0n);
  assert.equal(reader.of(1, 1), undefined);
  tables.root.transactionSync(() => putMark(tables, { end: 3, complete: 5, crc: 7 }));
  beginPositions(tables);
  assert.deepEqual(readMark(tables), { end: 3, complete: 5, crc: 7 });
  void tables.root.close();
});

test('a damaged row where nothing may be written is not told either', async (t) => {
  const dataDir = directoryOf(t);
  const tables = openPositions(dataDir, QUICK);
  const [key, value] = [walletKey(1, 1), encodePosition(walletKey(1, 1), newPosition())];
  value[9]! ^= 1;
  tables.root.transactionSync(() => {
    putMark(tables, { end: 1, complete: 0, crc: 0 });
    void tables.wallets.put(key, value);
  });
  await tables.root.close();
  const readOnly = openPositions(dataDir, { ...QUICK, readOnly: true });
  assert.throws(() => new PositionsReader(readOnly).of(1, 1), PositionsUnready);
  await readOnly.root.close();
});

test('a row keeps sums of any size', () => {
  const key = walletKey(3, 4);
  for (const large of [0n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 100n)]) {
    const position = { net: large, cost: -large, realised: 7n, bought: 2n, spent: 1n, time: 5 };
    assert.deepEqual(decodePosition(key, encodePosition(key, position)), position);
  }
});

test('what is closed takes its part of the cost along, what is left over opens anew', () => {
  const p = newPosition();
  trade(p, true, 10n, 4n);
  trade(p, true, 5n, 3n);
  assert.deepEqual([p.net, p.cost, p.realised], [15n, 7n, 0n]);
  trade(p, false, 6n, 5n);
  // 6 of 15 had cost 2.8, of which 2 are taken: the rest stays with the rest.
  assert.deepEqual([p.net, p.cost, p.realised], [9n, 5n, 3n]);
  trade(p, false, 12n, 8n);
  // 9 of 12 for 6 close, 3 for 2 are sold short.
  assert.deepEqual([p.net, p.cost, p.realised], [-3n, -2n, 4n]);
  trade(p, true, 3n, 1n);
  assert.deepEqual([p.net, p.cost, p.realised], [0n, 0n, 5n]);
  assert.deepEqual([p.bought, p.spent], [18n, 8n]);
});
