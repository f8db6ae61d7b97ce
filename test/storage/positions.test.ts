/**
 * Positions against a naive ledger over random trading days: fees, mints, merges, wallets that sell
 * shares from elsewhere, restarts, failed writes and damage. And the rules of money by hand.
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
import { withChecksum } from '../../storage/kv/checksum.ts';
import { openTable } from '../../storage/kv/lmdb.ts';
import { openDerivedTables } from '../../storage/projection/derived.ts';
import { Projections } from '../../storage/projection/environment.ts';
import { fillCopier, fillCopy } from '../../storage/projection/fills.ts';
import {
  decodePosition,
  encodePosition,
  newPosition,
  type Position,
  trade,
  walletKey,
} from '../../storage/projection/position-rows.ts';
import { Projector } from '../../storage/projection/projector.ts';
import { PositionsReader, ProjectionUnready } from '../../storage/projection/reader.ts';
import type { Random } from '../common/random.ts';
import { directoryOf, Exchange, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

const QUICK = { durability: 'committed', readOnly: false } as const;
/** Units of a micro-unit in which the naive ledger divides. */
const FINE = 10n ** 30n;

/** Tables that fills fill. */
const TABLES = [
  ...['wallets', 'tokens', 'interest', 'prices', 'totals', 'hours', 'meta'],
  ...['results', 'result-hours', 'ranks', 'rebates'],
];

/** Milliseconds after which everything that waits is due. */
const LATER = 100_000;

interface Entry {
  readonly account: number;
  readonly token: number;
  /** Micro-units net of fees; received ones are positive. */
  readonly shares: bigint;
  readonly cash: bigint;
  /** Collateral on top of what a purchase cost. */
  readonly fee: bigint;
  /** Unix milliseconds. */
  readonly time: number;
}

interface Ledger {
  readonly entries: Entry[];
  /** Fees in shares by token, and minted less merged by market. */
  readonly fees: Map<number, bigint>;
  readonly interest: Map<number, bigint>;
}

class Stage {
  readonly context = new Exchange({ ...TIGHT, orders: 5_000, trades: 20_000, history: 5_000 });
  readonly directory: string;
  readonly warnings: string[] = [];
  /** True: transactions find no room. */
  isFull = false;
  /** True: the next transaction fails after most of its rows. */
  breaks = false;
  projections: Projections;
  private readonly derived;
  private now = 0;
  private projector: Projector;

  constructor(t: TestContext, random: Random) {
    for (const batch of tradingDay(random, 4_000, 0)) this.context.apply(batch);
    this.directory = directoryOf(t);
    this.derived = openDerivedTables(this.directory, QUICK);
    const copy = fillCopier(this.context.t);
    this.derived.root.transactionSync(() => this.derived.fills.put(0, this.end, copy));
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector();
    t.after(async () => {
      await this.projections.close();
      await this.derived.root.close();
    });
  }

  get end(): number {
    return this.context.t.state[State.fills]!;
  }

  get reader(): PositionsReader {
    this.projections.root.resetReadTxn();
    return new PositionsReader(this.projections);
  }

  /** Derives up to a fill; throws errors of a write. */
  derive(end: number, isNewest = true): void {
    while (this.step(end, isNewest));
  }

  step(end: number, isNewest = true): boolean {
    this.now += LATER;
    return this.projector.step(this.derived, { fills: end, entries: 0 }, isNewest, this.now);
  }

  async restart(): Promise<void> {
    await this.projections.close();
    this.projections = new Projections(this.directory, QUICK);
    this.projector = this.newProjector();
  }

  async damage(account: number, token: number): Promise<void> {
    const wallets = openTable(this.projections.root, 'wallets');
    const key = walletKey(token, account);
    this.projections.root.resetReadTxn();
    const value = Buffer.from(wallets.get(key)!);
    value[20]! ^= 4;
    await wallets.put(key, value);
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
      const isScheduled = (i[Fill.terms]! & 1) === 1;
      const across = i[Fill.kind] !== MatchKind.complementary;
      const side = (account: number, token: number, buys: boolean, money: bigint, paid: bigint) =>
        ledger.entries.push({
          account,
          token,
          shares: buys && !isScheduled ? size - paid : buys ? size : -size,
          cash: buys ? -money : money - paid,
          fee: buys && isScheduled ? paid : 0n,
          time: row.readDoubleLE(8 * Fill.time),
        });
      const token = i[Fill.takerToken]!;
      side(i[Fill.taker]!, token, takerBuys, f(Fill.takerCollateral), fee);
      const makerBuys = across === takerBuys;
      side(i[Fill.maker]!, i[Fill.makerToken]!, makerBuys, f(Fill.makerCollateral), 0n);
      if (takerBuys && !isScheduled) add(ledger.fees, token, fee);
      const market = t.tokenI[(token << TOKEN_I) + Token.market]!;
      if (across) add(ledger.interest, market, takerBuys ? size : -size);
    }
    return ledger;
  }

  /** Checks every position, holder and open interest against the ledger. */
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

  /** Checks that all rows equal those of an uninterrupted run. */
  async checkRows(t: TestContext): Promise<void> {
    const directory = directoryOf(t);
    const projections = new Projections(directory, QUICK);
    const { t: tables } = this.context;
    const nothing = (): void => undefined;
    const whole = new Projector({ tables, projections, warn: nothing, needRows: nothing });
    let now = 0;
    do now += LATER;
    while (whole.step(this.derived, { fills: this.end, entries: 0 }, true, now));
    this.projections.root.resetReadTxn();
    for (const name of TABLES) {
      const [own, others] = [this.projections, projections].map(({ root }) => [
        ...openTable(root, name).getRange(),
      ]);
      // Few fills of some days have a rebate, and those of others none.
      assert(others!.length > 0 || name === 'rebates', name);
      assert.deepEqual(own, others, name);
    }
    await projections.close();
  }

  private newProjector(): Projector {
    const { t } = this.context;
    const { projections } = this;
    const warn = (line: string): void => void this.warnings.push(line);
    const needRows = (): void => assert(!this.isFull, 'the disk is full');
    const { volumes } = projections;
    const apply = volumes.apply.bind(volumes);
    volumes.apply = (events) => {
      apply(events);
      if (this.breaks) throw new Error('the disk is full');
    };
    return new Projector({ tables: t, projections, warn, needRows });
  }
}

