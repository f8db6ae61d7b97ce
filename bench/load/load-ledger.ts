/**
 * The bookkeeping of a load run: what was sent, what was answered, and what the tool's own books
 * make of it. Every contradiction becomes a difference.
 * Thread: the tool's only one.
 * Non-goals: talking to the node (load-check.ts compares the totals kept here with its routes).
 */
import { microFromText, microText } from './load-amounts.ts';
import { ANONYMOUS, BUY, type Match, type Side } from './load-book.ts';
import type { LoadToken } from './load-market.ts';
import type { LoadOrder } from './load-orders.ts';

/** The texts of a duplicate and of an unfilled FOK (docs/reference/api.md). */
export const DUPLICATED =
  "order is invalid. Duplicated. Same order has already been placed, can't be placed again";
export const NOT_FILLED = "order couldn't be fully filled, FOK orders are fully filled/killed";

/** An order result of POST /orders (docs/protocol.md#order-results). */
export interface Answer {
  readonly success: boolean;
  readonly errorMsg: string;
  readonly orderID: string;
  readonly takingAmount: string;
  readonly makingAmount: string;
  readonly status: string;
}

const KILLED: Answer = {
  success: false,
  errorMsg: NOT_FILLED,
  orderID: '',
  takingAmount: '',
  makingAmount: '',
  status: 'error',
};

/** An order that was sent; `id` is the order hash that a success must carry. */
export type SentOrder = LoadOrder & { readonly id: string };

/** Sums that GET /trades must give for one wallet, token, side and role. */
export interface Total {
  rows: number;
  shares: number;
  collateral: number;
  /** The collateral is right to within +- this (fills against anonymous orders, answer lost). */
  slack: number;
}

interface Counts {
  /** Orders that have their one outcome: taken + killed + refused. */
  settled: number;
  /** Orders that the node took: resting, matched, or both. */
  taken: number;
  matched: number;
  /** FOK orders that found no full fill. */
  killed: number;
  /** Taken, with the answer lost: known by their refusal as duplicates. */
  recovered: number;
  /** Answered collateral inside the rounding of anonymous orders, but not the naive figure. */
  rounded: number;
  /** Fills against orders that were there before the tool came. */
  anonymous: number;
}

type Role = 'taker' | 'maker';

export function totalKey(account: number, token: LoadToken, side: Side, role: Role): string {
  return `${account}/${token.index}/${side}/${role}`;
}

export class Ledger {
  readonly counts: Counts = {
    settled: 0,
    taken: 0,
    matched: 0,
    killed: 0,
    recovered: 0,
    rounded: 0,
    anonymous: 0,
  };
  readonly refusals = new Map<string, number>();
  readonly differences: string[] = [];
  readonly totals = new Map<string, Total>();

  /**
   * Books the answers to one request. `lost` says how many earlier sendings of the very same
   * request had no answer: each of them was executed as a whole or not at all, and the duplicates
   * among the answers say which.
   */
  settle(orders: readonly SentOrder[], answers: readonly Answer[], lost: number): void {
    if (answers.length !== orders.length) {
      this.differences.push(`${orders.length} orders sent, ${answers.length} results answered`);
      return;
    }
    const duplicates = orders.filter((_, i) => answers[i]?.errorMsg === DUPLICATED);
    const taken = new Set<SentOrder>();
    for (let sending = 0; sending < lost; sending += 1) {
      if (duplicates.every((order) => taken.has(order))) break;
      for (const order of orders) if (!taken.has(order) && this.#take(order)) taken.add(order);
    }
    this.counts.recovered += taken.size;
    for (const [i, order] of orders.entries()) {
      const answer = answers[i];
      this.counts.settled += 1;
      if (answer === undefined) this.#differ(order, 'has no result');
      else if (taken.has(order)) this.#expectDuplicate(order, answer);
      else this.#expectOutcome(order, answer);
    }
  }

  /** Executes an order whose answer was lost. False when it is a FOK that is killed. */
  #take(order: SentOrder): boolean {
    const match = order.token.book.preview(order);
    if (order.type === 'FOK' && match.micro < order.micro) return false;
    this.#commit(order, match, match.collateral, match.slack);
    return true;
  }

