/** Rebates that a node pays by itself after midnight (docs/ledger.md#rebates). */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { FundsFields, FundsKind } from '../../engine/commands.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { Simulator } from '../../engine/simulator.ts';
import { DailyRebates } from '../../server/node/daily-rebates.ts';
import type { LedgerOutcome } from '../../server/wallet/ledger-commands.ts';
import { DAY_MS } from '../../storage/projection/periods.ts';
import type { Rebate } from '../../storage/projection/rebates.ts';
import { until } from '../common/node-harness.ts';

const MINUTE_MS = 60_000;
const DAY = 20_000;
const SHARE = 1_000_000;
const REFUSED = { kind: 'refused', text: 'not enough' } as LedgerOutcome;

class Stage {
  now = DAY * DAY_MS + DAY_MS / 2;
  leads = true;
  /** Rebates of each day, one for each account. */
  accounts: readonly number[] = [];
  /** Accounts whose payment is refused. */
  poor = new Set<number>();
  isProjected = true;
  /** Ids of payments that were sent, one list for each batch. */
  readonly sent: string[][] = [];
  readonly lines: string[] = [];
  readonly daily: DailyRebates;
  private readonly sim = new Simulator(undefined, { ledger: true });
  private readonly paid = new Set<string>();
  private readonly context: TestContext;

  constructor(t: TestContext, more: Partial<Stage> = {}) {
    this.context = t;
    Object.assign(this, more);
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { sim } = this;
    for (const account of [1, 2, 3]) sim.deposit(account, SHARE);
    this.daily = new DailyRebates({
      t: sim.engine.t,
      ledger: {
        fundsOf: (kind, all) => Promise.resolve(this.pay(kind, all)),
        whenCommitted: () => Promise.resolve(true),
      },
      rebates: {
        reaches: () => this.isProjected,
        ofDay: (_day, { account, market }): Rebate[] =>
          this.accounts
            .filter((each) => each > account || (each === account && market === 0))
            .map((each) => ({ account: each, market: 1, amount: 1_500_000n })),
      },
      tradesEnd: () => 0,
      now: () => this.now,
      leads: () => this.leads,
      log: (level, line) => this.lines.push(`${level} ${line}`),
    });
    t.after(() => this.daily.close());
  }

  /** Lets minutes pass, one look of the timer after the other. */
  async minutes(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.now += MINUTE_MS;
      this.context.mock.timers.tick(MINUTE_MS);
      await this.quiet();
    }
  }

  /** Resolves once a payment that is not held up is over. */
  async quiet(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  }

  private pay(kind: FundsKind, all: readonly FundsFields[]): LedgerOutcome[] {
    assert.equal(kind, 'payRebate');
    this.sent.push(all.map(({ id }) => JSON.stringify(id)));
    return all.map((fields) => {
      const id = JSON.stringify(fields.id);
      const account = findAccount(this.sim.engine.t, fields.wallet!, 0);
      if (this.poor.has(account)) return REFUSED;
      const isRepeated = this.paid.has(id);
      this.paid.add(id);
      return { kind: 'done', isRepeated, first: { amount: 1_500_000 } } as LedgerOutcome;
    });
  }
}

test('a start pays the day before, and each midnight the one that it ends, once', async (t) => {
  const stage = new Stage(t, { accounts: [1, 2] });
  await stage.quiet();
  assert.deepEqual(stage.lines, ['info rebates of 2024-10-03: 3 to 2 wallets']);
  await stage.minutes(3);
  assert.equal(stage.sent.length, 1, 'a paid day is left alone');
  stage.now = (DAY + 1) * DAY_MS - MINUTE_MS - 1;
  await stage.minutes(1);
  assert.equal(stage.sent.length, 1, 'one millisecond before midnight');
  await stage.minutes(1);
  assert.deepEqual(stage.lines.slice(1), ['info rebates of 2024-10-04: 3 to 2 wallets']);
  assert.notDeepEqual(stage.sent[1], stage.sent[0], 'ids are of the day');
});

test('a node that does not lead pays nothing until it does', async (t) => {
  const stage = new Stage(t, { accounts: [1], leads: false });
  await stage.minutes(3);
  assert.deepEqual([stage.sent, stage.lines], [[], []]);
  stage.leads = true;
  await stage.minutes(1);
  assert.equal(stage.sent.length, 1);
});

test('fees that do not suffice are told once a day, and only unpaid wallets are tried again', async (t) => {
  const stage = new Stage(t, { accounts: [1, 2, 3], poor: new Set([3]) });
  await stage.quiet();
  await stage.minutes(4);
  const waits = 'warn rebates of 2024-10-03 wait: not enough';
  assert.deepEqual(stage.lines, ['info rebates of 2024-10-03: 3 to 2 wallets', waits]);
  assert.deepEqual(
    stage.sent.map(({ length }) => length),
    [3, 1, 1, 1, 1],
  );
  stage.poor.clear();
  await stage.minutes(2);
  assert.equal(stage.lines.at(-1), 'info rebates of 2024-10-03: 1.5 to 1 wallets');
  assert.equal(stage.sent.length, 6);
  stage.poor.add(3);
  stage.now += DAY_MS;
  await stage.minutes(2);
  assert.deepEqual(stage.lines.slice(3), [
    'info rebates of 2024-10-04: 3 to 2 wallets',
    'warn rebates of 2024-10-04 wait: not enough',
  ]);
});

test('a close ends a payment that waits for the projection, which is no warning', async (t) => {
  const stage = new Stage(t, { accounts: [1], isProjected: false });
  await stage.quiet();
  await stage.daily.close();
  assert.deepEqual([stage.sent, stage.lines], [[], []]);
  stage.isProjected = true;
  await stage.minutes(2);
  assert.deepEqual(stage.sent, [], 'the timer has ended');
});

test('a payment goes on once the fills of its day are projected', async (t) => {
  const stage = new Stage(t, { accounts: [1], isProjected: false });
  await stage.minutes(1);
  assert.deepEqual(stage.sent, []);
  stage.isProjected = true;
  await until(() => stage.lines.length > 0);
  assert.deepEqual(stage.lines, ['info rebates of 2024-10-03: 1.5 to 1 wallets']);
});
