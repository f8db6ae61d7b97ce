/**
 * Runs every command through the engine and the naive exchange, and compares their outcomes and
 * books. `check` does it for a script of script.ts.
 */
import assert from 'node:assert/strict';
import { audit } from '../../engine/audit.ts';
import type { EventBuffer } from '../../engine/events.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { unsettledCount } from '../../engine/orders/unsettled.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { State } from '../../engine/tables/layout.ts';
import { EngineDriver, ROOMY } from './engine-driver.ts';
import { NaiveExchange } from './naive-exchange.ts';
import {
  bookText,
  type Command,
  type OrderLine,
  type Outcome,
  outcomeText,
} from './naive-types.ts';
import {
  commandText,
  decimal,
  depthText,
  lastText,
  outcomeClauses,
  ScriptReader,
} from './script.ts';

export class Duel {
  readonly driver: EngineDriver;
  readonly naive = new NaiveExchange();
  readonly commands: Command[] = [];
  readonly #named = new Set<number>();
  readonly #orders = new Map<number, OrderLine>();
  readonly #results: { line: OrderLine; making: bigint; taking: bigint }[] = [];

  constructor(capacities: Capacities = ROOMY, events?: EventBuffer) {
    this.driver = new EngineDriver(capacities, events);
  }

  /**
   * Runs a command on both, and compares the outcomes; at the end of each batch also the books of
   * its tokens. Commands that only a full table refuses are kept from the naive exchange.
   */
  step(command: Command): Outcome {
    this.commands.push(command);
    if (command.kind === 'at') this.#compareNamed();
    const outcome = this.driver.run(command);
    if (outcome.reason === RejectReason.tableFull) return outcome;
    const actual = outcomeText(command, outcome);
    const expected = outcomeText(command, this.naive.run(command));
    if (actual !== expected) {
      assert.equal(
        actual,
        expected,
        `engine (+) and reference (-) differ: ${commandText(command)}`,
      );
    }
    if (command.kind === 'order') {
      if (outcome.reason === RejectReason.accepted) this.#accept(command, outcome);
      this.#named.add(command.token);
    }
    if (command.kind === 'at') this.#placed(outcome);
    for (const fill of outcome.fills) this.#named.add(fill.makerToken).add(fill.takerToken);
    return outcome;
  }

  #accept(line: OrderLine, outcome: Outcome): void {
    this.#orders.set(line.id, line);
    if (outcome.fills.length === 0) return;
    const { making, taking } = outcome;
    this.#results.push({ line, making: BigInt(making), taking: BigInt(taking) });
  }

  /** Takers that were placed at the end of their delay: what they gave and got follows from their fills. */
  #placed({ fills }: Outcome): void {
    for (const fill of fills) {
      const fee = fill.isScheduled ? 0n : BigInt(fill.fee);
      const [size, collateral] = [BigInt(fill.size), BigInt(fill.takerCollateral)];
      const isBuy = fill.takerSide === 'BUY';
      const [making, taking] = isBuy ? [collateral, size - fee] : [size, collateral - fee];
      this.#results.push({ line: this.#order(fill.taker), making, taking });
    }
  }

  #compareBook(token: number): void {
    const book = this.naive.book(token);
    if (book === undefined) return;
    const actual = bookText(this.driver.book(token));
    const expected = bookText(book);
    if (actual !== expected) assert.equal(actual, expected, `books of token ${token} differ`);
  }

  #compareNamed(): void {
    this.driver.close();
    for (const token of this.#named) this.#compareBook(token);
    this.#named.clear();
  }

  compareAll(): void {
    const { t } = this.driver;
    this.driver.settle();
    audit(t);
    for (let token = 1; token <= this.naive.tokenCount(); token++) this.#compareBook(token);
    assert.equal(t.state[State.openOrders], this.naive.openOrders(), 'open orders');
    assert.equal(t.delayed.size, this.naive.delayedOrders(), 'delayed orders');
    assert.equal(unsettledCount(t), this.naive.unsettled.length, 'unsettled fills');
    assert.equal(t.state[State.fills], this.naive.fills, 'fills');
    this.naive.markets.forEach((market, i) => {
      assert.equal(this.driver.rounding(i + 1), Number(market.rounding), `rounding of ${i + 1}`);
    });
  }

  /**
   * Checks sums: takers by their results net of fees, makers and fees by the ring of fills,
   * rounding by the engine's own column. Also checks every order against its signed limits. Rules:
   * docs/protocol.md#settlement
   */
  checkConservation(): void {
    const sums = this.naive.markets.map(() => new MarketSums());
    const totals = new Map<OrderLine, { filled: bigint; paid: bigint }>();
    const add = (line: OrderLine, size: bigint, collateral: bigint): void => {
      const total = totals.get(line) ?? { filled: 0n, paid: 0n };
      totals.set(line, { filled: total.filled + size, paid: total.paid + collateral });
    };
    const count = this.driver.t.state[State.fills]!;
    assert(count <= this.driver.t.fillRows, 'the ring still holds every fill');
    for (let n = 0; n < count; n++) {
      const fill = this.driver.fillLine(n);
      const size = BigInt(fill.size);
      const taker = this.#order(fill.taker);
      const maker = this.#order(fill.maker);
      const sum = this.#sumOf(sums, taker.token);
      const makerCollateral = BigInt(fill.makerCollateral);
      sum.settle(maker, maker.side === 'BUY' ? makerCollateral : size, {
        received: maker.side === 'BUY' ? size : makerCollateral,
      });
      // The answers of a market with a schedule are those of the trade.
      if (!fill.isScheduled) sum.addFee(taker, BigInt(fill.fee));
      if (taker.token !== maker.token) sum.mintOrMerge(taker, maker, size);
      add(taker, size, BigInt(fill.takerCollateral));
      add(maker, size, makerCollateral);
      assertInsideLimit(taker, fill.takerPrice);
      assertAtLimit(maker, fill.makerPrice);
    }
    for (const { line, making, taking } of this.#results) {
      this.#sumOf(sums, line.token).settle(line, making, { received: taking });
    }
    sums.forEach((sum, i) => {
      sum.assertConserved(BigInt(this.driver.rounding(i + 1)));
    });
    const missing = sums.reduce((sum, _, i) => sum - this.driver.rounding(i + 1), 0);
    assert(missing <= count, 'budgets lack at most one micro-unit for each fill');
    for (const [line, { filled, paid }] of totals) {
      assert(filled <= line.shares, `#${line.id} trades no more than it signed for`);
      assert(
        line.side === 'SELL' || paid <= line.collateral,
        `#${line.id} pays what it signed for`,
      );
    }
  }

  #order(id: number): OrderLine {
    const line = this.#orders.get(id);
    assert(line !== undefined, 'only accepted orders trade');
    return line;
  }

  #sumOf(sums: readonly MarketSums[], token: number): MarketSums {
    const market = this.naive.marketOf(token);
    const sum = market === undefined ? undefined : sums[this.naive.markets.indexOf(market)];
    assert(sum !== undefined, 'a trade has a market');
    return sum;
  }

  text(): string {
    return this.commands.map(commandText).join('\n');
  }
}