  /** A duplicate names the order that is known; nothing here is ever cancelled. */
  #expectDuplicate(order: SentOrder, answer: Answer): void {
    const { errorMsg, orderID, status, success } = answer;
    const isKnown = orderID === order.id && (status === 'live' || status === 'matched');
    if (errorMsg !== DUPLICATED || success || !isKnown) {
      this.#differ(order, `was taken before the answer was lost, now ${JSON.stringify(answer)}`);
    }
  }

  #expectOutcome(order: SentOrder, answer: Answer): void {
    const match = order.token.book.preview(order);
    const killed = order.type === 'FOK' && match.micro < order.micro;
    if (!answer.success) {
      this.#expectRefusal(order, answer, killed);
      return;
    }
    if (killed) {
      this.#differ(order, `should have been killed, answered ${JSON.stringify(answer)}`);
      return;
    }
    const collateral = this.#answeredCollateral(order, answer, match);
    const matched = match.micro > 0;
    const shares = matched ? microText(match.micro) : '';
    const money = matched ? microText(collateral) : '';
    const [makingAmount, takingAmount] = order.side === BUY ? [money, shares] : [shares, money];
    const expected: Answer = {
      success: true,
      errorMsg: '',
      orderID: order.id,
      takingAmount,
      makingAmount,
      status: matched ? 'matched' : 'live',
    };
    this.#compare(order, answer, expected);
    this.#commit(order, match, collateral, 0);
  }

  #expectRefusal(order: SentOrder, answer: Answer, killed: boolean): void {
    this.refusals.set(answer.errorMsg, (this.refusals.get(answer.errorMsg) ?? 0) + 1);
    if (!killed) {
      this.#differ(order, `was refused: ${JSON.stringify(answer)}`);
      return;
    }
    this.counts.killed += 1;
    this.#compare(order, answer, KILLED);
  }

  /** The naive figure, or the answered one where anonymous orders may have rounded differently. */
  #answeredCollateral(order: SentOrder, answer: Answer, match: Match): number {
    if (match.slack === 0) return match.collateral;
    const text = order.side === BUY ? answer.makingAmount : answer.takingAmount;
    let answered: number;
    try {
      answered = microFromText(text);
    } catch {
      return match.collateral;
    }
    if (Math.abs(answered - match.collateral) > match.slack) return match.collateral;
    if (answered !== match.collateral) this.counts.rounded += 1;
    return answered;
  }

  #compare(order: SentOrder, answer: Answer, expected: Answer): void {
    const wrong = (Object.keys(expected) as (keyof Answer)[]).filter(
      (field) => answer[field] !== expected[field],
    );
    if (wrong.length === 0) return;
    const fields = wrong.map((field) => `${field} ${answer[field]}, expected ${expected[field]}`);
    this.#differ(order, `answered ${fields.join('; ')}`);
  }

  #commit(order: SentOrder, match: Match, collateral: number, slack: number): void {
    order.token.book.commit(order, match);
    this.counts.taken += 1;
    if (match.micro === 0) return;
    this.counts.matched += 1;
    this.#add(totalKey(order.account, order.token, order.side, 'taker'), {
      rows: 1,
      shares: match.micro,
      collateral,
      slack,
    });
    for (const { maker, micro, makerCollateral } of match.fills) {
      if (maker.account === ANONYMOUS) {
        this.counts.anonymous += 1;
        continue;
      }
      const { tokens } = order.token.market;
      const token = maker.slot === order.slot ? order.token : tokens[maker.slot];
      if (token === undefined) throw new Error('a maker trades a token of the same market');
      this.#add(totalKey(maker.account, token, maker.side, 'maker'), {
        rows: 1,
        shares: micro,
        collateral: makerCollateral,
        slack: 0,
      });
    }
  }

  #add(key: string, amount: Total): void {
    const total = this.totals.get(key);
    if (total === undefined) {
      this.totals.set(key, amount);
      return;
    }
    total.rows += amount.rows;
    total.shares += amount.shares;
    total.collateral += amount.collateral;
    total.slack += amount.slack;
  }

  #differ(order: SentOrder, text: string): void {
    const side = order.side === BUY ? 'BUY' : 'SELL';
    const { tokenId, market } = order.token;
    this.differences.push(
      `order ${order.id} (${order.type} ${side} ${microText(order.micro)} @ ` +
        `${order.ticks}/${market.ticksPerUnit} of token ${tokenId}) ${text}`,
    );
  }
}
