/**
 * Orders of the API document: BUY 10 shares of Yes of the demo's first market at 0.25. A node with the demo
 * takes them once `maker`, `signer`, `owner` and signature are the caller's.
 *
 * Thread: any. Data.
 */

const WALLET = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const COMMON = {
  salt: '1',
  maker: WALLET,
  signer: WALLET,
  tokenId: '38634826209090159987352113786966394657437119509122880704958952205673101694625',
  conditionId: '0x340e4543c63bb60f08b375e90692c11952a268d15aee9245ba7277e5cb958d5b',
  makerAmount: '2500000',
  takerAmount: '10000000',
  side: 'BUY',
  expiration: '0',
  signatureType: 0,
  signature: `0x${'0'.repeat(130)}`,
};
const OWNER = '550e8400-e29b-41d4-a716-446655440000';
const ITEM = { owner: OWNER, orderType: 'GTC', postOnly: false };
const NO_BYTES = `0x${'0'.repeat(64)}`;

export const ORDER_EXAMPLE = {
  order: { ...COMMON, taker: `0x${'0'.repeat(40)}`, nonce: '0', feeRateBps: '0' },
  ...ITEM,
};

export const ORDER_EXAMPLE_2 = {
  order: { ...COMMON, timestamp: '1764000000000', metadata: NO_BYTES, builder: NO_BYTES },
  ...ITEM,
};
