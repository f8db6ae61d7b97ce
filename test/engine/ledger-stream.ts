/**
 * Random commands of an exchange with a ledger: the busy stream of orders, and between them
 * deposits, withdrawals, splits, merges, declarations, payments of fees, resolutions and their
 * steps, repeated ids and bad input. Now and then more than a year passes, so that ids that are
 * texts are dropped.
 */
import type { Random } from '../common/random.ts';
import type { LedgerCommand } from './ledger-duel.ts';
import type { AgentLine } from './naive-agents.ts';
import type {
  FundsLine,
  HouseLine,
  InviteLine,
  InviteUseLine,
  RelayLine,
  RequestLine,
  ResolveLine,
  SeasonLine,
  WithdrawLine,
} from './naive-ledger.ts';

type KeptLine = FundsLine | ResolveLine | WithdrawLine;

import type { OrderLine } from './naive-types.ts';
import { BUSY, MARKETS, Stream, type StreamShape } from './stream.ts';

const SHARE = 1_000_000;
/** Proxies and signers of the busy stream, and some that it does not know. */
const WALLETS = BUSY.accounts + 2;
/** Wallets that may become accounts of the house. */
const HOUSES = [1, 2, 3];
/** Addresses that may become agents; the last one is a wallet, too. */
const AGENTS = [901, 902, 903, 904, 2];
/** The first of further ones, so that a wallet has too many. */
const MORE_AGENTS = 910;
const AGENTS_OF_WALLET = 8;
const DAY = 86_400_000;
const RECENT_MAX = 40;
const BAD_AMOUNTS = [0, -1, 0.5, Number.NaN, 2 ** 53, 2 ** 60, Number.POSITIVE_INFINITY];

export class LedgerStream {
  readonly #random: Random;
  readonly #orders: Stream;
  readonly #recent: KeptLine[] = [];
  readonly #resolving: number[] = [];
  #proposed = 1;
  #time = 1_000_000;
  #key = 0;
  /** Number of the next code. */
  #code = 1;
  /** Agents that were authorised, the newest last. */
  readonly #agents: Pick<AgentLine, 'agent' | 'owner' | 'wallet'>[] = [];
  readonly #setUp: (() => LedgerCommand)[];

  constructor(random: Random, shape: Partial<StreamShape> = {}) {
    this.#random = random;
    this.#orders = new Stream(random, { ...BUSY, ends: 0.1, ...shape });
    // Its markets, then money for those who trade.
    this.#setUp = Array.from({ length: MARKETS.length + 1 }, () => () => this.#order());
    for (let wallet = 1; wallet <= BUSY.accounts && random.chance(95); wallet++) {
      const amount = random.between(100, 3_000) * SHARE;
      this.#setUp.push(() => ({ ...this.#funds(), kind: 'deposit', wallet, signer: 0, amount }));
      for (let market = 1; market <= MARKETS.length; market++) {
        const sets = { market, amount: random.between(1, 150) * SHARE };
        this.#setUp.push(() => ({ ...this.#funds(), kind: 'split', wallet, signer: 0, ...sets }));
      }
    }
  }

  next(): LedgerCommand {
    const random = this.#random;
    const setUp = this.#setUp.shift();
    if (setUp !== undefined) return setUp();
    if (random.chance(0.1)) return this.#pass();
    if (random.chance(86)) return this.#order();
    if (this.#resolving.length > 0 && random.chance(40)) return this.#step();
    if (this.#recent.length > 0 && random.chance(6)) return this.#again();
    if (random.chance(15)) return this.#relay();
    if (random.chance(10)) return this.#invitation();
    if (random.chance(12)) return this.#agent();
    if (random.chance(1)) return this.#house();
    if (random.chance(0.5)) return this.#keep(this.#resolve());
    if (random.chance(1.5)) return this.#keep(this.#propose());
    if (random.chance(1.5)) return this.#keep(this.#withdrawProposal());
    return this.#keep(this.#funds());
  }

  /** Commands shortly before the end of the stream, which end every resolution. */
  last(): LedgerCommand[] {
    return this.#resolving.flatMap((market) => [
      { kind: 'step' as const, market, limit: 1_000_000 },
      { kind: 'step' as const, market, limit: 1_000_000 },
      { kind: 'step' as const, market, limit: 1_000_000 },
    ]);
  }

