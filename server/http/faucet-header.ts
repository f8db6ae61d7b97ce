/**
 * The header of an API key whose play money could not be paid in: the code of the refusal.
 * Rules: docs/protocol.md#balances
 */
export const FAUCET_HEADER = 'X-Faucet';
