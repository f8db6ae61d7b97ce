/**
 * Names of the shapes that folders export, for the OpenAPI document and the client's types.
 *
 * Thread: any.
 */
import * as identity from '../auth/schemas.ts';
import { PublicProfileAnswer } from '../catalog/public-profile-routes.ts';
import * as catalog from '../catalog/schemas.ts';
import * as tradingMarkets from '../catalog/trading-schemas.ts';
import { isSchema, type TSchema } from '../common/schema.ts';
import * as dataErrors from '../data-v2/errors.ts';
import * as results from '../data-v2/result-schemas.ts';
import * as dataV2 from '../data-v2/schemas.ts';
import { LiquidityMarket } from '../liquidity/liquidity-row.ts';
import * as history from '../market-data/history-schemas.ts';
import * as token from '../market-data/token-schemas.ts';
import * as trades from '../market-data/trades-schemas.ts';
import * as heartbeats from '../orders/cancel/heartbeat-schemas.ts';
import * as orders from '../orders/intake/schemas.ts';
import * as account from '../wallet/account-schemas.ts';
import * as agents from '../wallet/agent-schemas.ts';
import * as ledger from '../wallet/ledger-schemas.ts';
import * as portfolio from '../wallet/portfolio-schemas.ts';
import * as preview from '../wallet/preview-schemas.ts';
import * as profile from '../wallet/profile-schemas.ts';
import * as node from './node-info.ts';

const MODULES: readonly object[] = [
  account,
  catalog,
  tradingMarkets,
  identity,
  history,
  token,
  trades,
  node,
  ledger,
  orders,
  heartbeats,
  portfolio,
  dataErrors,
  results,
  preview,
  profile,
  agents,
  dataV2,
  { LiquidityMarket, PublicProfileAnswer },
];

/** Names of the constants that hold shapes, by identity of the shape. */
export const SHAPE_NAMES: ReadonlyMap<TSchema, string> = new Map(
  MODULES.flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) =>
      isSchema(value) ? [[value, name] as const] : [],
    ),
  ),
);
