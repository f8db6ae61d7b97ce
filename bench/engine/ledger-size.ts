/**
 * Memory of a funded account and of a position: by the sizes of the tables, and by what the process grows
 * while rows are used for the first time.
 *
 * Not measured: a node has two engines, the follower's among them.
 */
import assert from 'node:assert/strict';
import {
  CommandBuffer,
  commandWords,
  encodeConfigure,
  encodeFunds,
  encodeMarket,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import {
  type Capacities,
  DEFAULT_CAPACITIES,
  REQUEST_ROWS,
} from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { allocateEngine, tableShapes } from '../../engine/tables/tables.ts';
import type { MarketRow, MicroShares } from '../../engine/tables/units.ts';
import { print } from '../common/figures.ts';
import { Random } from '../random.ts';

export interface SizeShape {
  readonly capacities: Capacities;
  /** Accounts that get cash; each then gets two positions. */
  readonly accounts: number;
  /** Requests before that, so that the ring of requests does not grow while it is measured. */
  readonly warm: number;
}

export interface Sizes {
  /** Bytes by the tables, and by the growth of the process. */
  readonly account: readonly [computed: number, measured: number];
  readonly position: readonly [computed: number, measured: number];
}

export const SIZE_FULL: SizeShape = {
  capacities: DEFAULT_CAPACITIES,
  accounts: 500_000,
  warm: REQUEST_ROWS,
};

const BATCH = 64;
const MARKET = 1 as MarketRow;

export function ledgerSizes({ accounts, capacities, warm }: SizeShape): Sizes {
  const money = new Money(capacities);
  const wallets = Array.from({ length: accounts + 1 }, () => money.key(ADDRESS_WORDS));
  const [one] = wallets.splice(0, 1);
  for (let i = 0; i < warm; i++) money.fund('deposit', one!, 2);
  money.fund('split', one!, 1);
  money.apply();
  const before = process.memoryUsage.rss();
  for (const wallet of wallets) money.fund('deposit', wallet, 2);
  money.apply();
  const funded = process.memoryUsage.rss();
  for (const wallet of wallets) money.fund('split', wallet, 1);
  money.apply();
  const held = process.memoryUsage.rss();
  const shapes = tableShapes(capacities);
  const { accountIndex, cash, positionIndex, positionLinks, positions, wallets: bound } = shapes;
  const account = (shapes.accounts + bound + accountIndex + cash) / capacities.accounts;
  const position = (positions + positionLinks + positionIndex) / capacities.positions;
  const sizes: Sizes = {
    account: [account, (funded - before) / accounts],
    position: [position, (held - funded) / (2 * accounts)],
  };
  print('of an account, cash alone', `${(cash / capacities.accounts).toFixed(1)} bytes`);
  for (const [name, [computed, measured]] of Object.entries(sizes)) {
    const what = `${computed.toFixed(1)} bytes by the tables, ${measured.toFixed(1)} by the process`;
    print(name === 'account' ? 'a funded account' : 'a position', what);
  }
  return sizes;
}

/** An engine with a ledger and one market, and commands that are applied at once. */
class Money {
  private readonly engine: Engine;
  private readonly random = new Random('money');
  private readonly out = new CommandBuffer(1 << 12);
  private requests = 0;

  constructor(capacities: Capacities) {
    this.engine = new Engine(allocateEngine(capacities));
    encodeConfigure(this.out, 0, capacities.history, 0, 0, 0, true);
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: 100,
      baseFeeBps: 0,
      minSize: 1 as MicroShares,
    } as const;
    encodeMarket(this.out, fields, this.key(ID_WORDS), [this.key(ID_WORDS), this.key(ID_WORDS)]);
    this.apply();
  }

  /** Pays in, or makes complete sets of the market; applies a batch where it is full. */
  fund(kind: 'deposit' | 'split', wallet: Int32Array, amount: number): void {
    this.requests += 1;
    const { requests } = this;
    const id = { isOperator: true, ms: requests, key: Int32Array.of(requests, 0, 0, 0) };
    encodeFunds(this.out, kind, { id, wallet, amount, market: MARKET });
    if (requests % BATCH === 0) this.apply();
  }

  apply(): void {
    const { engine, out, requests } = this;
    engine.begin(requests + 1, 0);
    for (let at = 0; at < out.words; at += commandWords(out.i32, at)) {
      const refused = engine.apply(out.i32, out.f64, at);
      assert.equal(refused, RejectReason.accepted);
    }
    engine.end();
    out.clear();
  }

  key(words: number): Int32Array {
    return Int32Array.from({ length: words }, () => this.random.next() | 0);
  }
}
