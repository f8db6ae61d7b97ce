import {
  type ExchangeDomains,
  type OrderSeparators,
  separatorsOf,
} from '../../server/auth/exchange-domains.ts';

const CONTRACT = '0x0000000000000000000000000000000000000001';
const DOMAIN = {
  name: 'test',
  version: '1',
  chainId: 1,
  contract: CONTRACT,
  negRiskContract: CONTRACT,
};

export const DOMAINS: ExchangeDomains = { 1: DOMAIN, 2: DOMAIN };
export const SEPARATORS: OrderSeparators = separatorsOf(DOMAINS);
