/**
 * GET /ledger/statement: the ledger entries of a key's wallet, newest first, as JSON or, with Accept: text/csv, as
 * CSV. Rules: docs/ledger.md#statements
 *
 * Thread: I/O. Reads the projection, which is behind the engine by a fraction of a second.
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { ADDRESS_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { ProjectionUnready, type StatementsReader } from '../../storage/projection/reader.ts';
import type { NumberedEntry } from '../../storage/projection/statements.ts';
import { cursorOf, INVALID_CURSOR, LAST_CURSOR, offsetOf } from '../common/cursor.ts';
import { errorBody } from '../common/error-bodies.ts';
import { bytesToWords } from '../common/uint256.ts';
import { route } from '../http/route.ts';
import { AccountTexts } from '../market-data/account-texts.ts';
import type { MarketLookup } from '../market-data/texts.ts';
import { statementCsv, statementRow } from './statement-rows.ts';
import { STATEMENT_PAGE, STATEMENT_QUERY, StatementAnswer } from './statement-schemas.ts';
import { refuseForeign, type WalletAccess } from './wallet-access.ts';

export interface StatementRouteParts {
  readonly tables: Tables;
  readonly infos: MarketLookup;
  readonly statements: StatementsReader;
  readonly access: WalletAccess;
}

const LEDGER_OFF = errorBody('LEDGER_OFF');
const UNREADY = errorBody(
  'BEING_DERIVED',
  'they are made anew from the entries of the ledger, in the order of seconds; ask again',
  { text: 'statements are being derived' },
);
/** Matches text/csv in the header Accept. If an answer has several media types, this one counts last. */
const CSV = /(?:^|,)\s*text\/csv\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

export const STATEMENT_ROUTES = [
  route(
    'GET /ledger/statement',
    {
      access: 'level2-read',
      query: STATEMENT_QUERY,
      answer: StatementAnswer,
      media: ['application/json', 'text/csv'],
      conflicts: true,
      does: 'every entry of the own wallet in the ledger, newest first: `limit wallet next_cursor`; CSV by `Accept`',
    },
    ({ access, infos, statements, tables }: StatementRouteParts) => {
      const names = new AccountTexts(tables, infos);
      const words = new Int32Array(ADDRESS_WORDS);
      return async (context, query, { address }) => {
        if (!ledgerIsOn(tables)) return context.reply(409, LEDGER_OFF);
        const wallet = await access.readable(query.wallet, address);
        if (wallet === undefined) return refuseForeign(context);
        const cursor = query.next_cursor ?? '';
        const before = cursor === '' ? Number.POSITIVE_INFINITY : offsetOf(cursor);
        if (before === -1) return context.reply(400, INVALID_CURSOR);
        const limit = query.limit ?? STATEMENT_PAGE;
        let found: NumberedEntry[];
        try {
          const account = findAccount(tables, bytesToWords(wallet, words), 0);
          found = statements.ofWallet(account, before, limit + 1);
        } catch (error) {
          if (!(error instanceof ProjectionUnready)) throw error;
          return context.reply(503, UNREADY);
        }
        const data = found.slice(0, limit).map((entry) => statementRow(names, entry, String));
        const next = found.length > limit ? cursorOf(data.at(-1)!.entry) : LAST_CURSOR;
        if (!CSV.test(context.headers.at(-1)!)) {
          const page = { data, next_cursor: next, limit, count: data.length };
          return context.reply(200, JSON.stringify(page));
        }
        context.reply(200, statementCsv(data), [
          ['Content-Type', 'text/csv; charset=utf-8'],
          ['X-Next-Cursor', next],
        ]);
      };
    },
  ),
];
