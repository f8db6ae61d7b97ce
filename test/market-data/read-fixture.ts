/**
 * An engine with small markets for the tests of the read routes: registers markets, places random
 * orders, and has the texts of their catalog. No HTTP, no signatures, no storage.
 */

import {
  CommandBuffer,
  encodeCancel,
  encodeMarket,
  encodeMarketChange,
  encodeOrder,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { Engine } from '../../engine/engine.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { tokenMarket } from '../../engine/reads.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { ADDRESS_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import { ACCOUNT_I, Account, MARKET_I, Market, State } from '../../engine/tables/layout.ts';
import { allocateEngine, type EngineMemory, type Tables } from '../../engine/tables/tables.ts';
import type {
  MarketRow,
  MicroCollateral,
  MicroShares,
  TicksPerUnit,
  TokenRow,
} from '../../engine/tables/units.ts';
import { decimalToWords } from '../../server/common/uint256.ts';
import { type MarketInfo, TokenTexts } from '../../server/market-data/texts.ts';
import { freshSeed, Random } from '../common/random.ts';

export const SMALL: Capacities = {
  markets: 16,
  tokens: 64,
  accounts: 256,
  orders: 20_000,
  levels: 100_000,
  trades: 400,
  history: 20_000,
  positions: 0,
  operatorIds: 0,
};

export interface TestOrder {
  readonly wallet: number;
  /** Wallet whose key signs; `wallet` by default. */
  readonly signer?: number;
  readonly token: number;
  readonly sell?: boolean;
  readonly type?: number;
  /** Ticks of the market's grid. */
  readonly ticks: number;
  /** Micro-shares. */
  readonly shares: number;
}

export class Fixture {
  readonly engine: Engine;
  readonly t: Tables;
  readonly texts: TokenTexts;
  readonly infos: (MarketInfo | undefined)[] = [];
  time = 1_700_000_000_000;
  private readonly buffer = new CommandBuffer();
  private orders = 0;

  constructor(capacities: Capacities | EngineMemory = SMALL) {
    const memory = 'buffers' in capacities ? capacities : allocateEngine(capacities);
    this.engine = new Engine(memory);
    this.t = this.engine.t;
    this.texts = new TokenTexts(this.t, (market) => this.infos[market]);
  }

  /** Registers a market; returns the slot of its first token. */
  market(
    outcomes: number,
    ticksPerUnit: TicksPerUnit,
    negRisk = false,
    info?: MarketInfo,
    tokenIds?: readonly string[],
  ): TokenRow {
    const market = this.t.state[State.markets]! + 1;
    this.infos[market] = info;
    this.buffer.clear();
    const flags = MarketFlag.tradable | (negRisk ? MarketFlag.negRisk : 0);
    const fields = { flags, ticksPerUnit, baseFeeBps: 100, minSize: 10_000 as MicroShares };
    const tokens = Array.from({ length: outcomes }, (_, i) => {
      const words = idWords(1_000 + market * 100 + i);
      if (tokenIds !== undefined) decimalToWords(tokenIds[i]!, words, 0);
      return words;
    });
    const at = encodeMarket(this.buffer, fields, idWords(market), tokens);
    this.mustAccept(this.apply(at));
    return this.t.marketI[(market << MARKET_I) + Market.firstToken]! as TokenRow;
  }

  changeMarket(market: number, ticksPerUnit: TicksPerUnit, minSize: number): void {
    this.buffer.clear();
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit,
      baseFeeBps: 100,
      minSize: minSize as MicroShares,
    };
    this.mustAccept(this.apply(encodeMarketChange(this.buffer, market as MarketRow, fields)));
  }

  /** Places an order in a batch of its own, a second after the one before. */
  order(order: TestOrder): RejectReasonCode {
    this.orders += 1;
    this.buffer.clear();
    const token = order.token as TokenRow;
    const market = tokenMarket(this.t, token);
    const grid = this.t.marketI[(market << MARKET_I) + Market.ticksPerUnit]!;
    const product = order.shares * order.ticks;
    const collateral = order.sell ? Math.floor(product / grid) : Math.ceil(product / grid);
    const at = encodeOrder(this.buffer, {
      token,
      side: order.sell ? Side.sell : Side.buy,
      type: order.type ?? OrderType.GTC,
      postOnly: false,
      shares: order.shares as MicroShares,
      collateral: collateral as MicroCollateral,
      expiration: 0,
      feeRateBps: 200,
      signatureType: order.signer === undefined ? 0 : 1,
      precheck: 0,
      id: orderIdWords(this.orders),
      maker: walletWords(order.wallet),
      signer: walletWords(order.signer ?? order.wallet),
      apiKey: new Int32Array(4),
    });
    this.time += 1_000;
    return this.apply(at);
  }

  /** Cancels order number `n`, from 1. */
  cancel(n: number, signer: number): RejectReasonCode {
    this.buffer.clear();
    return this.apply(encodeCancel(this.buffer, orderIdWords(n), walletWords(signer)));
  }

  /**
   * Places random orders of the given tokens; about half of them trade, some over several levels.
   */
  trade(random: Random, tokens: readonly number[], count: number, wallets: number): void {
    for (let i = 0; i < count; i++) {
      const token = random.pick(tokens);
      const isTaker = random.chance(40);
      const whole = random.between(1, 60) * 1_000_000;
      this.order({
        token,
        wallet: random.between(1, wallets),
        sell: random.chance(50),
        type: isTaker ? OrderType.FAK : OrderType.GTC,
        ticks: random.between(1, 9),
        // Takers come with odd amounts, so that makers are left with some too.
        shares: isTaker ? whole + random.between(0, 999_999) : whole,
      });
    }
  }

  private apply(at: number): RejectReasonCode {
    this.engine.begin(this.time, 0);
    const reason = this.engine.apply(this.buffer.i32, this.buffer.f64, at);
    this.engine.end();
    return reason;
  }

  private mustAccept(reason: RejectReasonCode): void {
    if (reason !== RejectReason.accepted)
      throw new Error(`the fixture was refused by rule ${reason}`);
  }
}

export function orderIdWords(n: number): Int32Array {
  return idWords(1_000_000 + n);
}

export function idWords(n: number): Int32Array {
  return Int32Array.from({ length: 8 }, (_, i) => Math.imul(n * 8 + i + 1, 0x9e3779b1) ^ n);
}

export function walletWords(n: number): Int32Array {
  return Int32Array.from({ length: 5 }, (_, i) => Math.imul(n * 5 + i + 1, 0x85ebca6b) ^ n);
}

export function addressWords(t: Tables, account: number): Int32Array {
  const at = (account << ACCOUNT_I) + Account.address;
  return t.accountI.slice(at, at + ADDRESS_WORDS);
}

export function wordsHex(words: Int32Array): string {
  return `0x${[...words].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')}`;
}

/** Decimal text of micro-units by plain division. */
export function plain(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
}

/** Runs `withSeed` (random.ts) for an asynchronous body. */
export async function withSeedAsync(body: (random: Random) => Promise<void>): Promise<void> {
  const seed = freshSeed();
  try {
    await body(new Random(seed));
  } catch (error) {
    console.error(`replay with: SEED=${seed} npm test`);
    throw error;
  }
}
