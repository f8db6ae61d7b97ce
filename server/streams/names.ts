/**
 * Ids and names in the frames of the streams, from the tables of the engine.
 *
 * Thread: I/O. Markets, tokens and accounts are never removed, so reading them needs no version.
 */

import { conditionAt, tokenIdAt, tokenMarket, tokenOutcome } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { BoundedCache } from '../common/bounded-cache.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import type { MarketLookup } from '../market-data/texts.ts';

export interface TokenName {
  readonly id: string;
  readonly market: MarketRow;
  readonly condition: string;
  readonly outcome: number;
}

/** The text of a token id costs a division of big integers. */
const TOKENS_CACHED_MAX = 16_384;

export class Names {
  readonly tables: Tables;
  private readonly lookup: MarketLookup;
  private readonly accounts: AccountTexts;
  private readonly tokens = new BoundedCache(TOKENS_CACHED_MAX, (token: TokenRow) =>
    this.tokenName(token),
  );

  constructor(tables: Tables, lookup: MarketLookup) {
    this.tables = tables;
    this.lookup = lookup;
    this.accounts = new AccountTexts(tables, lookup);
  }

  token(token: TokenRow): TokenName {
    return this.tokens.get(token)!;
  }

  /** Label of a token's outcome; '' if the catalog does not list the market. */
  outcome({ market, outcome }: TokenName): string {
    return this.lookup(market)?.outcomes[outcome] ?? '';
  }

  condition(market: MarketRow): string {
    return wordsToHex(this.tables.marketI, conditionAt(market), ID_WORDS);
  }

  wallet(account: AccountRow): string {
    return this.accounts.wallet(account);
  }

  private tokenName(token: TokenRow): TokenName {
    const { tables } = this;
    const market = tokenMarket(tables, token);
    return {
      id: wordsToDecimal(tables.tokenI, tokenIdAt(token)),
      market,
      condition: this.condition(market),
      outcome: tokenOutcome(tables, token),
    };
  }
}
