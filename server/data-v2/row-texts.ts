/**
 * Members that rows below /v2 share: market, outcome and profile of a wallet. Rules: docs/protocol.md#rows-of-the-data-api-v2
 *
 * Thread: I/O.
 */
import { conditionAt, tokenMarket, tokenOutcome } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { nextIteration } from '../common/event-loop.ts';
import { wordsToHex } from '../common/uint256.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import type { MarketInfo, MarketLookup } from '../market-data/texts.ts';

/** Wallets have no profile beside their names. */
const NO_PROFILE = {
  name: '',
  pseudonym: '',
  bio: '',
  profile_image: '',
  profile_image_optimized: '',
};
/** Value that clients read for a row of no single outcome. */
const NO_OUTCOME = 999;
const ROWS_PER_TURN = 64;

export interface RowTextParts {
  readonly tables: Tables;
  readonly names: AccountTexts;
  readonly infos: MarketLookup;
  /** Display name of a wallet, 0x and 40 lower-case digits; '' = none. */
  readonly shownName: (wallet: string) => string;
}

export class RowTexts {
  readonly tables: Tables;
  private readonly names: AccountTexts;
  private readonly infos: MarketLookup;
  private readonly shownName: RowTextParts['shownName'];

  constructor({ infos, names, shownName, tables }: RowTextParts) {
    this.tables = tables;
    this.names = names;
    this.infos = infos;
    this.shownName = shownName;
  }

  wallet(account: AccountRow): string {
    return this.names.wallet(account).toLowerCase();
  }

  tokenId(token: TokenRow): string {
    return this.names.token(token).asset_id;
  }

  outcome(token: TokenRow): string {
    return this.names.token(token).outcome;
  }

  conditionId(market: MarketRow): string {
    return wordsToHex(this.tables.marketI, conditionAt(market), ID_WORDS);
  }

  info(market: MarketRow): MarketInfo | undefined {
    return this.infos(market);
  }

  /** Market and outcome of a token. */
  ofToken(token: TokenRow): object {
    const { tables } = this;
    const outcome = { outcome: this.outcome(token), outcome_index: tokenOutcome(tables, token) };
    return { ...this.ofMarket(tokenMarket(tables, token)), ...outcome };
  }

  /** Market of a row without a single outcome; 0 = of no market. */
  ofMarket(market: MarketRow | 0): object {
    const info = market === 0 ? undefined : this.infos(market);
    return {
      title: info?.question ?? '',
      slug: info?.slug ?? '',
      icon: info?.icon ?? '',
      event_slug: info?.eventSlug ?? '',
      outcome: '',
      outcome_index: NO_OUTCOME,
    };
  }

  name(account: AccountRow): string {
    return this.shownName(this.wallet(account));
  }

  profile(account: AccountRow): object {
    return { ...NO_PROFILE, name: this.name(account) };
  }
}

/** JSON of each row, with pauses between some of them. */
export async function textsOf<T>(
  rows: readonly T[],
  textOf: (row: T) => string,
): Promise<string[]> {
  const texts: string[] = [];
  for (const [i, row] of rows.entries()) {
    if (i > 0 && i % ROWS_PER_TURN === 0) await nextIteration();
    texts.push(textOf(row));
  }
  return texts;
}

/** Numbers of an object are decimal texts, which stand in the JSON as they are. */
export function rowText(numbers: Readonly<Record<string, string>>, rest: object): string {
  const members = Object.entries(numbers).map(([name, value]) => `"${name}":${value}`);
  return `{${members.join(',')},${JSON.stringify(rest).slice(1)}`;
}