  /**
   * Ends all markets, then a season in small steps, with commands of every kind between them.
   * @param cashOf cash of a wallet now
   */
  *seasonEnd(cashOf: (wallet: number) => number): Generator<LedgerCommand> {
    const random = this.#random;
    const limit = 1_000_000;
    yield this.#season();
    for (let market = 1; market <= MARKETS.length; market++) {
      const weights = Array.from({ length: MARKETS[market - 1]![0] }, () => 1);
      yield { kind: 'withdrawProposal', id: this.#goodId(), market };
      yield { kind: 'resolve', id: this.#goodId(), market, weights, isVoid: false, group: 0 };
      for (let i = 0; i < 3; i++) yield { kind: 'step', market, limit };
    }
    // A house with cash keeps the season from its end.
    yield this.#season();
    for (const wallet of HOUSES) {
      const line = { ...this.#funds(), id: this.#goodId(), wallet };
      yield { ...line, kind: 'withdraw', signer: 0, amount: cashOf(wallet) };
    }
    yield { ...this.#season(), amount: random.pick([...BAD_AMOUNTS, 2 ** 52]) };
    const line = this.#season();
    yield line;
    yield line;
    yield this.#season();
    for (let i = 0; i < 120; i++) {
      if (random.chance(12)) yield { kind: 'seasonStep', limit: random.pick([1, 1, 2, 3]) };
      else if (random.chance(3)) yield this.#house();
      else if (random.chance(30)) yield random.chance(50) ? this.#funds() : this.#relay();
      else yield this.next();
    }
    yield this.#orders.pass(1_000);
    for (let i = 0; i < 2; i++) yield { kind: 'seasonStep', limit };
    for (let i = 0; i < 60; i++) yield this.next();
  }

  #house(): HouseLine {
    return { kind: 'house', wallet: this.#random.pick([...HOUSES, 98]) };
  }

  #season(): SeasonLine {
    return { kind: 'season', id: this.#goodId(), amount: this.#random.between(1, 2_000) * SHARE };
  }

  #goodId(): RequestLine {
    this.#key += 1;
    return { isOperator: true, ms: this.#time, key: this.#key };
  }

  #pass(): LedgerCommand {
    const days = this.#random.pick([0.2, 1, 1, 150, 399, 401, 800]);
    const command = this.#orders.pass(days * 86_400_000);
    if (command.kind === 'at') this.#time = command.time;
    return command;
  }

  #order(): LedgerCommand {
    const command = this.#orders.next();
    if (command.kind === 'at') this.#time = command.time;
    return command.kind === 'order' && this.#random.chance(12) ? this.#byAgent(command) : command;
  }

  /** Lets an agent sign an order, of a wallet that mostly has it. */
  #byAgent({ derived, ...line }: OrderLine): OrderLine {
    const random = this.#random;
    const of = this.#agents.length > 0 && random.chance(85) ? random.pick(this.#agents) : undefined;
    const { agent, wallet } = of ?? { agent: random.pick(AGENTS), wallet: line.maker };
    const isForeign = random.chance(70);
    return {
      ...line,
      maker: wallet,
      signer: agent,
      signatureType: isForeign ? random.below(3) : 1 + random.below(2),
      ...(isForeign ? { foreign: true as const } : {}),
    };
  }

  /** Authorises more agents of a wallet than it may have. */
  #crowd(wallet: number): void {
    const terms = { cash: SHARE, size: SHARE, end: this.#time + DAY, markets: [] };
    for (let i = 0; i <= AGENTS_OF_WALLET; i++) {
      const line = { kind: 'agent' as const, wallet, agent: MORE_AGENTS + i, owner: wallet };
      this.#setUp.push(() => ({ ...line, isDerived: false, terms }));
    }
  }

  #agent(): AgentLine {
    const random = this.#random;
    const known =
      this.#agents.length > 0 && random.chance(50) ? random.pick(this.#agents) : undefined;
    const owner = 1 + random.below(WALLETS);
    if (random.chance(3)) this.#crowd(owner);
    const line = {
      kind: 'agent' as const,
      wallet: random.chance(60) ? owner : random.chance(3) ? 98 : 1 + random.below(WALLETS),
      agent: random.pick(AGENTS),
      owner,
      isDerived: random.chance(10),
      ...known,
    };
    if (random.chance(15)) return line;
    this.#agents.push({ wallet: line.wallet, agent: line.agent, owner: line.owner });
    if (this.#agents.length > 12) this.#agents.shift();
    const isBad = random.chance(3);
    const end = this.#time + random.pick([1, 5_000, 60_000, DAY, 366 * DAY]);
    const markets = Array.from({ length: random.below(3) }, () =>
      random.chance(2) ? 99 : 1 + random.below(MARKETS.length),
    );
    const terms = {
      cash: isBad ? random.pick(BAD_AMOUNTS) : random.pick([0, 1, 40, 200]) * SHARE,
      size: random.chance(2) ? random.pick(BAD_AMOUNTS) : random.between(1, 60) * SHARE,
      end: random.chance(3) ? this.#time + random.pick([0, -1, 0.5, 367 * DAY]) : end,
      markets: random.chance(60) ? [] : markets,
    };
    return { ...line, terms };
  }

  #keep<T extends KeptLine>(line: T): T {
    this.#recent.push(line);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    return line;
  }

