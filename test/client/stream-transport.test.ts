/** Requests over a user stream: over HTTP where the stream has closed, or its node cannot take them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Reply, Transport } from '../../client/http.ts';
import { StreamTransport } from '../../client/streams/stream-transport.ts';
import type { AnswerEvent } from '../../client/types.ts';

const OVER_HTTP: Reply = { status: 200, body: 'over HTTP', retryAfterSeconds: 0 };

class Stage {
  readonly frames: string[] = [];
  readonly transport: StreamTransport;

  constructor() {
    const http: Transport = {
      count: 2,
      at: 0,
      sequence: 0,
      moveOn: () => undefined,
      send: () => Promise.resolve(OVER_HTTP),
      close: () => undefined,
    };
    this.transport = new StreamTransport(http, 60_000);
    this.open();
  }

  open(): void {
    this.transport.opened((text) => this.frames.push(text));
  }

  place(): Promise<Reply> {
    return this.transport.send('POST', '/order', {}, '{"order":1}');
  }

  /** Answers the newest frame. */
  answer(status: number, code: string): void {
    const { id, op } = JSON.parse(this.frames.at(-1)!) as Pick<AnswerEvent, 'id' | 'op'>;
    const body = { error: 'as the test says', code };
    this.transport.answered({ event_type: 'answer', op, id, status, headers: {}, body });
  }
}

test('after a node that cannot take a request the next tries go over HTTP, until the stream connects anew', async () => {
  const stage = new Stage();
  const refused = stage.place();
  stage.answer(503, 'NOT_LEADING');
  assert.equal((await refused).status, 503);
  assert.deepEqual(await stage.place(), OVER_HTTP);
  assert.equal(stage.frames.length, 1);
  stage.open();
  const placed = stage.place();
  stage.answer(400, 'BAD_BODY');
  assert.equal((await placed).status, 400);
  assert.equal(stage.frames.length, 2);
  const third = stage.place();
  assert.equal(stage.frames.length, 3, 'a refusal of the order says nothing about the node');
  stage.transport.close();
  await assert.rejects(third, /closed before the answer/);
});

test('a stream that closes leaves its requests without an answer, and takes no more', async () => {
  const stage = new Stage();
  const lost = stage.place();
  stage.transport.ended();
  await assert.rejects(lost, /closed before the answer/);
  assert.deepEqual(await stage.place(), OVER_HTTP);
});
