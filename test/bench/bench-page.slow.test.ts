/** The suite of the trading page in a real browser; it measures nothing here. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { findChromium } from '../../bench/page/chromium.ts';
import { pageFramesSuite } from '../../bench/page/page-frames.bench.ts';

const skip = findChromium() === undefined && 'no Chromium here (apt-get install chromium)';

test('the page-frames suite follows a book that changes', { skip }, async () => {
  const measured = await pageFramesSuite({ rounds: 1, seconds: 1 });
  assert(measured !== undefined && measured.ratio > 0);
});
