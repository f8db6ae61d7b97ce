/**
 * A venue whose markets are about to resolve: many holders and many open orders, put into a data
 * directory as a log, with the naive ledger, which has each wallet before and after a resolution.
 *
 * Non-goals: running nodes on it (resolutions.ts).
 */
import assert from 'node:assert/strict';
import {
  cashReserved,
  cashTotal,
  ledgerTotals,
  nextResolving,
  positionsOf,
  positionToken,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { State } from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { FileLog } from '../../storage/log/file-log.ts';
import type { Random } from '../common/random.ts';
import { addressWords, idWords } from '../engine/engine-driver.ts';
import { LedgerDuel } from '../engine/ledger-duel.ts';
import { settlement } from '../engine/naive-book.ts';
import type { NaiveLedger, ResolveLine } from '../engine/naive-ledger.ts';
import type { OrderLine, SideName } from '../engine/naive-types.ts';
import { appended, Exchange } from '../storage/stored-exchange.ts';

export const WALLETS = 1_000;
const SHARE = 1_000_000;
const BATCH_COMMANDS = 400;
const FIRST_CONDITION = 10;
/** Orders per 100 of a wallet. */
const ORDERS_OF_A_WALLET = 180;

const hex = (words: Int32Array): string =>
  `0x${Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')}`;

export const addressOf = (wallet: number): string => hex(addressWords(wallet));
export const conditionOf = (market: number): string => hex(idWords(FIRST_CONDITION + market));
export function tokenOf(market: number, outcome: number): string {
  const words = idWords(1_000_000 + (FIRST_CONDITION + market) * 100 + outcome);
  return BigInt(hex(words)).toString();
}

export interface Held {
  readonly cash: bigint;
  readonly shares: readonly bigint[];
}

export class ResolutionVenue {
  readonly markets: number;
  readonly ledger: NaiveLedger;
  private readonly duel: LedgerDuel;
  private readonly random: Random;
  private keys = 0;
  private time = 2_000;

  constructor(random: Random, markets: number, capacities: Capacities) {
    this.random = random;
    this.markets = markets;
    this.duel = new LedgerDuel(capacities);
    this.ledger = this.duel.ledger;
    const terms = { grid: 100, minSize: BigInt(SHARE), tradable: true, ended: false };
    for (let market = 1; market <= markets; market++) {
      const baseFeeBps = market % 2 === 0 ? 200 : 0;
      const condition = FIRST_CONDITION + market;
      const own = { ...terms, baseFeeBps, negRisk: false };
      this.duel.step({ kind: 'market', condition, outcomes: 2, ...own });
    }
    for (let wallet = 1; wallet <= WALLETS; wallet++) this.fund(wallet);
    const count = Math.floor((WALLETS * markets * ORDERS_OF_A_WALLET) / 100);
    for (let id = 1; id <= count; id++) this.order(id);
    this.duel.compareAll();
    this.duel.driver.close();
  }

  async store(dataDir: string, capacities: Capacities): Promise<void> {
    const log = await FileLog.open({
      dataDir,
      durability: 'flushed',
      segmentBytes: 1 << 20,
      log: () => undefined,
    });
    const exchange = new Exchange(capacities);
    for (const batch of this.duel.driver.logged) await appended(log, exchange.apply(batch, 0));
    await log.close();
    const read = readCatalog({ tags: [], series: [], events: this.events() });
    assert(read.ok, 'a catalog');
    const store = openCatalog(dataDir, { durability: 'flushed' });
    await store.replace(read.catalog);
    await store.close();
  }

  private events(): object[] {
    return Array.from({ length: this.markets }, (_, i) => ({
      id: String(i + 1),
      slug: `event-${i + 1}`,
      title: `Event ${i + 1}`,
      markets: [
        {
          id: String(i + 1),
          question: `Question ${i + 1}?`,
          slug: `market-${i + 1}`,
          conditionId: conditionOf(i + 1),
          outcomes: JSON.stringify(['Yes', 'No']),
          clobTokenIds: JSON.stringify([tokenOf(i + 1, 0), tokenOf(i + 1, 1)]),
          active: true,
          closed: false,
          archived: false,
          negRisk: false,
          orderPriceMinTickSize: 0.01,
          orderMinSize: 1,
        },
      ],
    }));
  }

  private fund(wallet: number): void {
    const { random } = this;
    const cash = random.between(200, 900) * SHARE * this.markets;
    this.request('deposit', wallet, 0, cash);
    for (let market = 1; market <= this.markets; market++) {
      if (random.chance(80)) this.request('split', wallet, market, random.between(1, 90 * SHARE));
    }
  }

  private request(kind: 'deposit' | 'split', wallet: number, market: number, amount: number): void {
    this.keys += 1;
    const id = { isOperator: true, ms: 1_000, key: this.keys };
    const reason = this.duel.step({ kind, id, wallet, signer: 0, market, amount });
    assert.equal(reason, RejectReason.accepted, kind);
    if (this.keys % BATCH_COMMANDS === 0) this.nextBatch();
  }

  /**
   * Places an order: some trade, most rest, some are refused because their wallet has too little.
   */
  private order(id: number): void {
    const { random } = this;
    const wallet = random.between(1, WALLETS);
    const market = random.between(1, this.markets);
    const side: SideName = random.chance(50) ? 'BUY' : 'SELL';
    const ticks = BigInt(side === 'BUY' ? random.between(1, 52) : random.between(48, 99));
    const shares = BigInt(random.between(1, 40) * SHARE);
    const line: OrderLine = {
      kind: 'order',
      id,
      side,
      type: 'GTC',
      postOnly: false,
      shares,
      faults: [],
      token: 2 * market - random.below(2),
      collateral: (shares * ticks) / 100n,
      expiration: 0,
      feeRateBps: 200,
      maker: wallet,
      signer: wallet,
      signatureType: 0,
    };
    this.duel.step(line);
    if (id % BATCH_COMMANDS === 0) this.nextBatch();
  }

  private nextBatch(): void {
    this.time += 1;
    this.duel.step({ kind: 'at', time: this.time });
  }

  openOrders(market: number): number {
    return this.duel.duel.naive.markets[market - 1]!.open.length;
  }

  /** Holdings of each wallet by the naive ledger; 0 is nobody. */
  held(market: number): Held[] {
    const tokens = [2 * market - 1, 2 * market];
    return Array.from({ length: WALLETS + 1 }, (_, wallet) => ({
      cash: this.ledger.cashOf(wallet),
      shares: tokens.map((token) => this.ledger.sharesOf(wallet, token)),
    }));
  }

  resolve(market: number, weights: readonly number[], isVoid: boolean): void {
    const { ledger } = this;
    this.keys += 1;
    const id = { isOperator: true, ms: 1_000, key: this.keys };
    const line: ResolveLine = { kind: 'resolve', id, market, weights, isVoid, group: 0 };
    assert.equal(ledger.resolve(line, this.time), RejectReason.accepted);
    const { naive } = this.duel.duel;
    const open = new Set(naive.markets[market - 1]!.open.map(({ line: { id: own } }) => own));
    naive.endResolved(open, settlement());
    for (const wallet of ledger.holders(market)) ledger.redeem(wallet, market);
    ledger.finish(market);
  }

  /**
   * Compares every wallet of the tables with the naive ledger: totals, reserved amounts and every
   * sum.
   */
  compareAll(t: Tables): void {
    const { ledger } = this;
    for (let wallet = 1; wallet <= WALLETS; wallet++) {
      const account = findAccount(t, addressWords(wallet), 0);
      const cash = [cashTotal(t, account), cashReserved(t, account)].map(BigInt);
      assert.deepEqual(cash, [ledger.cashOf(wallet), ledger.reservedCash(wallet)], `${wallet}`);
      for (const position of positionsOf(t, account)) {
        const token = positionToken(t, position);
        const found = [sharesTotal(t, position), sharesReserved(t, position)].map(BigInt);
        const own = [ledger.sharesOf(wallet, token), ledger.reservedShares(wallet, token)];
        assert.deepEqual(found, own, `shares of ${wallet} in ${token}`);
      }
    }
    const { collateral, deposited, fees, imbalance, rounding } = ledgerTotals(t);
    assert.deepEqual([deposited, fees, rounding, collateral].map(BigInt), this.sums());
    assert.equal(imbalance, 0);
    assert.equal(t.state[State.openOrders], this.duel.duel.naive.openOrders(), 'open orders');
  }

  sums(): bigint[] {
    const { collateral, deposited, fees, rounding } = this.ledger;
    const sets = [...collateral.values()].reduce((sum, each) => sum + each, 0n);
    return [deposited, fees, rounding, sets];
  }
}

/**
 * Checks tables in which a market may be resolving: each wallet has its amounts from before or
 * after. Returns the numbers of paid and remaining wallets.
 */
export function between(
  t: Tables,
  market: number,
  before: readonly Held[],
  after: readonly Held[],
): { readonly paid: number; readonly isResolving: boolean } {
  let paid = 0;
  for (let wallet = 1; wallet <= WALLETS; wallet++) {
    const account = findAccount(t, addressWords(wallet), 0);
    const shares = [0n, 0n];
    for (const position of positionsOf(t, account)) {
      const outcome = positionToken(t, position) - (2 * market - 1);
      if (outcome === 0 || outcome === 1) shares[outcome] = BigInt(sharesTotal(t, position));
    }
    const held = { cash: BigInt(cashTotal(t, account)), shares };
    paid += paidOf(held, before[wallet]!, after[wallet]!, `wallet ${wallet}`);
  }
  assert.equal(ledgerTotals(t).imbalance, 0);
  return { paid, isResolving: nextResolving(t) === market };
}

/** 1 for a paid wallet, 0 for one that has not been paid, or had nothing; anything else throws. */
export function paidOf(held: Held, before: Held, after: Held, who: string): number {
  const isSame = (one: Held): boolean =>
    one.cash === held.cash && one.shares.every((each, i) => each === held.shares[i]);
  const text = ({ cash, shares }: Held): string => `${cash} and ${shares}`;
  const isPaid = isSame(after);
  const words = `${who} has ${text(held)}, before ${text(before)}, after ${text(after)}`;
  assert(isPaid || isSame(before), words);
  return isPaid && !isSame(before) ? 1 : 0;
}
