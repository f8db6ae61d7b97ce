/** Rebates of a day, against sums of the fills (docs/ledger.md#rebates). */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { audit } from '../../engine/audit.ts';
import {
  CommandBuffer,
  encodeFunds,
  type FundsFields,
  type FundsKind,
} from '../../engine/commands.ts';
import { cashTotal, ledgerTotals } from '../../engine/ledger/reads.ts';
import { findRequest } from '../../engine/ledger/requests.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import {
  FILL_BYTES,
  fillCount,
  fillFeeCollateral,
  fillMaker,
  fillRow,
  fillTakerToken,
  fillTime,
  tokenMarket,
} from '../../engine/reads.ts';
import { Simulator } from '../../engine/simulator.ts';
import { DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import type { AccountRow, TokenRow } from '../../engine/tables/units.ts';
import type { LedgerOutcome } from '../../server/wallet/ledger-commands.ts';
import { dateOf, dayOf, lastWholeDay, payRebates } from '../../server/wallet/rebate-payments.ts';
import { Projections } from '../../storage/projection/environment.ts';
import { DAY_MS } from '../../storage/projection/periods.ts';
import { ProjectionUnready, RebatesReader } from '../../storage/projection/reader.ts';
import type { Random } from '../common/random.ts';
import { directoryOf, seeded } from '../storage/stored-exchange.ts';

const SHARE = 1_000_000;
const DAY = 20_000;
const QUICK = { durability: 'committed', readOnly: false } as const;
const TRADERS = [1, 2, 3, 4, 5];

class Stage {
  readonly sim = new Simulator(
    {
      ...DEFAULT_CAPACITIES,
      markets: 8,
      tokens: 16,
      accounts: 64,
      orders: 4_096,
      levels: 4_096,
      trades: 8_192,
      history: 4_096,
      positions: 64,
      operatorIds: 64,
    },
    { ledger: true },
  );
  readonly tokens: readonly TokenRow[];
  readonly projections: Projections;
  readonly rebates: RebatesReader;
  /** Commits batches that are under way; false = they are lost. */
  commit = (): boolean => true;
  private readonly out = new CommandBuffer();
  private time = 0;

  constructor(t: TestContext) {
    this.projections = new Projections(directoryOf(t), QUICK);
    t.after(() => this.projections.close());
    this.rebates = new RebatesReader(this.projections);
    this.at(DAY * DAY_MS);
    const fees = { rate: 70_000, exponent: 1, rebate: 333_333 };
    const other = { rate: 50_000, exponent: 2, rebate: 1_000_000 };
    this.tokens = [fees, other].map((each) => this.sim.addMarket({ fees: each })[0]!);
    for (const trader of TRADERS) {
      this.sim.deposit(trader, 100_000 * SHARE);
      for (const token of this.tokens) this.sim.split(trader, token, 10_000 * SHARE);
    }
  }

  get t() {
    return this.sim.engine.t;
  }

  at(time: number): void {
    this.time = time;
    this.sim.at(time);
  }

  trade(random: Random, day: number): void {
    this.at(Math.max(this.time, day * DAY_MS + random.below(1_000)));
    for (let i = 0; i < 300; i++) {
      const token = random.pick(this.tokens);
      const [account, side] = [random.pick(TRADERS), random.pick(['buy', 'sell'] as const)];
      const order = { account, token, side, ticks: random.between(40, 60) };
      this.sim.place({ ...order, size: 100 * random.between(1, 200_000) });
    }
  }

  /** Places orders until one is filled. */
  order(random: Random, day: number): void {
    this.at(day * DAY_MS + 1_000);
    for (const before = fillCount(this.t); fillCount(this.t) === before; ) {
      const [account, side] = [random.pick(TRADERS), random.pick(['buy', 'sell'] as const)];
      this.sim.place({ account, token: this.tokens[0]!, side, ticks: 50, size: 100 * SHARE });
    }
  }

  project(): void {
    const { t } = this;
    const from = this.projections.position()?.end ?? 0;
    const end = fillCount(t);
    assert(end <= t.fillRows, 'each fill has its own row');
    const fillI = t.fillI.subarray((from * FILL_BYTES) / 4);
    const fillF = t.fillF.subarray((from * FILL_BYTES) / 8);
    const fillAt = () => undefined;
    const events = { tables: t, count: end - from, fillI, fillF, fillAt, entries: [] };
    this.projections.write(events, { end, entries: 0, isWhole: true, crc: 0 });
    this.projections.root.resetReadTxn();
  }

  pay(day: number) {
    const fundsOf = (kind: FundsKind, all: readonly FundsFields[]) =>
      Promise.resolve(all.map((fields) => this.apply(kind, fields)));
    const whenCommitted = () => Promise.resolve(this.commit());
    return payRebates(
      {
        t: this.t,
        ledger: { fundsOf, whenCommitted },
        rebates: this.rebates,
        tradesEnd: () => fillCount(this.t),
        now: () => (day + 1) * DAY_MS + 1,
      },
      day,
    );
  }

  cash(account: number): number {
    return cashTotal(this.t, account as AccountRow);
  }

  /** Sums that accounts are owed for a day, by the fills. */
  owed(day: number): Map<number, number> {
    const { t } = this;
    const owed = new Map<number, number>();
    const rebates = [333_333n, 1_000_000n];
    for (let fill = 0; fill < fillCount(t); fill++) {
      const row = fillRow(t, fill);
      if (Math.floor(fillTime(t, row) / DAY_MS) !== day) continue;
      const market = tokenMarket(t, fillTakerToken(t, row));
      const fee = BigInt(fillFeeCollateral(t, row));
      const amount = Number((fee * rebates[market - 1]!) / 1_000_000n);
      if (amount > 0) owed.set(fillMaker(t, row), (owed.get(fillMaker(t, row)) ?? 0) + amount);
    }
    return owed;
  }

  private apply(kind: FundsKind, fields: FundsFields): LedgerOutcome {
    const { engine } = this.sim;
    this.out.clear();
    const at = encodeFunds(this.out, kind, fields);
    const { time } = this;
    engine.begin(time, 0);
    const reason: RejectReasonCode = engine.apply(this.out.i32, this.out.f64, at);
    engine.end();
    const first = findRequest(this.t, this.out.i32, this.out.f64, at, time);
    if (reason === RejectReason.accepted || reason === RejectReason.idRepeated)
      return { kind: 'done', isRepeated: reason !== RejectReason.accepted, first };
    assert.equal(reason, RejectReason.notEnough);
    const refusal = { status: 400, text: 'not enough', first: undefined, explanation: undefined };
    return { kind: 'refused', reason, ...refusal } as LedgerOutcome;
  }
}

test('each maker is paid its part of the fees of a day once, out of the fees of the venue', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t);
    for (const day of [DAY, DAY + 1]) stage.trade(random, day);
    stage.at((DAY + 2) * DAY_MS);
    stage.project();
    for (const day of [DAY, DAY + 1]) {
      const owed = stage.owed(day);
      assert(owed.size > 3, 'there are makers');
      const before = new Map([...owed.keys()].map((account) => [account, stage.cash(account)]));
      const { fees } = ledgerTotals(stage.t);
      const sum = [...owed.values()].reduce((a, b) => a + b, 0);
      assert.deepEqual(await stage.pay(day), { paid: owed.size, repeated: 0, amount: sum });
      for (const [account, amount] of owed)
        assert.equal(stage.cash(account), before.get(account)! + amount);
      assert.equal(ledgerTotals(stage.t).fees, fees - sum);
      assert.deepEqual(await stage.pay(day), { paid: 0, repeated: owed.size, amount: 0 });
      for (const account of owed.keys()) {
        const rows = stage.rebates.ofAccount(day, account, 1_000);
        assert.deepEqual(stage.rebates.ofAccount(day, account, 1), rows.slice(0, 1));
        assert.equal(Number(rows.reduce((a, row) => a + row.amount, 0n)), owed.get(account));
      }
    }
    audit(stage.t);
  }));

