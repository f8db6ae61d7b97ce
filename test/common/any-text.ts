/**
 * Strings of any code points, for property tests. The package's own unit for them (`binary`) makes a table of
 * all there are at first use, which takes longer than the tests that use it.
 */
import fc from 'fast-check';

const SURROGATES = 0xd800;
const SURROGATES_COUNT = 0x800;
const END = 0x110000;

const codePoint = fc
  .nat(END - SURROGATES_COUNT - 1)
  .map((n) => String.fromCodePoint(n < SURROGATES ? n : n + SURROGATES_COUNT));

export const anyText = fc.string({ unit: codePoint });
