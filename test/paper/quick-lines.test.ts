/** Both readers of recorded lines say the same: the quick one, wherever it reads a line, and the general one. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { SourceStream } from '../../bench/paper/source-stream.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { KnownTexts, QuickLines } from '../../storage/recordings/quick-lines.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { type Random, withSeed } from '../common/random.ts';

const CHANGE = {
  event_type: 'price_change',
  market: '0x01',
  timestamp: '1767571217908',
  price_changes: [
    { asset_id: '29', price: '0.60', size: '725', side: 'SELL', hash: 'a1', best_bid: '0.59' },
    { asset_id: '30', price: '.4', size: '725.5', side: 'BUY' },
    { asset_id: '29', price: '0.6123', size: '0', side: 'BUY' },
  ],
};
const TRADE = {
  market: '0x01',
  asset_id: '29',
  timestamp: '1767571217919',
  price: '0.57',
  size: '70.000001',
  side: 'BUY',
  event_type: 'last_trade_price',
  fee_rate_bps: '0',
};

/** Shared by all lines: what one leaves must not change another. */
const KNOWN = new KnownTexts();

function lineOf(message: object, at: unknown = 5): string {
  return JSON.stringify({ at, kind: 'message', message });
}

/** Events of a line by the general reader; undefined = it is damaged, or no line. */
function generalEvents(line: string) {
  let damaged = false;
  try {
    const { message } = JSON.parse(line) as { message: JsonObject };
    const events = understoodEvents(message, () => {
      damaged = true;
    });
    return damaged ? undefined : events;
  } catch {
    return undefined;
  }
}

/** Reads a line in the middle of a text. Asserts that it is equal to what the general reader says. */
function quick(line: string): boolean {
  const before = `${lineOf(TRADE)}\n`;
  const text = `${before}${line}\n${lineOf({ event_type: 'x', text: 'a\\b' })}\n`;
  const start = Buffer.byteLength(before);
  const end = start + Buffer.byteLength(line);
  const read = new QuickLines(Buffer.from(text), KNOWN).read(start, end);
  if (read === undefined) return false;
  assert.deepEqual(read.events, generalEvents(line), line);
  assert.equal(read.at, (JSON.parse(line) as { at: number }).at, line);
  return true;
}

test('usual changes and trades are read at once, in any order of their members', () => {
  assert(quick(lineOf(CHANGE)));
  assert(quick(lineOf(TRADE)));
  for (const message of [CHANGE, TRADE])
    assert(quick(lineOf(Object.fromEntries(Object.entries(message).reverse()))));
  for (const entry of new SourceStream('lines', 2).messages(400)) {
    const { message } = entry as { message: JsonObject };
    assert.equal(quick(JSON.stringify(entry)), message.event_type !== 'book');
  }
});

test('an unusual line is left to the general reader', () => {
  const [first] = CHANGE.price_changes;
  const left: readonly string[] = [
    ...[
      { ...CHANGE, price_changes: [{ ...first, price: '0.61234' }] },
      { ...CHANGE, price_changes: [{ ...first, price: '0' }] },
      { ...CHANGE, price_changes: [{ ...first, price: '1' }] },
      { ...CHANGE, price_changes: [{ ...first, side: 'buy' }] },
      { ...CHANGE, price_changes: [{ ...first, size: '-1' }] },
      { ...CHANGE, price_changes: [{ ...first, size: '1e3' }] },
      { ...CHANGE, price_changes: [{ ...first, size: '1.0000001' }] },
      { ...CHANGE, price_changes: [{ ...first, size: '5.' }] },
      { ...CHANGE, price_changes: [{ ...first, size: '' }] },
      { ...CHANGE, price_changes: [{ ...first, size: '99999999999999999999' }] },
      { ...CHANGE, price_changes: [{ ...first, asset_id: 'a"b' }] },
      { ...CHANGE, price_changes: [{ ...first, asset_id: 7 }] },
      { ...CHANGE, price_changes: [{ side: 'BUY', price: '0.5', size: '1' }] },
      { ...CHANGE, price_changes: [{ ...first, asset_id: 'é' }] },
      { ...CHANGE, price_changes: [] },
      {
        ...CHANGE,
        price_changes: Array.from({ length: 9 }, (_, i) => ({ ...first, asset_id: `${i}` })),
      },
      { ...CHANGE, price_changes: undefined, changes: [first] },
      { ...CHANGE, timestamp: 5 },
      { ...CHANGE, timestamp: '99999999999999' },
      { ...CHANGE, timestamp: undefined },
      { ...CHANGE, more: { a: '1' } },
      { ...TRADE, size: undefined },
      { ...TRADE, price_changes: CHANGE.price_changes },
      { ...TRADE, event_type: 'book' },
      { ...TRADE, event_type: undefined },
    ].map((message) => lineOf(message)),
    lineOf(TRADE, 5.5),
    lineOf(TRADE, null),
    lineOf(TRADE).replace('"at":5', '"at":05'),
    lineOf(TRADE).replace(':', ': '),
    `${lineOf(TRADE)} `,
    lineOf(TRADE).slice(0, -1),
    lineOf(TRADE).replace('"market":"0x01"', '"market":"\t"'),
    '{"at":5,"kind":"end"}',
    '',
  ];
  for (const line of left) assert.equal(quick(line), false, line);
});

test('lines that are changed at random are read as the general reader reads them', () => {
  withSeed((random: Random) => {
    const characters = '"{}[]:,.0159 \\\tabYpriceé';
    let read = 0;
    for (let round = 0; round < 20_000; round++) {
      const line = lineOf(random.pick([CHANGE, TRADE]));
      const at = random.below(line.length);
      const piece = characters[random.below(characters.length)]!;
      const cut = random.below(3);
      if (quick(line.slice(0, at) + (random.below(4) === 0 ? '' : piece) + line.slice(at + cut)))
        read += 1;
    }
    assert(read > 1_000, `${read} were read`);
  });
});
