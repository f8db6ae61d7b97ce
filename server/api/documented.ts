/**
 * The documents of this node: the table of routes and that of streams as they are served under its
 * configuration. Shapes are named after the constants that hold them.
 *
 * Thread: any.
 */

import * as account from '../account/account-schemas.ts';
import * as catalog from '../catalog/schemas.ts';
import * as tradingMarkets from '../catalog/trading-schemas.ts';
import { packageVersion } from '../common/package-version.ts';
import { isSchema } from '../common/schema.ts';
import type { Config } from '../config/config.ts';
import { asyncApiDocument } from '../documents/asyncapi.ts';
import type { Documents } from '../documents/document-routes.ts';
import { type OpenApiParts, openApiDocument } from '../documents/openapi.ts';
import * as identity from '../identity/schemas.ts';
import * as ledger from '../ledger/schemas.ts';
import * as history from '../market-data/history-schemas.ts';
import * as token from '../market-data/token-schemas.ts';
import * as trades from '../market-data/trades-schemas.ts';
import * as orders from '../orders/schemas.ts';
import * as portfolio from '../portfolio/portfolio-schemas.ts';
import { STREAM_TABLE } from '../streams/messages.ts';
import { boundTexts } from '../streams/stream-bounds.ts';
import { AUTH_SECONDS } from '../streams/user-channel.ts';
import { placesOf } from './base-paths.ts';
import { configuredRow, servedRoutes } from './configured-row.ts';
import * as info from './node-info.ts';
import { writes } from './route-row.ts';
import { ROUTE_TABLE } from './route-table.ts';

const MODULES = [
  account,
  catalog,
  tradingMarkets,
  identity,
  history,
  token,
  trades,
  info,
  ledger,
  orders,
  portfolio,
];

export function documentsOf(config: Config): Documents {
  const { credentialPrefix, host, port } = config;
  const version = packageVersion();
  const parts = { credentialPrefix, version };
  return {
    openApi: () => openApiDocument({ routes: routesOf(config), names: names(), ...parts }),
    asyncApi: async () =>
      asyncApiDocument({
        streams: STREAM_TABLE,
        bounds: boundsOf(config),
        version,
        host: `${host}:${port}`,
      }),
  };
}

function boundsOf({ streamCallerFactor, streamSubscriptionsMax }: Config): string[] {
  const limits = { callerFactor: streamCallerFactor, subscriptionsMax: streamSubscriptionsMax };
  const texts = boundTexts(limits).map(([, text]) => text);
  return [...texts, `no valid auth on /ws/user within ${AUTH_SECONDS} seconds`];
}

/** The name of every shape that a module of schemas exports. */
function names(): ReadonlyMap<unknown, string> {
  const named = MODULES.flatMap((module) => Object.entries(module as Record<string, unknown>));
  return new Map(
    named.filter(([, value]) => isSchema(value)).map(([name, value]) => [value, name]),
  );
}

function routesOf(config: Config): OpenApiParts['routes'] {
  let before = '';
  return servedRoutes(config).map((key) => {
    const row = configuredRow(key, config);
    if (row.repeats !== true) before = row.does;
    const summary = row.repeats === true ? repeated(before, row.does) : row.does;
    const bases = new Set(placesOf(key, row, ROUTE_TABLE).map(({ base }) => base));
    const isWrite = writes(key.split(' ')[0]!, row);
    return { key, row, summary, writes: isWrite, bases: [...bases] };
  });
}

/** What another row is like, in words of its own. */
function repeated(first: string, does: string): string {
  return does === 'the same' ? first : `${first} (${does})`;
}
