/** Signing domains of a configuration. Rules: docs/protocol.md#signing-domains */
import { type ExchangeDomains, publishedContract3 } from '../auth/exchange-domains.ts';
import type { Config } from './config.ts';

/** Returns the contract of version 3; `undefined` where there is none. */
export function contract3Of({
  chainId,
  exchangeAddress3,
}: Pick<Config, 'chainId' | 'exchangeAddress3'>): string | undefined {
  if (exchangeAddress3 === 'none') return undefined;
  return exchangeAddress3 === 'published' ? publishedContract3(chainId) : exchangeAddress3;
}

export function domainsOf(config: Config): ExchangeDomains {
  const { chainId, domainName: name } = config;
  const contract3 = contract3Of(config);
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
    // One contract for both kinds of markets.
    3:
      contract3 === undefined
        ? undefined
        : { name, version: '3', chainId, contract: contract3, negRiskContract: contract3 },
  };
}
