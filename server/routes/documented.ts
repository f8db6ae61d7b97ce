/**
 * Documents of this node: its routes and streams under its configuration.
 *
 * Thread: any.
 */

import { packageVersion } from '../common/package-version.ts';
import type { Config } from '../config/config.ts';
import { SAME, writes } from '../http/route.ts';
import { STREAM_TABLE } from '../streams/messages.ts';
import { boundTexts } from '../streams/stream-bounds.ts';
import { AUTH_SECONDS } from '../streams/user-channel.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { placesOf } from './base-paths.ts';
import type { Documents } from './document-routes.ts';
import { type OpenApiParts, openApiDocument } from './openapi.ts';
import { ROUTE_TABLE, servedRows } from './route-table.ts';
import { SHAPE_NAMES } from './shapes.ts';

export function documentsOf(config: Config): Documents {
  const { credentialPrefix, host, port } = config;
  const version = packageVersion();
  const parts = { credentialPrefix, version };
  return {
    openApi: () => openApiDocument({ routes: routesOf(config), names: SHAPE_NAMES, ...parts }),
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

function routesOf(config: Config): OpenApiParts['routes'] {
  let before = '';
  const described = [...servedRows(config)].filter(([, { isPage }]) => isPage !== true);
  return described.map(([key, row]) => {
    if (row.repeats !== true) before = row.does;
    const summary = row.repeats === true ? repeated(before, row.does) : row.does;
    const bases = new Set(placesOf(key, row, ROUTE_TABLE).map(({ base }) => base));
    const isWrite = writes(key.split(' ')[0]!, row);
    return { key, row, summary, writes: isWrite, bases: [...bases] };
  });
}

function repeated(first: string, does: string): string {
  return does === SAME ? first : `${first} (${does})`;
}
