/**
 * Signatures with known answers: keys that they recover, and each way in which none can have made them. A library
 * that answers one of them in another way is not used.
 */

interface KnownSignature {
  /** Hex digits without 0x, as all others. */
  readonly digest: string;
  readonly r: string;
  readonly s: string;
  readonly v: number;
  /** 65 bytes; '' where no key can have made the signature. */
  readonly key: string;
}

const FIRST = {
  digest: '8e69f1270f8b98dbdc74417113748f5ee3077567082efa39e807c936ca4e4ba9',
  r: 'de14606453b6a6d69d6f3e00b7007f0b236d77adc316efd02b499cb4392cb0d7',
  s: '1215f416ba5e4c64e012def3fdb688c40e2e30dd3bc45116f9b64868760d2076',
  v: 0,
  key: '049784cc16e4098e738a135e815bd059fdaa5bbc994a62e060bcc35109bae6670f56e6f73f8a371b64e8d1af9f652b8120f799544717847f451b4540a927de5cde',
};
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';
const ZERO = '0'.repeat(64);
const HIGHEST = 'f'.repeat(64);
const NOT_ON_CURVE = '0000000000000000000000000000000000000000000000000000000000000005';
const NONE = { ...FIRST, key: '' };

export const KNOWN_ANSWERS: readonly KnownSignature[] = [
  FIRST,
  {
    digest: 'e5c7990e38adf52e1f932c333f130278326106a58f4bb0b88c698d80d0c9aa87',
    r: '369df5820dc91388ad6a480befd47bcde802c3e13a604d01359133cece5b08d8',
    s: '024d9c2353468ce49561d5100de3e05b1b9788a58b1bcea1edec2712900cc313',
    v: 1,
    key: '040bf18e4801f8557025cf7613825e571a85e73289e2734d6a358c1d32f41d5093470b038d4ecb75ae8ffe139aa55f6a7f0b0da0a061b1e5e0ad702797b64f6201',
  },
  // The twin of the first, whose s is above half of the order.
  { ...FIRST, s: 'edea0be945a1b39b1fed210c0249773aac80ac0973844f24c61c16245a2920cb', v: 1 },
  { ...NONE, r: ZERO },
  { ...NONE, s: ZERO },
  { ...NONE, r: ORDER },
  { ...NONE, s: ORDER },
  { ...NONE, r: HIGHEST },
  { ...NONE, r: NOT_ON_CURVE },
];
