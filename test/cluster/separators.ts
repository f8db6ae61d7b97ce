import {
  type ExchangeDomains,
  type OrderSeparators,
  separatorsOf,
} from '../../server/auth/exchange-domains.ts';
import type { WalletFactories } from '../../server/auth/wallet-factory.ts';

const CONTRACT = '0x0000000000000000000000000000000000000001';
const DOMAIN = {
  name: 'test',
  version: '1',
  chainId: 1,
  contract: CONTRACT,
  negRiskContract: CONTRACT,
};

export const DOMAINS: ExchangeDomains = { 1: DOMAIN, 2: DOMAIN, 3: undefined };
export const NO_FACTORIES: WalletFactories = {
  proxy: undefined,
  safe: undefined,
  beacon: undefined,
  uups: undefined,
};
export const SEPARATORS: OrderSeparators = separatorsOf(DOMAINS);
