import assert from 'node:assert/strict';
import test from 'node:test';
import { LogSink, type SinkOptions } from '../../server/common/log-sink.ts';
import { openLogger } from '../../server/common/logger.ts';
import { route, serve } from '../common/http-client.ts';

type Done = Parameters<NonNullable<SinkOptions['write']>>[2];

class Reader {
  text = '';
  private pending: { readonly bytes: Buffer; readonly done: Done }[] = [];

  readonly write = (_fd: number, bytes: Buffer, done: Done): void => {
    this.pending.push({ bytes, done });
  };

  take(most = Number.POSITIVE_INFINITY): void {
    const { bytes, done } = this.pending.shift()!;
    const taken = bytes.subarray(0, Math.min(most, bytes.length));
    this.text += taken.toString();
    done(null, taken.length);
  }

  fail(code: string): void {
    this.pending.shift()!.done(Object.assign(new Error(code), { code }), 0);
  }

  get waits(): number {
    return this.pending.length;
  }
}

function sinkOf(reader: Reader, bufferedBytesMax = 100): LogSink {
  const dropped = (lines: number): string => `${lines} lost\n`;
  return new LogSink({ fd: -1, dropped, write: reader.write, bufferedBytesMax });
}

test('JSON has level, time, message and fields, one line each', () => {
  const reader = new Reader();
  const { log } = openLogger({ level: 'info', format: 'json', write: reader.write });
  log('warn', 'two\nlines', { port: 3000, settings: { A: '1' } });
  reader.take();
  const { time, ...rest } = JSON.parse(reader.text) as Record<string, unknown>;
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(rest, {
    level: 'warn',
    port: 3000,
    settings: { A: '1' },
    msg: 'two\nlines',
  });
  assert.equal(reader.text.split('\n').length, 2);
  log('debug', 'not told');
  assert.equal(reader.waits, 0);
});

test('pretty text has new fields behind it, and settings below', () => {
  const reader = new Reader();
  const { log } = openLogger({ level: 'debug', format: 'pretty', write: reader.write });
  log('info', 'listening on 3000', { port: 3000, id: 'x' });
  reader.take();
  assert.match(reader.text, /^[\dT:.Z-]+ info listening on 3000 id=x\n$/);
  reader.text = '';
  log('debug', 'configuration', { settings: { A: '1', B: '' } });
  reader.take();
  assert.match(reader.text, / debug configuration\n {2}A=1\n {2}B=\n$/);
});

test('one write is under way at a time; lines keep their order, also where it took a part', () => {
  const reader = new Reader();
  const sink = sinkOf(reader);
  for (const line of ['one\n', 'two\n', 'three\n']) sink.write(line);
  assert.equal(reader.waits, 1);
  reader.take(2);
  reader.take();
  reader.take();
  assert.equal(reader.text, 'one\ntwo\nthree\n');
  assert.equal(reader.waits, 0);
});

test('lines without room behind a stalled reader are dropped, counted, and reported when it reads on', () => {
  const reader = new Reader();
  const sink = sinkOf(reader);
  for (let i = 0; i < 20; i++) sink.write(`line ${i % 10} of ten\n`);
  reader.take();
  reader.take();
  const lines = reader.text.trimEnd().split('\n');
  assert.equal(lines.length, 8);
  assert.equal(lines.at(-1), '13 lost');
  sink.write('again\n');
  reader.take();
  assert(reader.text.endsWith('13 lost\nagain\n'));
});

test('a closed reader loses lines and nothing else, and a busy one is retried', async () => {
  const reader = new Reader();
  const sink = sinkOf(reader);
  sink.write('lost\n');
  reader.fail('EPIPE');
  sink.write('kept\n');
  reader.fail('EAGAIN');
  const flushed = sink.flushed();
  while (reader.waits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  reader.take();
  await flushed;
  assert.equal(reader.text, 'kept\n');
});

test('a process that stood still before its end writes its last lines', async () => {
  let text = '';
  const write = (_fd: number, bytes: Buffer, done: Done): void => {
    setImmediate(() => {
      text += bytes.toString();
      done(null, bytes.length);
    });
  };
  const sink = new LogSink({ fd: -1, dropped: String, write });
  for (const line of ['one\n', 'two\n']) sink.write(line);
  const flushed = sink.flushed();
  // Longer than a write may take.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  await flushed;
  assert.equal(text, 'one\ntwo\n');
});

test('a 500 carries the id of its line in the log', async (t) => {
  const run = () => Promise.reject(new Error('broken'));
  const told: unknown[] = [];
  const log = (line: string, fields: unknown = {}): void => void told.push({ line, fields });
  const { ask } = await serve(t, [route({ path: '/a', run })], { log });
  const { headers, status } = await ask('GET /a HTTP/1.1');
  assert.equal(status, 500);
  const request_id = headers.get('x-request-id');
  assert.match(request_id ?? '', /^[0-9a-f]{12}-\d+$/);
  const fields = { method: 'GET', route: '/a', request_id };
  assert.deepEqual(told, [{ line: 'GET /a failed: broken', fields }]);
});
