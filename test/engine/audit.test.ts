/**
 * Findings of the audit of recovered tables: every kind of damage, one at a time, in a busy
 * exchange.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { closedInMemory, closedOrder, orderStatus } from '../../engine/orders/orders.ts';
import { MarketFlag, Status } from '../../engine/tables/codes.ts';
import {
  ACCOUNT_I,
  Account,
  CLOSED_I,
  Closed,
  LINK_I,
  Link,
  MARKET_F,
  MARKET_I,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  type TableName,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { OrderRow } from '../../engine/tables/units.ts';
import { type Random, withSeed } from '../common/random.ts';
import { EngineDriver, ROOMY } from './engine-driver.ts';
import { BUSY, MARKETS, Stream } from './stream.ts';

interface Damage {
  readonly does: string;
  readonly found: RegExp;
  readonly damage: (t: Tables, random: Random) => void;
}

function openOrders(t: Tables): OrderRow[] {
  const rows = Array.from({ length: t.state[State.orderRows]! }, (_, i) => (i + 1) as OrderRow);
  return rows.filter((orderRow) => orderStatus(t, orderRow) === Status.live);
}

function openRow(t: Tables, random: Random): number {
  return random.pick(openOrders(t)) << ORDER_I;
}

function restingRow(t: Tables, random: Random): number {
  return t.orderI[openRow(t, random) + Order.restingSlot]! << 3;
}

function indexEntry(t: Tables, random: Random): number {
  const used = [...t.orderIndex.keys()].filter((at) => at % 2 === 1 && t.orderIndex[at] !== 0);
  return random.pick(used) - 1;
}

function ownerWithTwo(t: Tables): number {
  for (let account = 1; account <= t.state[State.accounts]!; account++) {
    const row = account << ACCOUNT_I;
    if (t.accountI[row + Account.openCount]! >= 2) return row;
  }
  throw new Error('nobody has two open orders');
}

const DAMAGES: readonly Damage[] = [
  {
    does: 'an entry of the index of ids is gone',
    found: /known by its id|known, and no other/,
    damage(t, random) {
      const at = indexEntry(t, random);
      t.orderIndex.fill(0, at, at + 2);
    },
  },
  {
    does: 'the index has an entry for nobody',
    found: /known, and no other/,
    damage(t) {
      const free = t.orderIndex.findIndex((word, at) => at % 2 === 1 && word === 0);
      t.orderIndex[free] = 1;
    },
  },
  {
    does: 'an entry has another tag',
    found: /known by its id/,
    damage(t, random) {
      t.orderIndex[indexEntry(t, random)]! ^= 1 << random.below(31);
    },
  },
  {
    does: 'two orders have one id',
    found: /an order has one id|known by its id|keeps its tag/,
    damage(t) {
      const [one, other] = openOrders(t).map((orderRow) => (orderRow << ORDER_I) + Order.id);
      t.orderI.copyWithin(one!, other!, other! + 8);
    },
  },
  {
    does: 'an open order counts as finished',
    found: /lists its own live orders|orders are counted/,
    damage(t, random) {
      t.orderI[openRow(t, random) + Order.flags]! ^= 7 << 20;
    },
  },
  {
    does: 'an order has another price than its level',
    found: /rests at its own price/,
    damage(t, random) {
      t.orderI[openRow(t, random) + Order.price]! += 1;
    },
  },
  {
    does: 'less remains of an order than rests',
    found: /what remains of an order rests/,
    damage(t, random) {
      t.orderF[(openRow(t, random) >>> 1) + Order.remaining]! -= 1;
    },
  },
  {
    does: 'more rests than its level says',
    found: /the sum of its orders/,
    damage(t, random) {
      t.matching.rowF[restingRow(t, random) >>> 1]! += 1;
    },
  },
  {
    does: 'a queue goes on to another row',
    found: /queue|rests at its own level|rests on its own side|nothing empty rests/,
    damage(t, random) {
      t.matching.rowI[restingRow(t, random) + 2]! += 2;
    },
  },
  {
    does: 'a queue goes round without its level',
    found: /queue/,
    damage(t, random) {
      t.matching.rowI[restingRow(t, random) + 2] = 0;
    },
  },
  {
    does: 'an order rests at another level',
    found: /rests at its own level|rests in the book/,
    damage(t, random) {
      t.matching.rowI[restingRow(t, random) + 4]! += 1;
    },
  },
  {
    does: 'an order rests on the other side',
    found: /rests on its own side|rests on its side/,
    damage(t, random) {
      t.matching.rowI[restingRow(t, random) + 5]! ^= 1;
    },
  },
  {
    does: "an owner's list is cut off",
    found: /an owner counts its orders/,
    damage(t) {
      const head = t.accountI[ownerWithTwo(t) + Account.openHead]!;
      t.linkI[(head << LINK_I) + Link.ownerNext] = 0;
    },
  },
  {
    does: "an owner's list goes round",
    found: /linked both ways|an owner list ends/,
    damage(t) {
      const head = t.accountI[ownerWithTwo(t) + Account.openHead]!;
      t.linkI[(head << LINK_I) + Link.ownerNext] = head;
    },
  },
  {
    does: 'an order is in the list of another owner',
    found: /lists its own live orders/,
    damage(t, random) {
      const row = openRow(t, random);
      t.orderI[row + Order.owner] = (t.orderI[row + Order.owner]! % t.state[State.accounts]!) + 1;
    },
  },
  {
    does: 'an order that expires is not in the heap',
    found: /the heap has every row that is due/,
    damage(t, random) {
      const row = openRow(t, random) >>> ORDER_I;
      t.orderF[(row << ORDER_F) + Order.expiry] = t.orderF[(row << ORDER_F) + Order.expiry] ? 0 : 1;
    },
  },
  {
    does: 'a market that ends is not in the heap',
    found: /the heap has every row that is due/,
    damage(t) {
      t.marketF[(1 << MARKET_F) + Market.end] = 1;
    },
  },
  {
    does: 'a market has reached an end that nobody counted',
    found: /markets whose end has come are counted/,
    damage(t) {
      const at = (1 << MARKET_I) + Market.flags;
      t.marketI[at] = MarketFlag.ended | MarketFlag.endReached;
    },
  },
  {
    does: 'a closed order is twice in the queue',
    found: /a row has one closed order/,
    damage(t) {
      const end = t.state[State.closed]!;
      const [last, before] = [end - 1, end - 2].map((n) => (n & (t.closedRows - 1)) << CLOSED_I);
      t.closedI[last! + Closed.row] = t.closedI[before! + Closed.row]!;
      t.closedI[last! + Closed.tag] = t.closedI[before! + Closed.tag]!;
    },
  },
  {
    does: 'a closed order has no reason',
    found: /a closed order has a reason/,
    damage(t) {
      const orderRow = closedOrder(t, t.state[State.closed]! - 1);
      t.orderI[(orderRow << ORDER_I) + Order.flags]! &= ~(15 << 23);
    },
  },
];

test('the audit names every kind of damage, and nothing where there is none', () => {
  withSeed((random) => {
    const driver = new EngineDriver({ ...ROOMY, orders: 2_000, history: 4_000 });
    const stream = new Stream(random, { ...BUSY, huge: 0, policies: 0 }, MARKETS);
    for (let i = 0; i < 1_500; i++) driver.run(stream.next());
    driver.close();
    const { t } = driver;
    assert(openOrders(t).length > 20 && closedInMemory(t) > 20, 'there is something to damage');
    audit(t);
    const { buffers } = t.memory;
    const damaged = [
      ...['orders', 'links', 'finished', 'matchingRows'],
      ...['orderIndex', 'state', 'markets'],
    ] as TableName[];
    const whole = damaged.map((name) => [name, buffers[name].slice()] as const);
    for (const { damage, does, found } of DAMAGES) {
      damage(t, random);
      assert.throws(() => audit(t), found, does);
      for (const [name, bytes] of whole) buffers[name].set(bytes);
      audit(t);
    }
  });
});
