/**
 * Ids and names in the frames of the streams, from the rows of the engine's tables.
 *
 * Thread: I/O. Markets, tokens and accounts are never removed, so no version is needed to read
 * them.
 */

import { conditionAt, tokenIdAt, tokenMarket, tokenOutcome } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import type { MarketLookup } from '../market-data/texts.ts';

export interface TokenName {
  /** Decimal uint256. */
  readonly id: string;
  readonly market: MarketRow;
  /** Condition id. */
  readonly condition: string;
  readonly outcome: number;
}

/** The text of a token id costs a division of big integers. */
const TOKENS_CACHED_MAX = 16_384;

export class Names {
  readonly t: Tables;
  private readonly lookup: MarketLookup;
  private readonly accounts: AccountTexts;
  private readonly tokens = new Map<number, TokenName>();

  constructor(tables: Tables, lookup: MarketLookup) {
    this.t = tables;
    this.lookup = lookup;
    this.accounts = new AccountTexts(tables, lookup);
  }

  token(token: TokenRow): TokenName {
    const known = this.tokens.get(token);
    if (known !== undefined) return known;
    const { t } = this;
    const market = tokenMarket(t, token);
    const name = {
      id: wordsToDecimal(t.tokenI, tokenIdAt(token)),
      market,
      condition: this.condition(market),
      outcome: tokenOutcome(t, token),
    };
    if (this.tokens.size === TOKENS_CACHED_MAX) this.tokens.clear();
    this.tokens.set(token, name);
    return name;
  }

  /** The label of a token's outcome; '' when the catalog does not list the market. */
  outcome({ market, outcome }: TokenName): string {
    return this.lookup(market)?.outcomes[outcome] ?? '';
  }

  condition(market: MarketRow): string {
    return wordsToHex(this.t.marketI, conditionAt(market), ID_WORDS);
  }

  /** The address text with its EIP-55 checksum. */
  wallet(account: AccountRow): string {
    return this.accounts.wallet(account);
  }
}
