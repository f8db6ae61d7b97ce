/**
 * A node with markets of both protocols and wallets of every kind, for the client of its own. A script trades and keeps
 * the client's books beside it.
 */
import assert from 'node:assert/strict';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import type { Random } from '../common/random.ts';
import type { OrderAnswer } from './own-answers.ts';
import { type BookedMarket, Books, decimal, UNIT } from './own-books.ts';
import { OwnClient, OwnData } from './own-client.ts';
import {
  KINDS,
  type Kind,
  type OrderType,
  type Side,
  type SignedOrder,
  type Version,
} from './own-signing.ts';

/** Collateral of each wallet. */
const CASH = 5_000;
/** Micro-shares of a hundredth. */
const CENT = 10_000;
export const SETTINGS = {
  CLIENT_PROFILE: 'polymarket',
  LEDGER: 'on',
  FAUCET: String(CASH),
  FAULTS: 'on',
};

export interface OwnMarket extends BookedMarket {
  readonly id: string;
  readonly eventId: string;
  readonly negRisk: boolean;
  readonly versions: readonly Version[];
  /** Millionths. */
  readonly tick: number;
}

const HEX = (text: string, bytes: number): string => `0x${text.repeat(bytes)}`;
const schedule = (rate: number, exponent: number, rebateRate: number) => ({
  feesEnabled: true,
  feeType: 'taker_fees',
  feeSchedule: { rate, exponent, takerOnly: true, rebateRate },
});
const booked = (rate: number, exponent: number, rebate: number) => ({
  rate: BigInt(Math.round(rate * 1e6)),
  exponent,
  rebate: BigInt(Math.round(rebate * 1e6)),
});
/** Condition of the second protocol: module, hash, arity, zeros, chain, index. */
const condition2 = (module: string, hash: string, arity: string, index: string): string =>
  `0x${module}${hash.repeat(16)}${arity}${'00'.repeat(8)}0000${index}`;

interface Plan {
  readonly negRisk: boolean;
  readonly tick: number;
  readonly fees?: readonly [rate: number, exponent: number, rebate: number];
  /** Condition id of 31 bytes, of the second protocol. */
  readonly condition2?: string;
}
const PLANS: readonly Plan[] = [
  { negRisk: false, tick: 0.01, fees: [0.07, 1, 0.2] },
  { negRisk: true, tick: 0.001, fees: [0.05, 1, 0.25] },
  {
    negRisk: false,
    tick: 0.001,
    fees: [0.25, 2, 0.333333],
    condition2: condition2('01', 'c5', '0000', '0000'),
  },
  { negRisk: true, tick: 0.01, condition2: condition2('02', 'd6', '0002', '0001') },
];

function marketOf(plan: Plan, at: number): OwnMarket {
  const id = String(at + 1);
  const { condition2: short, fees, negRisk, tick } = plan;
  const shared = {
    id,
    eventId: id,
    negRisk,
    tick: Math.round(tick * 1e6),
    schedule: fees === undefined ? undefined : booked(...fees),
  };
  if (short === undefined) {
    const first = BigInt(HEX(`a${at}`, 32));
    const tokens = [String(first), String(first + 1n)] as const;
    return { ...shared, condition: HEX(`e${at}`, 32), tokens, versions: [1, 2] };
  }
  const first = BigInt(`${short}00`);
  const tokens = [String(first), String(first + 1n)] as const;
  return { ...shared, condition: `${short}00`, tokens, versions: [3] };
}

function gammaEvent(plan: Plan, at: number): object {
  const { condition, eventId, id, tokens } = marketOf(plan, at);
  const ids =
    plan.condition2 === undefined
      ? { version: 'v1', clobTokenIds: JSON.stringify(tokens) }
      : { version: 'v2', positionIds: tokens, clobTokenIds: JSON.stringify(['7', '8']) };
  const market = {
    id,
    question: `Question ${id}?`,
    slug: `market-${id}`,
    conditionId: plan.condition2 ?? condition,
    outcomes: '["Yes","No"]',
    active: true,
    negRisk: plan.negRisk,
    orderPriceMinTickSize: plan.tick,
    orderMinSize: 5,
    ...ids,
    ...(plan.fees === undefined ? {} : schedule(...plan.fees)),
  };
  const title = `Event ${eventId}`;
  return { id: eventId, slug: `event-${eventId}`, title, negRisk: plan.negRisk, markets: [market] };
}

