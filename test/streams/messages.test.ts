import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { EndReason } from '../../engine/tables/codes.ts';
import { readConfig } from '../../server/config/config.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';
import { OPERATIONS } from '../../server/streams/request-frames.ts';
import { boundTexts } from '../../server/streams/stream-bounds.ts';
import { changeOfClose } from '../../server/streams/user-frames.ts';
import { ROOT } from '../common/root.ts';

function read(path: string): string {
  return readFileSync(join(ROOT, `${path}`), 'utf8');
}

test('the reference of the API lists both streams and their operations, and that of the folder each of their messages', () => {
  const api = read('docs/reference/api.md');
  const room = read('server/streams/README.md');
  for (const [path, { does, events }] of Object.entries(STREAM_TABLE)) {
    assert(api.includes(`| \`${path}\` | ${does} |`), path);
    for (const [name, { sent }] of Object.entries(events)) {
      const row = new RegExp(`^\\| \`${name}\` \\| [^|]+ \\| (.*) \\|$`, 'm').exec(room);
      assert.equal(row?.[1], sent, name);
    }
  }
  for (const [name, route] of Object.entries(OPERATIONS)) {
    assert(api.includes(`| \`${name}\` | \`${route}\` |`), name);
  }
});

test('the README of the streams has the bounds of the table with their defaults', () => {
  const room = read('server/streams/README.md');
  const rows = [...room.matchAll(/^\| `(\w+)` \| (more than .*) \|$/gm)].map(([, ...row]) => row);
  const configured = readConfig({}, [], 1);
  assert(configured.ok);
  const { streamCallerFactor, streamSubscriptionsMax } = configured.config;
  const limits = { callerFactor: streamCallerFactor, subscriptionsMax: streamSubscriptionsMax };
  assert.deepEqual(rows, boundTexts(limits));
});

test('every stream documents the messages that it accepts', () => {
  for (const { message } of Object.values(STREAM_TABLE)) {
    assert('operation' in (message as { properties: object }).properties);
  }
});

test('the last message of an order is the one that the table of endings names', () => {
  const rows = read('server/orders/README.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 8);
  const named = new Set<string>();
  for (const [, , , , , reason, last] of rows) {
    if (!(reason! in EndReason)) continue;
    named.add(reason!);
    const { status, type } = changeOfClose(EndReason[reason as keyof typeof EndReason]);
    assert.equal(last, `${type}, ${status}`, reason);
  }
  assert.deepEqual(new Set([...named, 'none']), new Set(Object.keys(EndReason)));
});