/**
 * Checks a position: sums are exact, also those of money; realised profit differs from fine
 * division by its roundings.
 */
function checkPosition(position: Position, entries: readonly Entry[]): void {
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
  const bought = entries.filter(({ shares }) => shares > 0n);
  assert.equal(position.net, sum(entries.map(({ shares }) => shares)));
  assert.equal(
    position.realised - position.cost - position.fees,
    sum(entries.map(({ cash, fee }) => cash - fee)),
  );
  assert.equal(position.bought, sum(bought.map(({ shares }) => shares)));
  assert.equal(position.spent, -sum(bought.map(({ cash }) => cash)));
  assert(position.fees >= 0n);
  if (position.net === 0n) assert.deepEqual([position.cost, position.fees], [0n, 0n]);
  else assert(position.net > 0n ? position.cost >= 0n : position.cost <= 0n);
  let net = 0n;
  let cost = 0n;
  let opened = 0;
  for (const { cash, shares, time } of entries) {
    const closes = net !== 0n && shares > 0n !== net > 0n;
    const size = (n: bigint): bigint => (n < 0n ? -n : n);
    const closing = !closes ? 0n : size(shares) < size(net) ? size(shares) : size(net);
    if (closing > 0n) cost -= (cost * closing) / size(net);
    cost -= ((size(shares) - closing) * cash * FINE) / size(shares);
    const isOpener = net === 0n ? shares !== 0n : (net + shares) * net < 0n;
    if (isOpener) opened = time;
    net += shares;
  }
  assert.deepEqual([position.opened, position.time], [opened, entries.at(-1)!.time]);
  const rounded = position.cost * FINE - cost;
  const bound = BigInt(2 * entries.length) * FINE;
  assert(-bound <= rounded && rounded <= bound, `cost ${position.cost}, exactly ${cost} / ${FINE}`);
}

test('positions equal those of a naive ledger, over restarts and failed writes', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    assert(stage.end > 500, 'the day has trades');
    stage.derive(0);
    for (let end = 0; end < stage.end; ) {
      end = Math.min(stage.end, end + 1 + random.below(400));
      stage.breaks = random.chance(30);
      if (stage.breaks) assert.throws(() => stage.derive(end), /disk is full/);
      stage.breaks = false;
      if (random.chance(30)) await stage.restart();
      stage.isFull = random.chance(20);
      if (stage.isFull) assert.throws(() => stage.derive(end), /disk is full/);
      stage.isFull = false;
      stage.derive(end);
      if (random.chance(20)) stage.check(end);
    }
    stage.check(stage.end);
    await stage.checkRows(t);
    assert.deepEqual(stage.warnings, []);
  }));

test('positions are rebuilt after damage, and unavailable meanwhile', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    stage.derive(stage.end);
    stage.warnings.length = 0;
    const [{ account, token }] = stage.ledger(stage.end).entries as [Entry];
    await stage.damage(account, token);
    assert.throws(() => stage.reader.of(account, token), ProjectionUnready);
    assert.throws(() => stage.reader.ofWallet(account, 0, 100), ProjectionUnready);
    // The reader's word reaches the follower by the disk.
    while (stage.reader.isComplete()) await new Promise(setImmediate);
    assert(stage.step(stage.end));
    assert(!stage.reader.isComplete());
    stage.derive(stage.end);
    assert(stage.reader.isComplete());
    stage.check(stage.end);
    assert.deepEqual(stage.warnings.splice(0), [madeAgain(stage.end)]);

    // The follower comes upon it where somebody trades.
    stage.projections.empty(false);
    stage.derive(stage.end - 1);
    const last = stage.ledger(stage.end).entries.at(-1) as Entry;
    const found = stage.reader.of(last.account, last.token);
    if (found !== undefined) await stage.damage(last.account, last.token);
    await stage.restart();
    stage.derive(stage.end);
    stage.check(stage.end);
    const said = ['projections: a row of positions is damaged', madeAgain(stage.end)];
    assert.deepEqual(stage.warnings, found === undefined ? [] : said);
  }));

