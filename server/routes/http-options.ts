/** Options of the HTTP server from the configuration: addresses, limits, origins. */
import type { LogFields } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import { PROFILE_TABLE } from '../config/profile.ts';
import type { HttpOptions } from '../http/http.ts';
import { connectionBounds, openFilesMax } from '../http/limits/open-files.ts';
import type { RateControl } from '../http/limits/rate-control.ts';
import { familyOf, RateHeaders } from '../http/limits/rate-headers.ts';
import type { RequestCounts } from '../http/request-counts.ts';

export function httpOptions(
  config: Config,
  log: (line: string, fields?: LogFields) => void,
  counts: RequestCounts | undefined,
  rates: RateControl | undefined,
): HttpOptions {
  const { corsOrigins, host, port, trustProxy } = config;
  const rateHeaders = new RateHeaders(
    familyOf(config.credentialPrefix, PROFILE_TABLE.credentialPrefix.spec),
  );
  const socketBacklogMax = config.streamBacklogMax;
  const counted = counts === undefined ? {} : { counts };
  const connections = connectionBounds(config, openFilesMax());
  const common = { host, port, trustProxy, corsOrigins, log, connections };
  const options = { ...common, rateHeaders, socketBacklogMax, ...counted };
  if (rates === undefined) return options;
  return {
    ...options,
    limiter: rates.limiter,
    socketsPerCaller: config.streamConnectionsPerAddress,
  };
}
