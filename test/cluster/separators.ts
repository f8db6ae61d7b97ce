/** Signing domains of tests that check no signature. */
import { domainSeparator } from '../../server/identity/eip712.ts';
import type { OrderSeparators } from '../../server/orders/prepare.ts';

const DOMAIN = {
  name: 'test',
  version: '1',
  chainId: 1,
  verifyingContract: '0x0000000000000000000000000000000000000001',
};
const BOTH = { separator: domainSeparator(DOMAIN), negRiskSeparator: domainSeparator(DOMAIN) };

export const SEPARATORS: OrderSeparators = { 1: BOTH, 2: BOTH };
