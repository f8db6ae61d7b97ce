import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_CAPACITIES } from '../../engine/tables/capacities.ts';
import { type Announced, Announcements, announcedOf } from '../../server/cluster/announced.ts';
import {
  decodeHeartbeat,
  encodeHeartbeat,
  type Heartbeat,
} from '../../server/cluster/heartbeat.ts';

const GOOD: Announced = {
  advertise: 'http://10.0.0.1:3000',
  peers: 'peers://10.0.0.1:4000',
  mayLead: true,
  key: 'a digest',
  run: 'one',
};
const HEARTBEAT: Heartbeat = {
  node: 'n1',
  epoch: 2,
  advertise: 'http://n1',
  peers: 'peers://n1:1',
  sequence: 7,
  capacities: DEFAULT_CAPACITIES,
  count: 3,
  afterLeave: false,
  leaves: false,
};
const NONE = ['', 'x', 'null', '1', '[]', '{}', '"text"'];

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

test('an announcement reads back as it was written, also one of an older version', () => {
  const { run, ...older } = GOOD;
  assert.deepEqual(announcedOf(json(GOOD)), GOOD);
  assert.deepEqual(announcedOf(json(older)), older);
});

test('a value without a required member is no announcement, and no heartbeat', () => {
  for (const text of NONE) {
    assert.equal(announcedOf(Buffer.from(text)), undefined, text);
    assert.equal(decodeHeartbeat(Buffer.from(text)), undefined, text);
  }
  for (const member of ['advertise', 'peers', 'mayLead', 'key']) {
    assert.equal(announcedOf(json({ ...GOOD, [member]: 7 })), undefined, member);
  }
  assert.deepEqual(decodeHeartbeat(encodeHeartbeat(HEARTBEAT)), HEARTBEAT);
  for (const member of ['node', 'epoch', 'peers', 'sequence', 'capacities', 'count', 'leaves']) {
    assert.equal(decodeHeartbeat(json({ ...HEARTBEAT, [member]: null })), undefined, member);
  }
});

test('a node with an unreadable announcement is left out, and reported again only after a readable one', async () => {
  const lines: string[] = [];
  let values = new Map([
    ['a', json(GOOD)],
    ['b', Buffer.from('x')],
  ]);
  const print = (_: string, line: string): void => void lines.push(line);
  const announcements = new Announcements({ nodes: async () => values }, 'venue', print);
  for (let i = 0; i < 3; i++) assert.deepEqual([...(await announcements.all(1)).keys()], ['a']);
  assert.deepEqual(lines, [
    'etcd: venue/nodes/b has a value that cannot be read: node b is left out',
  ]);
  const bad = values;
  values = new Map([['b', json(GOOD)]]);
  assert.deepEqual([...(await announcements.all(1)).keys()], ['b']);
  values = bad;
  await announcements.all(1);
  assert.equal(lines.length, 2);
});
