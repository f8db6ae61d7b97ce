import assert from 'node:assert/strict';
import test from 'node:test';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { State } from '../../engine/tables/layout.ts';
import { recover } from '../../storage/recovery/recover.ts';
import { SnapshotFiles } from '../../storage/snapshot/snapshots.ts';
import type { Random } from '../common/random.ts';
import { FakeLog, type FakeStore } from './fake-log.ts';
import { appended, directoryOf, Exchange, seeded, TIGHT, tradingDay } from './stored-exchange.ts';

const FULL: Capacities = { ...TIGHT, orders: 40, history: 30 };
const DAYS = 3;

async function trade(random: Random, store: FakeStore): Promise<Exchange> {
  const context = new Exchange(FULL);
  const log = new FakeLog(store);
  await appended(log, context.configure(0));
  // Markets do not end: orders fill the rows.
  for (const batch of tradingDay(random, 900, 0)) {
    await appended(log, context.apply(batch));
    // It only forgets the ids whose final states have come to the disk meanwhile.
    await appended(log, context.apply({ ...batch, commands: [] }));
  }
  assert.equal(context.t.state[State.orderRows], FULL.orders + FULL.history);
  return context;
}

test('a full log replays in larger tables, and is refused in smaller ones, which are named', (t) =>
  seeded(async (random) => {
    const snapshots = new SnapshotFiles(directoryOf(t), 'committed');
    for (let day = 0; day < DAYS; day++) {
      const store: FakeStore = { entries: [] };
      const { state } = (await trade(random, store)).t;
      const check = (change: Partial<Capacities>): void => {
        const log = new FakeLog(store);
        const warn = (line: string): void => assert.fail(line);
        const { engine } = recover({ ...FULL, ...change }, snapshots, log, undefined, warn);
        assert.equal(engine.t.state[State.digest], state[State.digest]);
      };
      check({});
      check({ orders: 400 });
      check({ history: 400 });
      assert.throws(() => check({ history: 16 }), /a table is full; .*ORDER_HISTORY may grow/);
    }
  }));
