/** Positions of an address by its trades, and what they are worth. Money is decimal text. */
import type { Calls } from './calls.ts';
import type { TextMoney } from './money.ts';
import type { Routes } from './types.ts';

type OfUser<Query extends { readonly user: string }> = Omit<Query, 'user'> & {
  readonly user?: string;
};
export type PositionsQuery = OfUser<Routes['GET /positions']['query']>;
export type ValueQuery = OfUser<Routes['GET /value']['query']>;
export type Position = TextMoney<Routes['GET /positions']['answer'][number]>;

const PAGE = 100;

export class Portfolio {
  readonly #calls: Calls;
  readonly #wallet: string | undefined;

  /** @param wallet whose positions are meant where a query names none; absent: the caller's address */
  constructor(calls: Calls, wallet?: string) {
    this.#calls = calls;
    this.#wallet = wallet;
  }

  /** Pages have offsets: positions that close meanwhile may hide others. */
  async *positions(query: PositionsQuery): AsyncGenerator<Position, void> {
    const { limit = PAGE, offset = 0, user = this.#user(), ...rest } = query;
    for (let from = offset; ; from += limit) {
      const page = { ...rest, user, limit, offset: from };
      const rows = await this.#calls.callMoney('GET /positions', { query: page });
      yield* rows;
      if (rows.length === 0 || rows.length < limit) return;
    }
  }

  async value(query: ValueQuery): Promise<string> {
    const { user = this.#user(), ...rest } = query;
    const [row] = await this.#calls.callMoney('GET /value', { query: { ...rest, user } });
    return row?.value ?? '0';
  }

  #user(): string {
    return this.#wallet ?? this.#calls.identity.address;
  }
}
