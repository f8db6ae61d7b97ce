/**
 * Findings of the audit of a ledger: every kind of damage, one at a time, with one market that
 * resolves and one that has resolved.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { findPosition } from '../../engine/ledger/positions.ts';
import { closedOrder } from '../../engine/orders/orders.ts';
import {
  CASH_F,
  CASH_I,
  Cash,
  HOLDER_F,
  Holder,
  Ledger,
  MARKET_F,
  Market,
  ORDER_F,
  ORDER_I,
  Order,
  POSITION_F,
  POSITION_I,
  POSITION_LINK_I,
  Position,
  PositionLink,
  Request,
  State,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, OrderRow, TokenRow } from '../../engine/tables/units.ts';
import { LedgerScript, UNIT } from './ledger-script.ts';

/** Rows of a seller and a buyer, in the order of their first orders. */
const SELLER = 1 as AccountRow;
const BUYER = 2 as AccountRow;
const YES = 1 as TokenRow;
const NO = 2 as TokenRow;

/** Market 1 trades, market 2 resolves and has paid nobody, market 3 has resolved; two ids are texts. */
function busyLedger(): Tables {
  const script = new LedgerScript().do('market 2', 'market 3', 'change 1 fee 200');
  script.fund('deposit', 1, 100 * UNIT).fund('deposit', 2, 100 * UNIT);
  for (const market of [1, 2, 3]) script.fund('split', 1, 20 * UNIT, { market });
  script.do('sell #1 5 @ 0.50 by 1 fee 200', 'buy #2 8 @ 0.50 by 2 fee 200');
  script.do('sell #3 5 @ 0.60 by 1 fee 200', 'sell #4 1 @ 0.50 No by 1 fee 200');
  assert.equal(script.resolve([1, 0], { market: 3 }), 0);
  script.finish();
  assert.equal(script.resolve([1, 3], { market: 2 }), 0);
  const text = { isOperator: true, isText: true, ms: 0 } as const;
  script.fund('deposit', 1, 1, { id: { ...text, key: 1 } }).do('at 3');
  script.fund('deposit', 1, 1, { id: { ...text, key: 2 } });
  script.duel.compareAll();
  return script.t;
}

const cashOf = (account: AccountRow, column: number): number => (account << CASH_F) + column;
const positionAt = (t: Tables, account: AccountRow, token: TokenRow): number =>
  findPosition(t, account, token);
const sharesOf = (t: Tables, account: AccountRow, token: TokenRow, column: number): number =>
  (positionAt(t, account, token) << POSITION_F) + column;
const collateralOf = (market: number): number => (market << MARKET_F) + Market.collateral;
const openBuy = (t: Tables): OrderRow => {
  const holds = (_: unknown, row: number): boolean =>
    t.orderF[(row << ORDER_F) + Order.budget]! > 0 &&
    t.orderF[(row << ORDER_F) + Order.remaining]! > 0;
  return Array.from({ length: 10 }).findIndex(holds) as OrderRow;
};

