/** First books and missed events are sent as fast as their reader takes them, and no faster. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TokenSlot } from '../../engine/units.ts';
import type { Socket } from '../../server/http/sockets.ts';
import { MarketConnection } from '../../server/streams/market-channel.ts';
import { FeedStage } from './feed-stage.ts';
import { LIMITS } from './socket-stage.ts';

const MARKETS = 15;
/** Of a turn. */
const PIECES = 32;

/** A socket whose reader takes what the test says. */
class FakeSocket implements Socket {
  readonly sent: string[] = [];
  readonly joined = new Set<string>();
  unread = 0;

  send(text: string | Uint8Array): void {
    this.sent.push(Buffer.from(text).toString());
  }

  join(topic: string): void {
    this.joined.add(topic);
  }

  leave(topic: string): void {
    this.joined.delete(topic);
  }

  waiting(): number {
    return this.unread;
  }

  end(): void {
    assert.fail('nobody is closed here');
  }
}

test('books come in pieces over turns, stop while the reader is busy, and go on behind it', async () => {
  const stage = new FeedStage();
  stage.run({ kind: 'at', time: 1_000 });
  const terms = { grid: 100, baseFeeBps: 0, minSize: 0n, tradable: true, ended: false };
  for (let condition = 1; condition <= MARKETS; condition++) {
    stage.run({ kind: 'market', condition, outcomes: 4, ...terms, negRisk: false });
  }
  stage.endBatch();
  stage.flush();
  const slots = Array.from({ length: 4 * MARKETS }, (_, i) => (i + 1) as TokenSlot);
  const tokens = slots.map((slot) => JSON.parse(String(stage.books.render(slot))).asset_id);
  const socket = new FakeSocket();
  const limits = { ...LIMITS, subscriptionsMax: tokens.length };
  const connection = new MarketConnection(
    { tables: stage.t, texts: stage.texts, feed: stage.market },
    { socket, limits, now: () => 0, onClosed: () => undefined },
  );
  const subscribe = JSON.stringify({ type: 'market', assets_ids: tokens });
  socket.unread = limits.backpressureBytes / 2;
  connection.message(subscribe);
  await nextTurn();
  assert.deepEqual([socket.sent.length, socket.joined.size], [0, 0], 'it does not read');
  socket.unread = 0;
  connection.drained();
  assert.equal(socket.sent.length, PIECES, 'a turn is bounded');
  socket.unread = limits.backpressureBytes;
  await nextTurn();
  assert.equal(socket.sent.length, PIECES, 'it does not read again');
  socket.unread = 0;
  connection.drained();
  assert.equal(socket.sent.length, tokens.length);
  assert.equal(socket.joined.size, 2 * tokens.length, 'each token, and its book');
  connection.closed();
  for (const slot of slots) {
    const { followers } = stage.market.follow(slot, false);
    assert.deepEqual(followers, [1], 'nothing is left of who has gone');
  }
});