  #id(): RequestLine {
    const random = this.#random;
    this.#key += 1;
    if (random.chance(30)) return { isOperator: true, isText: true, ms: 0, key: this.#key };
    const ms = random.chance(1)
      ? random.pick([-1, 0.5, Number.NaN, this.#time + 300_001, 2 ** 60])
      : Math.max(1, this.#time + random.between(-900_000, 300_000));
    return { isOperator: random.chance(50), ms, key: this.#key };
  }

  #funds(): FundsLine {
    const random = this.#random;
    const kind = random.pick([
      ...(['deposit', 'deposit', 'split', 'split', 'split', 'merge', 'withdraw'] as const),
      ...(['deposit', 'split', 'merge', 'withdraw', 'declare'] as const),
      ...(['declare', 'payFees', 'payRebate', 'drawFees'] as const),
    ]);
    const isBad = random.chance(3);
    return {
      kind,
      id: this.#id(),
      wallet: random.chance(1) ? 90 + random.below(9) : 1 + random.below(WALLETS),
      signer: kind === 'declare' || random.chance(10) ? random.below(WALLETS) : 0,
      market: random.chance(2) ? 99 : 1 + random.below(MARKETS.length),
      amount: isBad ? random.pick(BAD_AMOUNTS) : this.#amount(kind),
    };
  }

  #relay(): RelayLine {
    const random = this.#random;
    const market = 1 + random.below(MARKETS.length);
    const calls = Array.from({ length: random.between(1, 6) }, () => ({
      kind: random.pick(['approve', 'split', 'split', 'merge', 'merge', 'redeem'] as const),
      // The same market mostly, so that a call needs what another brought.
      market: random.chance(70) ? market : random.chance(3) ? 99 : random.below(MARKETS.length + 1),
      amount: random.chance(3) ? random.pick(BAD_AMOUNTS) : this.#amount('merge'),
    }));
    return {
      kind: 'relay',
      wallet: random.chance(1) ? 90 + random.below(9) : 1 + random.below(WALLETS),
      off: random.chance(10) ? random.pick([-1, 1, 2 ** 40]) : 0,
      // Redemptions are rarely possible.
      calls: random.chance(80)
        ? calls.filter(({ kind }, i) => i === 0 || kind !== 'redeem')
        : calls,
    };
  }

  #invitation(): InviteLine | InviteUseLine {
    const random = this.#random;
    if (random.chance(25)) {
      const isNew = random.chance(80);
      const first = isNew ? this.#code : 1 + random.below(this.#code);
      const codes = Array.from({ length: random.between(1, 4) }, (_, i) => first + i);
      if (isNew) this.#code += codes.length;
      const cash = random.chance(5) ? random.pick(BAD_AMOUNTS) : random.below(3) * 50 * SHARE;
      return { kind: 'invite', codes, cash };
    }
    return {
      kind: random.chance(15) ? 'revoke' : 'redeem',
      code: 1 + random.below(this.#code + 1),
      wallet: 1 + random.below(WALLETS + 20),
    };
  }

  #amount(kind: FundsLine['kind']): number {
    const random = this.#random;
    if (random.chance(10)) return random.between(1, 300);
    if (random.chance(0.5)) return 2 ** 52 - random.below(3);
    if (kind === 'payFees' || kind === 'payRebate' || kind === 'drawFees')
      return random.between(1, SHARE / 2);
    return random.between(1, kind === 'deposit' ? 400 * SHARE : 60 * SHARE);
  }

  #resolve(): ResolveLine {
    const random = this.#random;
    const market = random.chance(3) ? 99 : 1 + random.below(MARKETS.length);
    const outcomes = MARKETS[market - 1]?.[0] ?? 2;
    const isVoid = random.chance(20);
    if (market !== 99 && !this.#resolving.includes(market)) this.#resolving.push(market);
    return {
      kind: 'resolve',
      id: this.#id(),
      market,
      weights: this.#weights(outcomes, isVoid),
      isVoid,
      group: random.chance(50) ? 5 : 0,
    };
  }

  #propose(): ResolveLine {
    const line = { ...this.#resolve(), review: this.#review() };
    this.#proposed = line.market;
    return line;
  }

  /** Time until the next command: seconds mostly, now and then a day. */
  #review(): number {
    const random = this.#random;
    const year = 365 * 86_400_000;
    if (random.chance(5)) return random.pick([0, -1, 0.5, Number.NaN, year + 1, 2 ** 60]);
    return random.pick([1, 1_000, 20_000, 86_400_000, year]);
  }

