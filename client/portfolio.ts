/** Positions of an address, what they are worth, and what the caller may spend. */
import type { Calls } from './calls.ts';
import type { BalanceAnswer, Routes } from './types.ts';

/** The caller's address when `user` is absent. */
type OfUser<Query extends { readonly user: string }> = Omit<Query, 'user'> & {
  readonly user?: string;
};
export type PositionsQuery = OfUser<Routes['GET /positions']['query']>;
export type ValueQuery = OfUser<Routes['GET /value']['query']>;
export type Position = Routes['GET /positions']['answer'][number];

const PAGE = 100;

export class Portfolio {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Pages have offsets: positions that close meanwhile may hide others. */
  async *positions(query: PositionsQuery): AsyncGenerator<Position, void> {
    const { limit = PAGE, offset = 0, user = this.#calls.identity.address, ...rest } = query;
    for (let from = offset; ; from += limit) {
      const page = { ...rest, user, limit, offset: from };
      const rows = await this.#calls.call('GET /positions', { query: page });
      yield* rows;
      if (rows.length === 0 || rows.length < limit) return;
    }
  }

  async value(query: ValueQuery): Promise<string> {
    const { user = this.#calls.identity.address, ...rest } = query;
    const [row] = await this.#calls.call('GET /value', { query: { ...rest, user } });
    return String(row?.value ?? 0);
  }

  balance(token_id: string | undefined): Promise<BalanceAnswer> {
    const query =
      token_id === undefined
        ? { asset_type: 'COLLATERAL' as const }
        : { asset_type: 'CONDITIONAL' as const, token_id };
    return this.#calls.call('GET /balance-allowance', { query });
  }
}
