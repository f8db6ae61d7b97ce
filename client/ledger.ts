/**
 * Cash and shares of the caller's wallet, on a node with a ledger: what is free, complete sets made of cash and
 * back, and the statement. Amounts are decimal text.
 */
import type { Calls, RouteRequest } from './calls.ts';
import { toMicro } from './decimal.ts';
import { ApiError } from './errors.ts';
import { toHex } from './hashes.ts';
import { rowsOf } from './lists.ts';
import { decimalOf } from './money.ts';
import type { Routes, SetsAnswer } from './types.ts';

export interface Funds {
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}

export interface TokenFunds extends Funds {
  readonly tokenId: string;
}

export interface Balances {
  readonly cash: Funds;
  readonly positions: readonly TokenFunds[];
}

export interface Sets {
  /** Id of the request. A request with this id and amount does nothing a second time, and gets this answer again. */
  readonly id: string;
  readonly conditionId: string;
  readonly amount: string;
  /** Cash of the wallet afterwards, reserved cash included. */
  readonly cash: string;
  /** Unix milliseconds, as text. */
  readonly timestamp: string;
}

type Entry = Routes['GET /ledger/statement']['answer']['data'][number];

/** An entry of a statement: one change of the wallet's totals; cash and shares have a sign. */
export type StatementEntry = Entry;

type StatementQuery = RouteRequest<'GET /ledger/statement'>['query'];

const NOTHING: Funds = { total: '0', reserved: '0', free: '0' };
const ID_BYTES = 16;

export class Ledger {
  readonly #calls: Calls;
  readonly #isPlayed: boolean;
  readonly #query: { readonly wallet?: string };

  /**
   * @param isPlayed the node plays a recording, and has its time
   * @param wallet whose agent the caller is; absent: the caller's own
   */
  constructor(calls: Calls, isPlayed: boolean, wallet?: string) {
    this.#calls = calls;
    this.#isPlayed = isPlayed;
    this.#query = wallet === undefined ? {} : { wallet };
  }

  /** Cash and shares of the wallet. @throws ApiError `LEDGER_OFF` on a node without a ledger */
  async balances(): Promise<Balances> {
    const { cash, positions } = await this.#calls.call('GET /ledger/balance', {
      query: this.#query,
    });
    return {
      cash: fundsOf(cash),
      positions: positions.map(({ token_id, ...funds }) => ({
        tokenId: token_id,
        ...fundsOf(funds),
      })),
    };
  }

  /**
   * Cash of the wallet, or its shares of a token. Without a ledger nothing is reserved, and the total is the
   * largest amount of an order. @throws UnknownTokenError
   */
  async balance(token_id?: string): Promise<Funds> {
    try {
      const { cash, positions } = await this.balances();
      if (token_id === undefined) return cash;
      const position = positions.find(({ tokenId }) => tokenId === token_id);
      if (position !== undefined) {
        const { free, reserved, total } = position;
        return { total, reserved, free };
      }
      await this.#allowance(token_id); // throws for an unknown token
      return NOTHING;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'LEDGER_OFF') throw error;
      return this.#allowance(token_id);
    }
  }

  /**
   * Turns cash into complete sets of a market: one share of each outcome for each unit.
   * @param amount of sets, as decimal text @param id of `newId`, kept by a caller who repeats the call after an error
   */
  split(conditionId: string, amount: string, id?: string): Promise<Sets> {
    return this.#sets('POST /split', conditionId, amount, id);
  }

  merge(conditionId: string, amount: string, id?: string): Promise<Sets> {
    return this.#sets('POST /merge', conditionId, amount, id);
  }

  /** Every change of cash and shares, newest first. */
  statement(query: StatementQuery = {}): AsyncGenerator<StatementEntry, void> {
    return rowsOf({ ...this.#query, ...query }, 'next_cursor', async (paged) => {
      const page = await this.#calls.call('GET /ledger/statement', { query: paged });
      return { rows: page.data.map(inDecimals), next: page.next_cursor };
    });
  }

  /** Returns an id for one split or merge, of now by the node's clock. */
  async newId(): Promise<string> {
    const { play } = this.#isPlayed ? await this.#calls.call('GET /status', {}) : {};
    const random = toHex(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    return `${play?.time ?? this.#calls.clock.nowMs()}-${random}`;
  }

  async #sets(
    route: 'POST /split' | 'POST /merge',
    conditionId: string,
    amount: string,
    id: string | undefined,
  ): Promise<Sets> {
    const micro = toMicro(amount);
    if (micro === 0n) throw new RangeError(`${route}: amount must be positive`);
    const body = { conditionId, amount: String(micro), id: id ?? (await this.newId()) };
    return setsOf(await this.#calls.call(route, { body }));
  }

  async #allowance(token_id: string | undefined): Promise<Funds> {
    const query = {
      ...this.#query,
      ...(token_id === undefined
        ? { asset_type: 'COLLATERAL' as const }
        : { asset_type: 'CONDITIONAL' as const, token_id }),
    };
    const { balance } = await this.#calls.call('GET /balance-allowance', { query });
    const total = decimalOf(balance);
    return { total, reserved: '0', free: total };
  }
}

/** @param micro whole millionths as text */
export function fundsOf(micro: Funds): Funds {
  const { free, reserved, total } = micro;
  return { total: decimalOf(total), reserved: decimalOf(reserved), free: decimalOf(free) };
}

function setsOf({ amount, cash, ...rest }: SetsAnswer): Sets {
  return { ...rest, amount: decimalOf(amount), cash: decimalOf(cash) };
}

function inDecimals(entry: Entry): StatementEntry {
  const { cash, cash_after, shares, shares_after } = entry;
  return {
    ...entry,
    cash: decimalOf(cash),
    shares: decimalOf(shares),
    cash_after: decimalOf(cash_after),
    shares_after: decimalOf(shares_after),
  };
}
