/**
 * Header of a new API key whose play money could not be paid in: the reject code. Rules:
 * docs/protocol.md#balances
 */
export const FAUCET_HEADER = 'X-Faucet';
