/**
 * The service that the routes below /v2 share, except boards (result-routes.ts).
 *
 * Thread: I/O.
 */
import type { Tables } from '../../engine/tables/tables.ts';
import type { PositionsReader, StatementsReader } from '../../storage/projection/reader.ts';
import type { PreparedCatalog } from '../catalog/prepared.ts';
import type { Allowlist } from '../http/address.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import type { HistoryService } from '../market-data/history-service.ts';
import type { MarketLookup, TokenTexts } from '../market-data/texts.ts';
import type { TradesIndex } from '../market-data/trades-index.ts';
import type { Exchanges } from '../wallet/approval-table.ts';
import type { Holdings } from '../wallet/holdings.ts';
import type { FeedParts } from './feed-routes.ts';
import type { MarketParts } from './market-routes.ts';
import type { PositionParts } from './position-routes.ts';
import { PositionRows } from './position-rows.ts';
import type { ResolutionParts } from './resolution-routes.ts';
import { RowTexts } from './row-texts.ts';
import type { ServiceParts } from './service-routes.ts';

interface DataServiceParts {
  readonly allowlist: Allowlist;
  readonly chainId: number;
  readonly exchanges: Exchanges;
  readonly eventMarkets: (id: string) => Promise<readonly string[]>;
  readonly history: HistoryService;
  readonly holdings: Holdings;
  readonly index: TradesIndex;
  readonly infos: MarketLookup;
  readonly names: AccountTexts;
  readonly newest: () => number;
  readonly now: () => number;
  readonly positions: PositionsReader;
  readonly prepared: () => PreparedCatalog;
  readonly shownName: (wallet: string) => string;
  readonly statements: StatementsReader;
  readonly tables: Tables;
  readonly texts: TokenTexts;
}

type DataService = FeedParts & MarketParts & PositionParts & ResolutionParts & ServiceParts;

export function dataService(parts: DataServiceParts): DataService {
  const rows = new RowTexts(parts);
  return { ...parts, rows, positionRows: new PositionRows(parts.holdings, rows) };
}
