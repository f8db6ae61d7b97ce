/**
 * GET /rebates/current: what a maker may be paid back for a day, by market, as far as its fills have come. Rules:
 * docs/ledger.md#rebates
 *
 * Thread: I/O. Reads the projection, which is behind the engine by a fraction of a second.
 */
import { conditionAt } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, MarketRow } from '../../engine/tables/units.ts';
import { ProjectionUnready, type RebatesReader } from '../../storage/projection/reader.ts';
import { microText } from '../common/decimal.ts';
import { errorBody } from '../common/error-bodies.ts';
import { compileQuery } from '../common/query.ts';
import { Type } from '../common/schema.ts';
import { wordsToHex } from '../common/uint256.ts';
import { route } from '../http/route.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import { accountByAddress } from '../market-data/find.ts';
import type { MarketLookup } from '../market-data/texts.ts';
import { dayOf } from './rebate-payments.ts';

export interface RebateRouteParts {
  readonly tables: Tables;
  readonly infos: MarketLookup;
  readonly rebates: RebatesReader;
}

/** Contract of the collateral on chain 137, as clients of that service know it: not verified for this route. */
const COLLATERAL_CONTRACT = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
const RULES = {
  date: 'a day of UTC such as 2027-01-31',
  maker_address: 'an address, 0x and 40 hexadecimal digits',
};
const INVALID_DATE = errorBody('INVALID_FIELD', `date must be ${RULES.date}`, {
  text: 'invalid date',
});
const UNREADY = errorBody(
  'BEING_DERIVED',
  'rebates are derived from the fills, in the order of seconds; ask again',
  { text: 'rebates are being derived' },
);

const QUERY = compileQuery(
  Type.Object({
    date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: RULES.date }),
    maker_address: Type.String({
      pattern: '^0x[0-9a-fA-F]{40}$',
      description: RULES.maker_address,
    }),
  }),
);

const text = (description: string) => Type.String({ description });
const RebatesAnswer = Type.Array(
  Type.Object({
    date: text('the day of UTC'),
    condition_id: text('of the market'),
    asset_address: text('contract of the collateral'),
    maker_address: text('who made the orders'),
    rebated_fees_usdc: text('collateral, a decimal'),
  }),
);

/** Markets of one answer (docs/ledger.md#rebates). */
const ROWS_MAX = 1_000;

export const REBATE_ROUTES = [
  route(
    'GET /rebates/current',
    {
      query: QUERY,
      answer: RebatesAnswer,
      does: 'what a maker may be paid back of fees, by market: `date maker_address`',
    },
    ({ infos, rebates, tables }: RebateRouteParts) => {
      const names = new AccountTexts(tables, infos);
      return (context, { date, maker_address: maker }) => {
        const day = dayOf(date);
        if (day === undefined) return context.reply(400, INVALID_DATE);
        const account = accountByAddress(tables, maker.toLowerCase());
        try {
          const rows = account === 0 ? [] : rebates.ofAccount(day, account, ROWS_MAX);
          const answer = rows.map(({ amount, market }) => ({
            date,
            condition_id: wordsToHex(tables.marketI, conditionAt(market as MarketRow), ID_WORDS),
            asset_address: COLLATERAL_CONTRACT,
            maker_address: names.wallet(account as AccountRow),
            rebated_fees_usdc: microText(Number(amount)),
          }));
          context.reply(200, JSON.stringify(answer));
        } catch (error) {
          if (!(error instanceof ProjectionUnready)) throw error;
          context.reply(503, UNREADY);
        }
      };
    },
  ),
];