export class OwnVenue {
  readonly dataDir: string;
  operator: OperatorNode;
  readonly markets = PLANS.map(marketOf);
  readonly clients: Readonly<Record<Kind, OwnClient>>;
  readonly data: OwnData;
  readonly books = new Books();

  private constructor(
    dataDir: string,
    operator: OperatorNode,
    clients: Readonly<Record<Kind, OwnClient>>,
  ) {
    this.dataDir = dataDir;
    this.operator = operator;
    this.clients = clients;
    this.data = new OwnData(baseOf(operator));
    for (const kind of KINDS) this.books.deposit(clients[kind].wallet, BigInt(CASH) * UNIT);
  }

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<OwnVenue> {
    const dataDir = temporaryDirectory();
    const read = readCatalog({ events: PLANS.map(gammaEvent) });
    assert(read.ok);
    const store = openCatalog(dataDir, { durability: 'flushed' });
    await store.replace(read.catalog);
    await store.close();
    const operator = await OperatorNode.start(dataDir, { ...SETTINGS, ...settings });
    const joined: Partial<Record<Kind, OwnClient>> = {};
    for (const [i, kind] of KINDS.entries()) {
      const client = await OwnClient.join(baseOf(operator), HEX(`${i + 1}b`, 32), kind);
      joined[kind] = client;
      // The faucet pays the address of a key alone.
      const deposit = { wallet: client.wallet, amount: String(CASH) };
      if (kind !== 'plain') await operator.done('POST /admin/ledger/deposit', deposit);
    }
    return new OwnVenue(dataDir, operator, joined as Readonly<Record<Kind, OwnClient>>);
  }

  /** All that have money in the books, in lower case. */
  get wallets(): readonly string[] {
    return [...this.books.accounts.keys()];
  }

  /** A further wallet, which the operator pays. */
  async join(digit: string, kind: Kind, cash: bigint): Promise<OwnClient> {
    const client = await OwnClient.join(baseOf(this.operator), HEX(digit, 32), kind);
    const { wallet } = client;
    await this.operator.done('POST /admin/ledger/deposit', { wallet, amount: decimal(cash) });
    this.books.deposit(wallet, cash);
    return client;
  }
}

function baseOf({ node }: OperatorNode): string {
  return `http://127.0.0.1:${node.port}`;
}

export interface Wish {
  readonly kind: Kind;
  readonly version: Version;
  /** 0 Yes, 1 No. */
  readonly outcome: 0 | 1;
  readonly side: Side;
  /** Millionths. */
  readonly price: number;
  /** Micro-shares. */
  readonly size: bigint;
  readonly type?: OrderType;
  readonly postOnly?: boolean;
}

export interface Resting {
  readonly id: string;
  readonly wish: Wish;
  left: bigint;
}

/** Sends a signed order until it is taken. */
export type Send = (client: OwnClient, order: SignedOrder) => Promise<OrderAnswer>;

/** Orders in one market whose books hold nothing else. */
export class Desk {
  readonly venue: OwnVenue;
  readonly market: OwnMarket;
  readonly resting: Resting[] = [];
  private readonly send: Send;

  constructor(
    venue: OwnVenue,
    market: OwnMarket,
    send: Send = (client, order) => client.post(order),
  ) {
    this.venue = venue;
    this.market = market;
    this.send = send;
  }

  private async place({ kind, version, ...wish }: Wish): Promise<OrderAnswer> {
    const client = this.venue.clients[kind];
    return this.send(client, await client.sign(version, this.termsOf({ kind, version, ...wish })));
  }

