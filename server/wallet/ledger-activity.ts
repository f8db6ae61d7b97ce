/**
 * Rows of GET /activity beside trades: one for each split, merge, payout and rebate. All but the last are several
 * entries of a statement, one for each outcome. Newest first, read a page of entries at a time.
 *
 * Thread: I/O. Non-goals: trades, which are entries too; order and page (activity.ts).
 */
import { tokenMarket } from '../../engine/reads.ts';
import { EntryCause } from '../../engine/tables/codes.ts';
import type { AccountRow, TokenRow } from '../../engine/tables/units.ts';
import type { StatementsReader } from '../../storage/projection/reader.ts';
import type { NumberedEntry } from '../../storage/projection/statements.ts';
import { microText } from '../common/decimal.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import { entryHash } from '../market-data/match-ids.ts';
import type { MarketLookup, TokenTexts } from '../market-data/texts.ts';
import { Row } from '../market-data/trades-select.ts';
import type { ActivityType } from './portfolio-schemas.ts';

const TYPES: ReadonlyMap<number, ActivityType> = new Map<number, ActivityType>([
  [EntryCause.split, 'SPLIT'],
  [EntryCause.merge, 'MERGE'],
  [EntryCause.redeem, 'REDEEM'],
  [EntryCause.rebate, 'MAKER_REBATE'],
]);
const IS_PAID: ReadonlySet<number> = new Set([EntryCause.redeem, EntryCause.rebate]);
const ENTRIES_A_PAGE = 128;
/** Value that existing clients read for a row of no single outcome. */
const NO_OUTCOME = 999;
const MS = 1_000;

/** Causes whose rows a query selects by their type. */
export function wantedCauses(isWanted: (type: string) => boolean): ReadonlySet<number> {
  return new Set([...TYPES].flatMap(([cause, type]) => (isWanted(type) ? [cause] : [])));
}

/** Type of a row of activity that is no trade. */
export const typeOfCause = (cause: number): ActivityType | undefined => TYPES.get(cause);

interface LedgerRow {
  /** Negative, unlike keys of trades. */
  readonly key: number;
  /** Writes a row of trades, with the key in the column of the match and the cause in that of the side. */
  put(rows: Float64Array, at: number): void;
}

/** Entries of a wallet, newest first. Each call throws ProjectionUnready. */
export class LedgerWalk {
  private readonly statements: StatementsReader;
  private readonly account: AccountRow;
  private readonly causes: ReadonlySet<number>;
  private page: readonly NumberedEntry[] = [];
  private at = 0;
  private before = Number.POSITIVE_INFINITY;

  constructor(statements: StatementsReader, account: AccountRow, causes: ReadonlySet<number>) {
    this.statements = statements;
    this.account = account;
    this.causes = causes;
  }

  head(): NumberedEntry | undefined {
    if (this.at === this.page.length && this.before > 0) {
      this.page = this.statements.ofWallet(this.account, this.before, ENTRIES_A_PAGE);
      this.at = 0;
      this.before = this.page.at(-1)?.number ?? 0;
    }
    return this.page[this.at];
  }

  /** Passes the next entry and those that belong to it; returns undefined for unselected rows. */
  take(): LedgerRow | undefined {
    const first = this.head()!;
    if (!this.causes.has(first.cause)) {
      this.at += 1;
      return undefined;
    }
    let cash = 0;
    let last = first;
    for (let entry: NumberedEntry | undefined = first; isWith(first, entry); entry = this.head()) {
      cash += entry.cash;
      last = entry;
      this.at += 1;
    }
    const collateral = Math.abs(cash);
    const { account, cause, number, shares, time, token } = last;
    const key = keyOf(number);
    return {
      key,
      put(rows, at) {
        rows[at + Row.match] = key;
        rows[at + Row.time] = time;
        rows[at + Row.account] = account;
        rows[at + Row.token] = token;
        rows[at + Row.side] = cause;
        // Complete sets; of a payout or a rebate what it paid.
        rows[at + Row.size] = IS_PAID.has(cause) ? collateral : Math.abs(shares);
        rows[at + Row.collateral] = collateral;
        rows[at + Row.price] = 0;
      },
    };
  }
}

const keyOf = (number: number): number => -1 - number;

/** Transaction hash of a row by its key. */
export const ledgerRowHash = (key: number): string => entryHash(keyOf(key));

function isWith(first: NumberedEntry, entry: NumberedEntry | undefined): entry is NumberedEntry {
  return entry?.cause === first.cause && entry.reference === first.reference;
}

export interface LedgerTextParts {
  readonly names: AccountTexts;
  readonly texts: TokenTexts;
  readonly infos: MarketLookup;
}

/** The row at `at` as JSON, with the members of a trade and a comma behind it. */
export function ledgerRowText(parts: LedgerTextParts, rows: Float64Array, at: number): Buffer {
  const { infos, names, texts } = parts;
  // A rebate is of no token.
  const token = rows[at + Row.token]!;
  const market = tokenMarket(names.tables, token as TokenRow);
  const info = token === 0 ? undefined : infos(market);
  const wallet = names.wallet(rows[at + Row.account]! as AccountRow);
  const tail = {
    title: info?.question ?? '',
    slug: info?.slug ?? '',
    icon: info?.icon ?? '',
    eventSlug: info?.eventSlug ?? '',
    outcome: '',
    outcomeIndex: NO_OUTCOME,
    name: '',
    pseudonym: '',
    bio: '',
    profileImage: '',
    profileImageOptimized: '',
    transactionHash: ledgerRowHash(rows[at + Row.match]!),
    type: typeOfCause(rows[at + Row.side]!),
  };
  return Buffer.from(
    `{"proxyWallet":"${wallet}","side":"",${texts.assetMembers(0)},` +
      `"conditionId":"${token === 0 ? '' : texts.conditionId(market)}",` +
      `"size":${microText(rows[at + Row.size]!)},"price":0,` +
      `"timestamp":${Math.floor(rows[at + Row.time]! / MS)},` +
      `"usdcSize":${microText(rows[at + Row.collateral]!)},${JSON.stringify(tail).slice(1)},`,
  );
}
