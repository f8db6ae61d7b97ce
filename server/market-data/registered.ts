/**
 * Registered markets of the engine, for readers of catalogs.
 *
 * Thread: any that has the tables; markets are only ever added.
 */
import { findToken } from '../../engine/markets/markets.ts';
import {
  conditionAt,
  marketFlags,
  marketTokens,
  tokenMarket,
  tokenOutcome,
} from '../../engine/reads.ts';
import { ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, TokenRow } from '../../engine/tables/units.ts';
import type { RegisteredMarkets } from '../../storage/catalog/registered-markets.ts';
import { decimalToWords, wordsToHex } from '../common/uint256.ts';
import { marketByCondition, tokensOfMarket } from './find.ts';
import type { MarketInfo } from './texts.ts';

const words = new Int32Array(ID_WORDS);

/** Finds a token by its decimal text; 0 = unknown. */
export function tokenByText(tables: Tables, tokenId: string): TokenRow | 0 {
  return decimalToWords(tokenId, words, 0) ? findToken(tables, words, 0) : 0;
}

/** Names of the outcomes in the order of the engine; undefined if the catalog does not list each with its token. */
export function outcomeNames(
  tables: Tables,
  market: MarketRow,
  info: MarketInfo | undefined,
): readonly string[] | undefined {
  if (info === undefined) return undefined;
  const { outcomes, tokenIds = [] } = info;
  const rows = tokensOfMarket(tables, market);
  const isEach = rows.every((row, i) => tokenByText(tables, tokenIds[i] ?? '') === row);
  return isEach && outcomes.length === rows.length ? outcomes : undefined;
}

export function registeredMarkets(tables: Tables): RegisteredMarkets {
  return {
    find(conditionId) {
      const market = marketByCondition(tables, conditionId);
      if (market === 0) return undefined;
      return {
        count: marketTokens(tables, market),
        negRisk: (marketFlags(tables, market) & MarketFlag.negRisk) !== 0,
        placeOf(tokenId) {
          const token = tokenByText(tables, tokenId);
          return token !== 0 && tokenMarket(tables, token) === market
            ? tokenOutcome(tables, token)
            : -1;
        },
      };
    },

    ownerOf(tokenId) {
      const token = tokenByText(tables, tokenId);
      if (token === 0) return undefined;
      return wordsToHex(tables.marketI, conditionAt(tokenMarket(tables, token)), ID_WORDS);
    },
  };
}