  termsOf({ outcome, postOnly, price, side, size, type }: Wish) {
    const collateral = (size * BigInt(price)) / UNIT;
    const amounts =
      side === 'BUY'
        ? { makerAmount: collateral, takerAmount: size }
        : { makerAmount: size, takerAmount: collateral };
    const { negRisk, tokens } = this.market;
    const rest = type === undefined ? {} : { type };
    const only = postOnly === undefined ? {} : { postOnly };
    return { token: tokens[outcome], negRisk, side, ...amounts, ...rest, ...only };
  }

  async rest(wish: Wish): Promise<Resting> {
    const answer = await this.place(wish);
    assert.deepEqual(
      [answer.status, answer.makingAmount, answer.takingAmount, answer.tradeIDs],
      ['live', '', '', []],
    );
    const resting = { id: answer.orderID, wish, left: wish.size };
    this.resting.push(resting);
    return resting;
  }

  /**
   * Takes; the books are those of the orders that rest, best price first, then the oldest.
   *
   * @param status `delayed`: the answer comes before the trade
   */
  async take(wish: Wish, status: 'matched' | 'delayed' = 'matched'): Promise<OrderAnswer> {
    const { kind, outcome, price, side, size } = wish;
    const { books, clients } = this.venue;
    let left = size;
    let [making, taking] = [0n, 0n];
    const offers = this.offersTo(wish);
    for (const { own, resting } of offers) {
      const isWithin = side === 'BUY' ? own <= price : own >= price;
      if (left === 0n || !isWithin) break;
      const fill = left < resting.left ? left : resting.left;
      left -= fill;
      resting.left -= fill;
      const { tokens } = this.market;
      const leg = (fill * BigInt(resting.wish.price)) / UNIT;
      const paid = resting.wish.outcome === outcome ? leg : fill - leg;
      making += side === 'BUY' ? paid : fill;
      taking += side === 'BUY' ? fill : paid;
      books.fill({
        market: this.market,
        maker: clients[resting.wish.kind].wallet,
        taker: clients[kind].wallet,
        makerToken: tokens[resting.wish.outcome],
        makerSide: resting.wish.side,
        takerToken: tokens[outcome],
        takerSide: side,
        size: fill,
        price: BigInt(resting.wish.price),
      });
    }
    assert(left < size, 'the script takes what rests');
    const answer = await this.place(wish);
    assert.deepEqual(
      [answer.status, answer.makingAmount, answer.takingAmount, answer.tradeIDs.length],
      status === 'matched' ? [status, decimal(making), decimal(taking), 1] : [status, '', '', 0],
      `${JSON.stringify(wish, (_, value) => (typeof value === 'bigint' ? String(value) : value))} in market ${this.market.id}`,
    );
    for (let i = this.resting.length - 1; i >= 0; i -= 1) {
      if (this.resting[i]!.left === 0n) this.resting.splice(i, 1);
    }
    return answer;
  }

  /** Orders that the taker may meet, at prices of its own token. */
  private offersTo({ outcome, side }: Wish) {
    return this.resting
      .filter(({ wish }) => (wish.outcome === outcome) !== (wish.side === side))
      .map((resting) => ({
        resting,
        own: resting.wish.outcome === outcome ? resting.wish.price : 1_000_000 - resting.wish.price,
      }))
      .toSorted((a, b) => (side === 'BUY' ? a.own - b.own : b.own - a.own));
  }
}

export function versionFor(market: OwnMarket, kind: Kind, random: Random): Version {
  // A deposit wallet signs orders of version 2 or 3 alone.
  const known = market.versions.filter((version) => kind !== 'deposit' || version !== 1);
  return random.pick(known);
}

/** Micro-shares with two decimals, as clients round them. */
export function cents(random: Random, least: number, most: number): bigint {
  return BigInt(random.between(least * 100, most * 100)) * BigInt(CENT);
}
