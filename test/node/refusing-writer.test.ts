import assert from 'node:assert/strict';
import test from 'node:test';
import type { KeyOwner } from '../../server/auth/auth.ts';
import type { Handler, RequestContext } from '../../server/http/http.ts';
import { handlersOf } from '../../server/http/route.ts';
import { refusingWriter } from '../../server/node/refusing-writer.ts';
import { HEARTBEAT_ROUTES } from '../../server/orders/cancel/heartbeat-routes.ts';
import type { WatchStore } from '../../server/orders/cancel/heartbeats.ts';
import { ORDER_ROUTES } from '../../server/orders/intake/order-routes.ts';

const UNAVAILABLE = '503 {"error":"journal unavailable","code":"JOURNAL_UNAVAILABLE"}';
const NOBODY: WatchStore = {
  read: () => [],
  put: () => assert.fail(),
  remove: () => assert.fail(),
};
const CALLER = { address: new Uint8Array(20), apiKeyBytes: new Uint8Array(16) } as KeyOwner;
/** Bodies, of which the second is placed in parts. */
const BODIES = ['', `[${'{},'.repeat(30_000)}{}]`];

test('the refusing writer answers every change of orders and every heartbeat', async () => {
  const writer = refusingWriter('no space left', 7);
  const handlers = {
    ...handlersOf(ORDER_ROUTES, { intake: writer.intake, limits: undefined }),
    ...handlersOf(HEARTBEAT_ROUTES, {
      heartbeats: writer.openHeartbeats(NOBODY),
      config: { heartbeatError: 'error' },
    }),
  };
  assert.equal(Object.keys(handlers).length, 10);
  for (const [route, handler] of Object.entries<Handler<unknown, KeyOwner>>(handlers)) {
    for (const text of route.includes('heartbeats') ? [''] : BODIES) {
      const answers: string[] = [];
      const reply = (status: number, body: unknown) => answers.push(`${status} ${body}`);
      const context = { body: Buffer.from(text), reply } as unknown as RequestContext;
      await handler(context, {}, CALLER);
      assert.deepEqual(answers, [UNAVAILABLE], route);
    }
  }
  assert.equal(writer.waiting(), 0);
});

test('the refusing writer names its reason and lets reads through at once', async () => {
  const writer = refusingWriter('no space left', 7);
  assert.equal(writer.applied.newest, 7);
  assert.deepEqual(writer.pauses(), [{ reason: 'directory', detail: 'no space left' }]);
  assert.equal(await writer.sequenceLock.read(() => 7), 7);
  assert.throws(() => writer.whenBatchesDone(() => undefined), /nobody may write/);
});
