/**
 * The markets that the engine has registered, as the readers of catalogs compare with them.
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

/** The row of a token by its decimal text; 0 = no such token. */
export function tokenByText(t: Tables, tokenId: string): TokenRow | 0 {
  return decimalToWords(tokenId, words, 0) ? findToken(t, words, 0) : 0;
}

/** Names of the outcomes in the order of the engine; undefined where the catalog does not list each with its token. */
export function outcomeNames(
  t: Tables,
  market: MarketRow,
  info: MarketInfo | undefined,
): readonly string[] | undefined {
  if (info === undefined) return undefined;
  const { outcomes, tokenIds = [] } = info;
  const rows = tokensOfMarket(t, market);
  const isEach = rows.every((row, i) => tokenByText(t, tokenIds[i] ?? '') === row);
  return isEach && outcomes.length === rows.length ? outcomes : undefined;
}

export function registeredMarkets(t: Tables): RegisteredMarkets {
  return {
    find(conditionId) {
      const market = marketByCondition(t, conditionId);
      if (market === 0) return undefined;
      return {
        count: marketTokens(t, market),
        negRisk: (marketFlags(t, market) & MarketFlag.negRisk) !== 0,
        placeOf(tokenId) {
          const token = tokenByText(t, tokenId);
          return token !== 0 && tokenMarket(t, token) === market ? tokenOutcome(t, token) : -1;
        },
      };
    },

    ownerOf(tokenId) {
      const token = tokenByText(t, tokenId);
      if (token === 0) return undefined;
      return wordsToHex(t.marketI, conditionAt(tokenMarket(t, token)), ID_WORDS);
    },
  };
}
