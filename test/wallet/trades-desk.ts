import { OrderType } from '../../engine/commands.ts';
import { FILL_DOUBLES, FILL_WORDS, Fill, State } from '../../engine/tables/layout.ts';
import { wordsToHex } from '../../server/common/uint256.ts';
import { TradesIndex } from '../../server/market-data/trades-index.ts';
import { SequenceLockReader } from '../../server/orders/exchange-memory/sequence-lock-reader.ts';
import { OwnOrders } from '../../server/wallet/own-orders.ts';
import type { OwnTrade, TradeFilter } from '../../server/wallet/own-trades.ts';
import type { Random } from '../common/random.ts';
import { Fixture, SMALL, walletWords } from '../market-data/read-fixture.ts';

/** Wallets 1 and 2 are signed for by 1, 3 and 4 by 3; the others by themselves. */
const SIGNERS = [0, 1, 1, 3, 3, 5, 6];

export class Desk {
  readonly fixture: Fixture;
  readonly index: TradesIndex;
  readonly orders: OwnOrders;
  placed = 0;

  constructor(trades = 400) {
    this.fixture = new Fixture({ ...SMALL, trades });
    this.index = new TradesIndex(this.fixture.t);
    const sequenceLock = new SequenceLockReader(undefined, setImmediate);
    this.orders = new OwnOrders({
      tables: this.fixture.t,
      sequenceLock,
      storedClosedOrder: () => undefined,
    });
  }

  trade(random: Random, tokens: readonly number[], count: number): void {
    for (let i = 0; i < count; i++) {
      const wallet = random.between(1, 6);
      const signer = SIGNERS[wallet]!;
      this.placed += 1;
      this.fixture.order({
        token: random.pick(tokens),
        wallet,
        ...(signer === wallet ? {} : { signer }),
        sell: random.chance(50),
        type: random.chance(40) ? OrderType.FAK : OrderType.GTC,
        ticks: random.between(1, 9),
        shares: random.between(1, 60) * 1_000_000,
      });
    }
    this.flush();
  }

  flush(): void {
    this.index.append(this.index.end, this.fixture.t.state[State.fills]!);
  }

  account(wallet: number): number {
    const hex = wordsToHex(walletWords(wallet), 0, 5);
    return this.orders.owner(Buffer.from(hex.slice(2), 'hex'));
  }

  i32(fill: number, column: number): number {
    const { fillI, fillRows } = this.fixture.t;
    return fillI[(fill % fillRows) * FILL_WORDS + column]!;
  }

  f64(fill: number, column: number): number {
    const { fillF, fillRows } = this.fixture.t;
    return fillF[(fill % fillRows) * FILL_DOUBLES + column]!;
  }

  /** Matches of the window with a part of an owner, newest first, by a scan of every fill. */
  scan(owner: number, filter: TradeFilter): OwnTrade[] {
    const matches = new Map<number, number[]>();
    for (let fill = this.index.first; fill < this.index.end; fill++) {
      const match = this.f64(fill, Fill.match);
      if (match < this.index.first) continue;
      matches.set(match, [...(matches.get(match) ?? []), fill]);
    }
    const found: OwnTrade[] = [];
    for (const [match, fills] of matches) {
      const isTaker = this.i32(match, Fill.takerOwner) === owner;
      const own = fills.filter((fill) => this.i32(fill, Fill.makerOwner) === owner);
      const taker = this.i32(match, Fill.taker);
      const makers = fills.map((fill) => this.i32(fill, Fill.maker));
      const tokens = own.map((fill) => this.i32(fill, Fill.makerToken));
      const seconds = Math.floor(this.f64(match, Fill.time) / 1_000);
      const token = this.i32(match, Fill.takerToken);
      const passes =
        (isTaker || own.length > 0) &&
        (filter.market === 0 || filter.market === (token <= 2 ? 1 : 2)) &&
        (filter.token === 0 || [token, ...tokens].includes(filter.token)) &&
        (filter.wallet === 0 || [taker, ...makers].includes(filter.wallet)) &&
        (filter.taker === 0 || taker === filter.taker) &&
        (filter.maker === 0 || makers.includes(filter.maker)) &&
        seconds < filter.before &&
        seconds > filter.after;
      if (passes) found.push({ match, isTaker, made: own.length });
    }
    return found.reverse();
  }
}
