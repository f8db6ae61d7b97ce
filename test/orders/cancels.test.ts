import assert from 'node:assert/strict';
import test from 'node:test';
import { JOURNAL_UNAVAILABLE } from '../../server/common/error-bodies.ts';
import {
  CANCEL_ALL_HEAD_BYTES,
  type CancelAllCursor,
  encodeCancelAll,
  readCancelAllHead,
  writeCancelAllHead,
} from '../../server/orders/cancel/cancel-all.ts';
import { submitCancelAll } from '../../server/orders/cancel/cancels.ts';
import type { Request } from '../../server/orders/exchange-memory/slot-requests.ts';
import { RequestKind } from '../../server/orders/exchange-memory/slots.ts';
import { turnsOf } from '../common/turns.ts';
import { Stage } from './sequencer-stage.ts';

const OWNER = { apiKeyBytes: new Uint8Array(16), address: new Uint8Array(20) };

/** Stands for the sequencer: keeps submitted requests. */
class Line {
  readonly requests: Request[] = [];
  readonly calls: string[] = [];

  submit(request: Request): void {
    this.calls.push('submit');
    this.requests.push(request);
  }

  resume(request: Request): void {
    this.calls.push('resume');
    this.requests.push(request);
  }
}

function part(place: CancelAllCursor, ids: readonly string[], sizes: readonly string[]): Buffer {
  const canceled = Buffer.from(ids.map((id) => `"${id}"`).join(','));
  const filled = Buffer.from(ids.map((id, i) => `"${id}":"${sizes[i]}"`).join(','));
  const head = Buffer.alloc(CANCEL_ALL_HEAD_BYTES);
  writeCancelAllHead(head, place, canceled.length);
  return Buffer.concat([head, canceled, filled]);
}

function start(body: string): { line: Line; answers: [number, string][] } {
  const line = new Line();
  const answers: [number, string][] = [];
  submitCancelAll(line, RequestKind.cancelMarket, OWNER, Buffer.from(body), (status, answer) => {
    answers.push([status, Buffer.from(answer).toString()]);
  });
  return { line, answers };
}

test('a cancel continues after its last part until no order is left, then answers once', () => {
  const { answers, line } = start('the body');
  const first = line.requests[0]!;
  assert.deepEqual(readCancelAllHead(first.body), { from: 0, newest: 0, canceledBytes: 0 });
  first.answered(200, part({ from: 77, newest: 5_000 }, ['a', 'b'], ['1', '0.5']));
  // A part may find nothing to cancel and yet not be the last.
  line.requests[1]!.answered(200, part({ from: 3, newest: 5_000 }, [], []));
  assert.deepEqual(answers, []);
  line.requests[2]!.answered(200, part({ from: 0, newest: 5_000 }, ['c'], ['0']));
  assert.deepEqual(line.calls, ['submit', 'resume', 'resume']);
  assert.deepEqual(
    line.requests.map(({ body }) => readCancelAllHead(body).from),
    [0, 77, 3],
  );
  for (const { body, kind, owner } of line.requests) {
    assert.equal(Buffer.from(body).subarray(CANCEL_ALL_HEAD_BYTES).toString(), 'the body');
    assert.deepEqual([kind, owner], [RequestKind.cancelMarket, OWNER]);
  }
  const expected = {
    canceled: ['a', 'b', 'c'],
    not_canceled: {},
    filled: { a: '1', b: '0.5', c: '0' },
  };
  assert.deepEqual(answers, [[200, JSON.stringify(expected)]]);
});

test('a cancel without any order is answered', () => {
  const { answers, line } = start('{}');
  line.requests[0]!.answered(200, part({ from: 0, newest: 1 }, [], []));
  assert.deepEqual(answers, [[200, '{"canceled":[],"not_canceled":{},"filled":{}}']]);
});

test('a part that fails ends the cancel with its failure as the answer', () => {
  for (const failing of [0, 1]) {
    const { answers, line } = start('{}');
    if (failing === 1) line.requests[0]!.answered(200, part({ from: 9, newest: 1 }, ['a'], ['0']));
    line.requests[failing]!.answered(503, JOURNAL_UNAVAILABLE);
    assert.deepEqual(answers, [[503, JOURNAL_UNAVAILABLE]]);
    assert.equal(line.requests.length, failing + 1);
  }
  const { answers, line } = start('{}');
  line.requests[0]!.answered(400, Buffer.from('{"error":"Invalid order payload"}'));
  assert.deepEqual(answers, [[400, '{"error":"Invalid order payload"}']]);
});

test('a position and a body read back as they were written', () => {
  const bytes = encodeCancelAll({ from: 2 ** 24, newest: 1_795_000_000_123 }, Buffer.from('xy'));
  const shared = new Uint8Array(new SharedArrayBuffer(64), 24, bytes.length);
  shared.set(bytes);
  const { from, newest } = readCancelAllHead(shared);
  assert.deepEqual([from, newest], [2 ** 24, 1_795_000_000_123]);
});

test('a cancel that was accepted continues past a full queue, at its end', async () => {
  const stage = new Stage(1, 2);
  for (const name of ['running', 'first', 'second']) stage.submit(name);
  stage.resume('part');
  assert.deepEqual(stage.names(), []);
  await stage.run(stage.tasks[0]!, false);
  await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.names(), ['running', 'first', 'second', 'part']);
});

test('long bodies that wait together take several batches, and other requests are unaffected', async () => {
  const stage = new Stage(1);
  const answers: number[] = [];
  stage.submit('running');
  const first = new Line();
  submitCancelAll(
    first,
    RequestKind.cancelMarket,
    OWNER,
    Buffer.alloc(2 ** 20, ' '),
    () => undefined,
  );
  for (let n = 0; n < 3; n++) {
    const answered = (status: number): number => answers.push(status);
    stage.sequencer.submit({ ...first.requests[0]!, answered });
    stage.submit(`beside ${n}`);
  }
  while (stage.tasks.length > 0) await stage.run(stage.tasks[0]!, false);
  assert.deepEqual(stage.lines, []);
  assert.deepEqual(stage.names(), ['running', 'beside 0', 'beside 1', 'beside 2']);
  assert.deepEqual(answers, [200, 200, 200]);
});

test('a long answer is joined with other requests in between', async () => {
  const line = new Line();
  const ids = Array.from({ length: 500 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
  const filled = ids.map(() => '0');
  const { turns, value } = await turnsOf(
    new Promise<Uint8Array>((resolve) => {
      submitCancelAll(line, RequestKind.cancelAll, OWNER, Buffer.alloc(0), (status, answer) => {
        assert.equal(status, 200);
        resolve(answer as Uint8Array);
      });
      for (let n = 100; n >= 0; n--) {
        line.requests.at(-1)!.answered(200, part({ from: n, newest: 101 }, ids, filled));
      }
    }),
  );
  assert.equal(JSON.parse(Buffer.from(value).toString()).canceled.length, 101 * ids.length);
  assert(turns >= value.length / 2 ** 21, `${turns} turns for ${value.length} bytes`);
});
