/** Signing domains of a configuration. Rules: docs/protocol.md#signing-domains */
import type { ExchangeDomains } from '../auth/exchange-domains.ts';
import type { Config } from './config.ts';

export function domainsOf(config: Config): ExchangeDomains {
  const { chainId, domainName: name } = config;
  return {
    1: {
      name,
      version: config.domainVersion,
      chainId,
      contract: config.exchangeAddress,
      negRiskContract: config.negRiskExchangeAddress,
    },
    2: {
      name,
      version: '2',
      chainId,
      contract: config.exchangeAddress2,
      negRiskContract: config.negRiskExchangeAddress2,
    },
  };
}
