/**
 * Contracts of the other service on its chain, in lower case. Nothing runs there: clients compare their addresses, and
 * name them in batches.
 *
 * Thread: any. Data.
 */
export const COLLATERAL = '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb';
export const CONDITIONAL = '0x4d97dcd97ec945f40cf65f87097ace5ea0476045';
export const POSITIONS = '0x006f54f7f9a22e0000cc2ab60031000000ae9fef';
export const NEG_RISK_ADAPTER = '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296';
export const COLLATERAL_ADAPTER = '0xada100db00ca00073811820692005400218fce1f';
export const NEG_RISK_COLLATERAL_ADAPTER = '0xada2005600dec949baf300f4c6120000bdb6eaab';
export const ROUTER = '0x12121212006e4cd160d18e3f00711da5c3372600';
/** Spender of another product, which official packages approve with the others. */
export const PERPETUALS_DEPOSIT = '0xdca4af75705dbb50f62437045aff9921947917d2';
/** Contract to which a safe delegates several calls. */
export const SAFE_MULTISEND = '0xa238cbeb142c10ef7ad8442c6d1f9e89e07e7761';
