/**
 * A mirror in this process: messages of a source through the fill model into an engine with a ledger, alone, and
 * beside orders of paper traders, whose commands are applied in batches as in a node.
 */
import {
  CommandBuffer,
  commandWords,
  encodeCancel,
  encodeOrder,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarket } from '../../engine/paper/mirrored-market.ts';
import { EngineOrders } from '../../engine/paper/paper-orders.ts';
import { closedCount } from '../../engine/reads.ts';
import { Simulator } from '../../engine/simulator.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS } from '../../engine/tables/codes.ts';
import type { MicroCollateral, MicroShares, TokenRow } from '../../engine/tables/units.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { readEvents } from '../../storage/recordings/source-message.ts';
import { median, print } from '../common/figures.ts';
import { Random } from '../random.ts';
import type { PaperShape } from './paper.bench.ts';
import { SourceStream } from './source-stream.ts';

const ACCOUNTS = 100;
/** Orders of one batch, and messages of the source that come with it. */
const BATCH = 16;
/** Orders that are open at the most. */
const OPEN = 1_000;
const CASH = 2 ** 42;
const SHARES = 5_000_000;

class MirrorLoad {
  private readonly simulator: Simulator;
  /** Markets by the ids of both tokens. */
  private readonly markets = new Map<string, MirroredMarket>();
  private readonly tokens: TokenRow[] = [];
  private readonly out = new CommandBuffer();
  private readonly orders = new CommandBuffer(32 * BATCH);
  private readonly random: Random;
  private readonly apiKey = new Int32Array(API_KEY_WORDS);
  private placed = 0;
  private owner = keyOf(ADDRESS_WORDS, 1, 1);
  /** Owners of the newest orders. */
  private readonly owners: Int32Array[] = [];
  private time = 1;

  constructor(seed: string, { markets }: SourceStream, orders: number) {
    this.random = new Random(seed);
    const tokens = 2 * markets.length;
    const rows = { markets: tokens, tokens, accounts: 2 * ACCOUNTS, orders: orders + 2 ** 15 };
    const more = { levels: 2_000 * tokens, trades: 2 ** 16, history: 2 ** 15, positions: 2 ** 16 };
    this.simulator = new Simulator({ ...rows, ...more }, { ledger: true });
    const { engine } = this.simulator;
    this.simulator.deposit('source', 2 ** 50);
    for (let i = 1; i <= ACCOUNTS; i++) this.simulator.deposit(i, CASH);
    for (const { tokens: ids } of markets) {
      const [token] = this.simulator.addMarket({ ticksPerUnit: 100 }) as [TokenRow, TokenRow];
      const paper = new EngineOrders(engine.t, token);
      const rules = { impact: 'keep', queue: 'pessimistic' } as const;
      const book = new MirroredBook({ token, ...rules, paper });
      const market = new MirroredMarket(book, ids[0]);
      for (const id of ids) this.markets.set(id, market);
      this.tokens.push(token);
    }
  }

  message(message: JsonObject): void {
    this.out.clear();
    for (const event of readEvents(message)) {
      if ('token' in event) this.markets.get(event.token)?.apply(event, this.out);
    }
    if (this.out.words > 0) this.apply(this.out);
  }

  /** A batch of orders that rest or trade, around the middle of the prices; older ones are cancelled. */
  trade(): void {
    this.orders.clear();
    for (let i = 0; i < BATCH; i++) {
      this.order();
      const old = this.placed - OPEN;
      if (old > 0) encodeCancel(this.orders, keyOf(ID_WORDS, 2, old), this.owners[old % OPEN]!);
      this.owners[this.placed % OPEN] = this.owner;
    }
    this.apply(this.orders);
  }

  private order(): void {
    const { random } = this;
    this.placed += 1;
    this.owner = keyOf(ADDRESS_WORDS, 1, 1 + random.below(ACCOUNTS));
    encodeOrder(this.orders, {
      token: (random.pick(this.tokens) + random.below(2)) as TokenRow,
      side: Side.buy,
      type: random.below(2) === 0 ? OrderType.GTC : OrderType.FAK,
      postOnly: false,
      shares: SHARES as MicroShares,
      collateral: ((SHARES / 100) * random.between(5, 60)) as MicroCollateral,
      expiration: 0,
      feeRateBps: 1_000,
      signatureType: 0,
      precheck: 0,
      id: keyOf(ID_WORDS, 2, this.placed),
      maker: this.owner,
      signer: this.owner,
      apiKey: this.apiKey,
    });
  }

  private apply({ f64, i32, words }: CommandBuffer): void {
    const { engine } = this.simulator;
    this.time += 1;
    engine.begin(this.time, closedCount(engine.t));
    for (let at = 0; at < words; at += commandWords(i32, at)) engine.apply(i32, f64, at);
    engine.end();
  }
}

/** Prints what a message and an order cost alone, and both together. Returns messages a second alone. */
export function mirrorFigures(seed: string, { markets, messages, rounds }: PaperShape): number {
  const stream = new SourceStream(seed, markets);
  const all = [...stream.messages(messages)].flatMap((entry) =>
    entry.kind === 'message' ? [entry.message] : [],
  );
  const batches = Math.floor(all.length / BATCH);
  const times: Record<'messages' | 'orders' | 'both', number[]> = {
    messages: [],
    orders: [],
    both: [],
  };
  // The first round warms up. Each begins with the same books.
  for (let round = -1; round < rounds; round++) {
    for (const kind of ['messages', 'orders', 'both'] as const) {
      const load = new MirrorLoad(`${seed}-orders`, stream, batches * BATCH);
      for (const message of all.slice(0, markets)) load.message(message);
      const start = process.cpuUsage();
      for (let batch = 0; batch < batches; batch++) {
        if (kind !== 'messages') load.trade();
        if (kind === 'orders') continue;
        for (let i = 0; i < BATCH; i++) load.message(all[batch * BATCH + i]!);
      }
      const { system, user } = process.cpuUsage(start);
      if (round >= 0) times[kind].push((system + user) / (batches * BATCH));
    }
  }
  const [message, order, both] = [times.messages, times.orders, times.both].map(median);
  const ns = (us: number | undefined): string => `${(1e3 * us!).toFixed(0)} ns`;
  print('mirror, messages a second', `${(1e6 / message!).toFixed(0)} (${ns(message)} each)`);
  print('an order and a cancel; with a message beside them', `${ns(order)}; ${ns(both)}`);
  return 1e6 / message!;
}

function keyOf(words: number, kind: number, number: number): Int32Array {
  const key = new Int32Array(words);
  key[0] = kind;
  key[words - 1] = number;
  return key;
}