function assertInsideLimit(line: OrderLine, pips: number): void {
  const value = line.shares * BigInt(pips);
  const limit = line.collateral * 10_000n;
  // A nearest tick may lie past the signed quotient by less than one micro-unit of all it costs.
  const isInside = line.side === 'BUY' ? value < limit + 10_000n : value > limit - 10_000n;
  assert(isInside, `#${line.id} trades inside its limit`);
}

function assertAtLimit(line: OrderLine, pips: number): void {
  assert.equal(
    line.shares * BigInt(pips),
    line.collateral * 10_000n,
    `#${line.id} makes its price`,
  );
}

class MarketSums {
  readonly #shares = new Map<number, bigint>();
  #collateral = 0n;

  settle(line: OrderLine, given: bigint, { received }: { received: bigint }): void {
    this.#addShares(line.token, line.side === 'BUY' ? -received : given);
    this.#collateral += line.side === 'BUY' ? given : -received;
  }

  addFee(taker: OrderLine, fee: bigint): void {
    if (taker.side === 'BUY') this.#addShares(taker.token, -fee);
    else this.#collateral -= fee;
  }

  mintOrMerge(taker: OrderLine, maker: OrderLine, size: bigint): void {
    const minted = taker.side === 'BUY' ? size : -size;
    this.#addShares(taker.token, minted);
    this.#addShares(maker.token, minted);
    this.#collateral -= minted;
  }

  assertConserved(rounding: bigint): void {
    for (const [token, shares] of this.#shares) {
      assert.equal(shares, 0n, `shares of token ${token} are conserved`);
    }
    assert.equal(this.#collateral, rounding, 'collateral is conserved up to the rounding');
    assert(rounding <= 0n, 'rounding only misses, it never gains');
  }

  #addShares(token: number, shares: bigint): void {
    this.#shares.set(token, (this.#shares.get(token) ?? 0n) + shares);
  }
}

/** Runs a script line by line on both exchanges; see script.ts for the notation. */
export function check(script: string, capacities: Capacities = ROOMY): Duel {
  const lines = script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const reader = new ScriptReader();
  const duel = new Duel(capacities);
  // A script that sets its own time sets up its own markets too.
  if (!lines[0]?.startsWith('at ')) lines.unshift('at 1000', 'market 1');
  for (const line of lines) {
    // The second gap of two spaces or more parts a command from what it must do.
    const [, text = '', expected] = /^(\S+(?:\s+#\d+)?\s+.*?)(?:\s{2,}(\S.*))?$/.exec(line) ?? [];
    const reading = readState(duel, text);
    if (reading !== undefined) {
      assert.equal(reading, expected, text);
      continue;
    }
    const command = reader.read(text);
    const outcome = duel.step(command);
    if (expected !== undefined) assertOutcome(command, outcome, expected, text);
  }
  duel.compareAll();
  duel.checkConservation();
  return duel;
}

function assertOutcome(command: Command, outcome: Outcome, expected: string, text: string): void {
  const { main, money } = outcomeClauses(command, outcome);
  const wanted = expected.split(', ');
  const isMoney = (clause: string): boolean => /^(gives|gets|fee|legs) /.test(clause);
  assert.equal(main.join(', '), wanted.filter((c) => !isMoney(c)).join(', '), text);
  for (const clause of wanted.filter(isMoney)) {
    assert(money.includes(clause), `${text}: ${clause} expected, but ${money.join(', ')}`);
  }
}

/** Answers a question of a script: `book 2`, `last 2`, `rounding 1`. */
function readState(duel: Duel, text: string): string | undefined {
  const [verb, number] = text.split(/\s+/);
  const n = Number(number);
  if (verb === 'book') return depthText(duel.driver.book(n));
  if (verb === 'last') return lastText(duel.driver.book(n));
  if (verb === 'rounding') return decimal(duel.driver.rounding(n));
  return undefined;
}
