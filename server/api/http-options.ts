/** What the configuration says of the HTTP server: where it listens, whom it limits, who may read. */
import { randomInt } from 'node:crypto';
import type { LogFields } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import { PROFILE_TABLE } from '../config/profile.ts';
import type { HttpOptions } from '../http/http.ts';
import { LateLimits } from '../http/late-limits.ts';
import { connectionBounds, openFilesMax } from '../http/open-files.ts';
import { familyOf, RateHeaders } from '../http/rate-headers.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import { effectiveCaps } from '../http/rate-limits.ts';
import type { RequestCounts } from '../http/request-counts.ts';

const SEEDS = 2 ** 32;

export function httpOptions(
  config: Config,
  log: (line: string, fields?: LogFields) => void,
  counts: RequestCounts | undefined,
): HttpOptions {
  const { corsOrigins, host, port, rateLimitsOverrides, trustProxy } = config;
  const rateHeaders = new RateHeaders(
    familyOf(config.credentialPrefix, PROFILE_TABLE.credentialPrefix.spec),
  );
  const socketBacklogMax = config.streamBacklogMax;
  const counted = counts === undefined ? {} : { counts };
  const connections = connectionBounds(config, openFilesMax());
  const common = { host, port, trustProxy, corsOrigins, log, connections };
  const options = { ...common, rateHeaders, socketBacklogMax, ...counted };
  if (!config.rateLimits) return options;
  const caps = effectiveCaps(rateLimitsOverrides, config);
  const limiter = new RateLimiter({ caps, seed: randomInt(SEEDS) });
  return { ...options, limiter, socketsPerCaller: config.streamConnectionsPerAddress };
}

/** What handlers count; undefined where nothing is counted. */
export function lateLimits(config: Config, now: () => number): LateLimits | undefined {
  if (!config.rateLimits) return undefined;
  const caps = effectiveCaps(config.rateLimitsOverrides, config);
  return new LateLimits(new RateLimiter({ caps, seed: randomInt(SEEDS) }), now);
}