function madeAgain(end: number): string {
  return `projections: made again from fills 0 to ${end - 1}`;
}

test('rows of other formats are rebuilt', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    stage.derive(stage.end);
    const position = Buffer.from('position');
    const meta = openTable(stage.projections.root, 'meta');
    const value = Buffer.from(meta.get(position)!);
    const text = value.toString('latin1');
    assert.match(
      text,
      /positions 4,prices 2,volumes 3,statements 1,results 3,rebates 1,forecasts 2$/,
    );
    await meta.put(
      position,
      withChecksum(position, Buffer.from(text.replace('s 4', 's 3'), 'latin1')),
    );
    await stage.restart();
    assert(!stage.reader.isComplete());
    stage.warnings.length = 0;
    stage.derive(stage.end);
    assert.deepEqual(stage.warnings, [madeAgain(stage.end)]);
    stage.check(stage.end);
  }));

test('positions are unavailable while the projector lacks fills from before its start, and complete afterwards', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t, random);
    stage.derive(200, false);
    assert(!stage.reader.isComplete());
    stage.derive(stage.end, false);
    assert(!stage.reader.isComplete());
    stage.derive(stage.end);
    stage.check(stage.end);
  }));

test('a damaged row is unavailable when nothing may be written', async (t) => {
  const dataDir = directoryOf(t);
  const projections = new Projections(dataDir, QUICK);
  const [key, value] = [walletKey(1, 1), encodePosition(walletKey(1, 1), newPosition())];
  value[9]! ^= 1;
  projections.root.transactionSync(() => {
    projections.putPosition({ end: 1, entries: 0, isWhole: true, crc: 0 });
    void openTable(projections.root, 'wallets').put(key, value);
  });
  await projections.close();
  const readOnly = new Projections(dataDir, { ...QUICK, readOnly: true });
  assert.throws(() => new PositionsReader(readOnly).of(1, 1), ProjectionUnready);
  await readOnly.close();
});

test('a row keeps sums of any size', () => {
  const key = walletKey(3, 4);
  for (const large of [0n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 100n)]) {
    const position = {
      net: large,
      cost: -large,
      realised: 7n,
      bought: 2n,
      spent: 1n,
      fees: large,
      time: 5,
      opened: 4,
    };
    assert.deepEqual(decodePosition(key, encodePosition(key, position)), position);
  }
});

test('closed shares take their part of the cost, and a remainder opens a new position', () => {
  const p = newPosition();
  trade(p, true, 10n, 4n, 1);
  trade(p, true, 5n, 3n, 2);
  assert.deepEqual([p.net, p.cost, p.realised], [15n, 7n, 0n]);
  trade(p, false, 6n, 5n, 3);
  // 6 of 15 had cost 2.8, of which 2 are taken: the rest stays with the rest.
  assert.deepEqual([p.net, p.cost, p.realised], [9n, 5n, 3n]);
  trade(p, false, 12n, 8n, 4);
  // 9 of 12 for 6 close, 3 for 2 are sold short.
  assert.deepEqual([p.net, p.cost, p.realised], [-3n, -2n, 4n]);
  trade(p, true, 3n, 1n, 5);
  assert.deepEqual([p.net, p.cost, p.realised], [0n, 0n, 5n]);
  assert.deepEqual([p.bought, p.spent], [18n, 8n]);
});

test('a position is opened by the fill that begins it, or that turns it to the other side', () => {
  const p = newPosition();
  const openedBy = (isBuy: boolean, shares: bigint, time: number): number => {
    trade(p, isBuy, shares, shares, time);
    assert.equal(p.time, time);
    return p.opened;
  };
  assert.equal(openedBy(true, 0n, 1), 0, 'all shares of a purchase are its fee');
  assert.equal(openedBy(true, 10n, 2), 2);
  assert.equal(openedBy(false, 4n, 3), 2);
  assert.equal(openedBy(false, 6n, 4), 2, 'a closed one keeps it');
  assert.equal(openedBy(true, 5n, 5), 5);
  assert.equal(openedBy(false, 8n, 6), 6, 'sold short');
  assert.equal(openedBy(true, 1n, 7), 6);
  assert.equal(openedBy(true, 4n, 8), 8);
});

test('closed shares take their part of the fees, which lessens the realised profit', () => {
  const p = newPosition();
  trade(p, true, 10n, 40n, 6, 5n);
  assert.deepEqual([p.net, p.cost, p.fees, p.realised], [10n, 40n, 5n, 0n]);
  trade(p, false, 4n, 20n, 7);
  assert.deepEqual([p.net, p.cost, p.fees, p.realised], [6n, 24n, 3n, 2n]);
  trade(p, false, 8n, 32n, 8);
  assert.deepEqual([p.net, p.cost, p.fees, p.realised], [-2n, -8n, 0n, -1n]);
  trade(p, true, 4n, 12n, 9, 8n);
  assert.deepEqual([p.net, p.cost, p.fees, p.realised], [2n, 6n, 4n, -3n]);
});