test('fees that do not suffice stop the payment, which goes on when there are more', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t);
    stage.trade(random, DAY);
    stage.at((DAY + 1) * DAY_MS);
    stage.project();
    const owed = [...stage.owed(DAY)].sort(([a], [b]) => a - b);
    const all = owed.reduce((sum, [, amount]) => sum + amount, 0);
    // One micro-unit short: only the last wallet is not paid.
    const [last, unpaid] = owed.at(-1)!;
    const { fees } = ledgerTotals(stage.t);
    assert.equal(stage.sim.drawFees(fees - all + 1), RejectReason.accepted);
    const cash = stage.cash(last);
    const { stopped, ...counts } = await stage.pay(DAY);
    assert.deepEqual(counts, { paid: owed.length - 1, repeated: 0, amount: all - unpaid });
    assert.deepEqual([stopped?.account, stopped?.outcome.kind], [last, 'refused']);
    assert.equal(stage.cash(last), cash);
    stage.trade(random, DAY + 1);
    stage.project();
    const before = stage.cash(last);
    const more = await stage.pay(DAY);
    assert.deepEqual(more, { paid: 1, repeated: owed.length - 1, amount: unpaid });
    assert.equal(stage.cash(last), before + unpaid);
    audit(stage.t);
  }));

test('a wallet behind one that waits for fees counts as paid where it was', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t);
    stage.trade(random, DAY);
    stage.at((DAY + 1) * DAY_MS);
    stage.project();
    const owed = [...stage.owed(DAY)].sort(([a], [b]) => a - b);
    const smallest = Math.min(...owed.map(([, amount]) => amount));
    assert.equal(stage.sim.drawFees(ledgerTotals(stage.t).fees - smallest), RejectReason.accepted);
    const { amount, paid } = await stage.pay(DAY);
    assert.deepEqual([paid, amount], [1, smallest]);
  }));