const DAMAGES: readonly (readonly [string, RegExp, (t: Tables) => void])[] = [
  [
    'a wallet has one micro-unit more',
    /the cash of all is counted/,
    (t) => (t.cashF[cashOf(BUYER, Cash.total)]! += 1),
  ],
  [
    'one micro-unit has gone from a wallet to another sum',
    /the cash of all is counted/,
    (t) => {
      t.cashF[cashOf(SELLER, Cash.total)]! -= 1;
      t.ledger[Ledger.fees]! += 1;
    },
  ],
  [
    'more was paid in than is there',
    /what was paid in is there/,
    (t) => (t.ledger[Ledger.deposited]! += 1),
  ],
  ['fees are missing', /what was paid in is there/, (t) => (t.ledger[Ledger.fees]! -= 1)],
  [
    'more is reserved than the orders can cost',
    /reserves what its open BUY orders can cost/,
    (t) => (t.cashF[cashOf(BUYER, Cash.reserved)]! += 1),
  ],
  [
    'cash stays reserved without an order',
    /reserves what its open BUY orders can cost/,
    (t) => (t.cashF[cashOf(SELLER, Cash.reserved)] = 1),
  ],
  [
    'an order may pay less than it reserves',
    /reserves what its open BUY orders can cost/,
    (t) => (t.orderF[(openBuy(t) << ORDER_F) + Order.budget]! = 1),
  ],
  [
    'fewer shares are reserved than are offered',
    /reserves what its open SELL orders offer/,
    (t) => (t.positionF[sharesOf(t, SELLER, YES, Position.reserved)]! -= 1),
  ],
  [
    'a position is held once more than it has orders',
    /counts its open orders/,
    (t) => (t.positionI[(positionAt(t, SELLER, NO) << POSITION_I) + Position.holds]! += 1),
  ],
  [
    'an open order holds a position of another wallet',
    /an order holds its own position/,
    (t) => {
      const order = openBuy(t) << ORDER_I;
      t.orderI[order + Order.position] = positionAt(t, SELLER, YES);
    },
  ],
  [
    'a closed order holds a position',
    /a closed order holds no position/,
    (t) => {
      const order = closedOrder(t, t.state[State.firstKeptClosed]!) << ORDER_I;
      t.orderI[order + Order.position] = positionAt(t, SELLER, YES);
    },
  ],
  [
    'a wallet has one micro-share more',
    /shares of an outcome are the sets of its market/,
    (t) => (t.positionF[sharesOf(t, BUYER, YES, Position.total)]! += 1),
  ],
  [
    'the venue has fewer shares of fees',
    /shares of an outcome are the sets of its market/,
    (t) => (t.holderF[(YES << HOLDER_F) + Holder.venue]! -= 1),
  ],
  [
    'sets have gone from one market to another',
    /shares of an outcome are the sets of its market/,
    (t) => {
      t.marketF[collateralOf(1)]! -= 1;
      t.marketF[collateralOf(2)]! += 1;
    },
  ],
  [
    'a market that resolves cannot pay',
    /can pay what it owes/,
    (t) => (t.marketF[collateralOf(2)]! -= 1),
  ],
  [
    'a market that has resolved keeps something',
    /has paid everything/,
    (t) => (t.marketF[collateralOf(3)] = 1),
  ],
  [
    'the sum of all sets is wrong',
    /the collateral of all is counted/,
    (t) => (t.ledger[Ledger.collateral]! += 1),
  ],
  [
    "a wallet's list of positions is cut off",
    /linked both ways/,
    (t) => (t.cashI[(SELLER << CASH_I) + Cash.head] = 0),
  ],
  [
    'a position has another neighbour',
    /linked both ways|a list counts its rows/,
    (t) => {
      const link = positionAt(t, SELLER, YES) << POSITION_LINK_I;
      t.positionLinkI[link + PositionLink.accountNext]! ^= 1;
    },
  ],
  [
    'a position is not in the index',
    /found by account and token/,
    (t) => {
      const row = positionAt(t, BUYER, YES);
      const entry = t.positionIndex.findIndex((word, at) => at % 2 === 1 && word === row);
      t.positionIndex.fill(0, entry - 1, entry + 1);
    },
  ],
  [
    'an id that is a text is not in the index',
    /a kept id is found/,
    (t) => {
      const entry = t.operatorIdIndex.findIndex((row, at) => at % 2 === 1 && row !== 0);
      t.operatorIdIndex.fill(0, entry - 1, entry + 1);
    },
  ],
  [
    'an id that is a text was forgotten, and is still in the index',
    /has an entry for each that is kept/,
    (t) => (t.ledger[Ledger.firstOperatorId]! += 1),
  ],
  [
    'ids that are texts are out of order',
    /in the order of their time/,
    (t) => (t.operatorIdF[Request.time] = 1e15),
  ],
  [
    'more ids were kept than are counted',
    /the most ids ever kept are counted/,
    (t) => (t.ledger[Ledger.operatorIdsMost] = 1),
  ],
  [
    'a position is nowhere',
    /every position is in use or free/,
    (t) => (t.ledger[Ledger.positionRows]! += 1),
  ],
];

test('the audit names every kind of damage of a ledger, and nothing where there is none', () => {
  const t = busyLedger();
  audit(t);
  const { buffers } = t.memory;
  const damaged = [
    ...(['ledger', 'cash', 'positions', 'positionLinks', 'holders', 'positionIndex'] as const),
    ...(['markets', 'orders', 'operatorIds', 'operatorIdIndex'] as const),
  ];
  const whole = damaged.map((name) => [name, buffers[name].slice()] as const);
  for (const [what, found, damage] of DAMAGES) {
    damage(t);
    assert.throws(() => audit(t), found, what);
    for (const [name, bytes] of whole) buffers[name].set(bytes);
    audit(t);
  }
});