  #withdrawProposal(): WithdrawLine {
    const random = this.#random;
    const market = random.chance(20) ? random.below(MARKETS.length + 2) : this.#proposed;
    return { kind: 'withdrawProposal', id: this.#id(), market };
  }

  #weights(outcomes: number, isVoid: boolean): number[] {
    const random = this.#random;
    if (random.chance(15)) return random.pick([[1], [-1, 2], [0, 0], [5_000, 5_001], [0.5, 0.5]]);
    const each = random.pick([1, 3, 1_000]);
    if (isVoid && random.chance(90)) return Array.from({ length: outcomes }, () => each);
    const winner = random.below(outcomes);
    if (random.chance(60)) return Array.from({ length: outcomes }, (_, i) => +(i === winner));
    return Array.from({ length: outcomes }, () => random.below(3_000));
  }

  /** An earlier command, unchanged or with one member changed. */
  #again(): LedgerCommand {
    const random = this.#random;
    const line = random.pick(this.#recent);
    if (random.chance(60)) return line;
    if (line.kind === 'withdrawProposal') return { ...line, market: line.market + 1 };
    if (line.kind === 'resolve' && line.review !== undefined) {
      if (random.chance(50)) return { ...line, id: this.#id() };
      return { ...line, review: line.review + 1 };
    }
    if (line.kind === 'resolve') return { ...line, weights: [...line.weights].reverse() };
    if (random.chance(30)) return { ...line, wallet: 1 + random.below(WALLETS) };
    return { ...line, amount: line.amount + 1, id: { ...line.id } };
  }

  #step(): LedgerCommand {
    const random = this.#random;
    const market = random.chance(3) ? 99 : random.pick(this.#resolving);
    return { kind: 'step', market, limit: random.pick([1, 1, 2, 3, 50]) };
  }
}