test('a day is paid while fills of the next one arrive faster than they are projected', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t);
    stage.trade(random, DAY);
    const owed = stage.owed(DAY);
    let rounds = 0;
    const arriving = setInterval(() => {
      stage.project();
      // The table of fills ends before rounds do.
      if (rounds < 20) stage.order(random, DAY + 1);
      rounds += 1;
    }, 20);
    t.after(() => clearInterval(arriving));
    stage.order(random, DAY + 1);
    const { paid, repeated } = await stage.pay(DAY);
    assert(rounds < 20, 'fills still arrive');
    assert.deepEqual([paid, repeated], [owed.size, 0]);
  }));

test('a batch that is under way at midnight counts for the day that it is of', (t) =>
  seeded(async (random) => {
    const stage = new Stage(t);
    stage.trade(random, DAY);
    stage.project();
    const early = stage.owed(DAY);
    stage.commit = () => {
      stage.trade(random, DAY);
      stage.project();
      stage.at((DAY + 1) * DAY_MS);
      return true;
    };
    const { amount } = await stage.pay(DAY);
    const sum = (owed: Map<number, number>) => [...owed.values()].reduce((a, b) => a + b, 0);
    assert.equal(amount, sum(stage.owed(DAY)));
    assert(amount > sum(early), 'the last batch adds to it');
    stage.commit = () => false;
    await assert.rejects(stage.pay(DAY), ProjectionUnready);
  }));

test('a date is a day of UTC that exists', () => {
  assert.equal(dayOf('1970-01-02'), 1);
  assert.deepEqual(['2027-02-29', '2027-13-01', '1969-12-31', 'x'].map(dayOf), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(dateOf(dayOf('2028-02-29')!), '2028-02-29');
  assert.equal(dateOf(lastWholeDay(Date.parse('2027-02-01T00:00:00Z'))), '2027-01-31');
});
