import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { after } from 'node:test';
import { MarketBooks } from '../../client/streams/market-books.ts';
import type { MarketEvent } from '../../client/types.ts';
import { fileArgs } from '../common/forms.ts';
import { until } from '../common/node-harness.ts';
import { join, markets, nodeUrl } from './stage.ts';

/** A token whose book no other test trades. */
const token = markets[2]!.tokenIds[1]!;

class Example {
  output = '';
  readonly child: ChildProcess;

  constructor(name: string) {
    const args = [...fileArgs('examples/run'), name, token];
    this.child = spawn(process.execPath, args, { env: { ...process.env, NODE_URL: nodeUrl } });
    this.child.stdout?.on('data', (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.resume();
    after(() => this.child.kill('SIGKILL'));
  }

  async end(signal?: NodeJS.Signals): Promise<void> {
    const closed = once(this.child, 'close');
    if (signal !== undefined) this.child.kill(signal);
    assert.deepEqual(await closed, [0, null], this.output);
  }
}

test('a taker buys from the maker, and the recorder has the book as POST /books shows it', async () => {
  const recorder = new Example('recorder');
  const maker = new Example('maker');
  const reader = await join('reader');
  await until(() => recorder.output !== '');
  for (const fill of [1, 2]) {
    // The maker quotes anew after each fill.
    await until(async () => (await reader.marketData.book(token)).asks[0]?.size === '20');
    const taker = new Example('taker');
    await taker.end();
    assert.match(taker.output, /matched\nbought 5 shares for \d/);
    await until(() => maker.output.split('filled: SELL 5').length > fill);
  }
  await maker.end('SIGTERM');
  const [book] = await reader.marketData.books([token]);
  assert.deepEqual([book?.bids, book?.asks], [[], []]);
  await until(() => replayed(recorder.output).get(token)?.answer.hash === book?.hash);
  await recorder.end('SIGTERM');
});

function replayed(lines: string): MarketBooks {
  const books = new MarketBooks();
  for (const line of lines.split('\n').slice(0, -1)) {
    assert.equal(books.take(JSON.parse(line) as MarketEvent), '');
  }
  return books;
}
