/** The table of the fill model on a generated recording. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fillModelSuite } from '../../bench/paper/fill-model.bench.ts';

/** Ten minutes of one market: orders at the best bid are cancelled and traded in turn. */
function recording(): string {
  const lines: object[] = [];
  const say = (at: number, fields: object): void => {
    lines.push({
      market: 'm',
      asset_id: '11',
      timestamp: String(1_000_000 + at * 1_000),
      ...fields,
    });
  };
  const asks = [
    { price: '0.5', size: '300' },
    { price: '0.52', size: '900' },
  ];
  say(0, { event_type: 'book', bids: [{ price: '0.4', size: '400' }], asks });
  for (let at = 10; at < 600; at += 20) {
    const change = (size: number) => [{ price: '0.4', side: 'BUY', size: String(size) }];
    say(at, { event_type: 'price_change', changes: change(300) });
    const print = { price: '0.4', size: '60', side: 'SELL' };
    say(at + 10, { event_type: 'last_trade_price', ...print });
    say(at + 10, { event_type: 'price_change', changes: change(400) });
  }
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

test('a maker fills earlier by the proportional rule, and a taker more where levels come back', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-paper-'));
  try {
    const path = join(directory, 'recording.jsonl');
    writeFileSync(path, recording());
    const [pessimistic, proportional, keep, restore] = await fillModelSuite([path]);
    assert(proportional!.shares > pessimistic!.shares);
    assert(restore!.shares > keep!.shares);
    assert.deepEqual(await fillModelSuite([path]), [pessimistic, proportional, keep, restore]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
