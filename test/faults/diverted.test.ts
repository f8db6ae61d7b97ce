/** Topics of connections while faults begin and end, with sockets that count what is asked of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tables } from '../../engine/tables/tables.ts';
import type { FaultSpec } from '../../server/faults/faults.ts';
import type { Socket } from '../../server/http/sockets.ts';
import { type FaultySocket, FaultySockets } from '../../server/streams/faulty-sockets.ts';
import { faultsInMemory } from './faults-in-memory.ts';

const TOPICS = ['asset 1', 'asset 2'];
const { faults } = faultsInMemory();
const sockets = new FaultySockets(faults, {} as Tables);

function open(key: string): { readonly socket: FaultySocket; readonly calls: string[] } {
  const calls: string[] = [];
  const none = (): void => undefined;
  const inner: Socket = {
    send: none,
    join: (topic) => calls.push(`join ${topic}`),
    leave: (topic) => calls.push(`leave ${topic}`),
    waiting: () => 0,
    end: none,
    refuse: none,
    cut: none,
  };
  const socket = sockets.socketOf(inner);
  socket.identified(key, new Uint8Array(20));
  for (const topic of TOPICS) socket.join(topic);
  calls.length = 0;
  return { socket, calls };
}

function gap(key: string): FaultSpec {
  const spec = { count: undefined, seconds: undefined, probability: 1, seed: undefined, ms: 0 };
  return { ...spec, kind: 'stream-gap', target: { key } };
}

test('a connection leaves its topics at the first fault that reaches it, and is back after the last', async () => {
  const [alice, bob] = [open('alice'), open('bob')];
  const LEFT = TOPICS.map((topic) => `leave ${topic}`);
  const BACK = TOPICS.map((topic) => `join ${topic}`);
  const first = await faults.add(gap('alice'));
  assert.deepEqual(alice.calls, LEFT);
  const second = await faults.add({ ...gap('alice'), kind: 'stream-frozen' });
  await faults.add(gap('carol'));
  await faults.clear(first.id);
  assert.deepEqual(alice.calls, LEFT);
  await faults.clear(second.id);
  assert.deepEqual(alice.calls, [...LEFT, ...BACK]);
  assert.deepEqual(bob.calls, []);
  await faults.clear();
  assert.deepEqual(alice.calls, [...LEFT, ...BACK]);
  for (const { socket } of [alice, bob]) sockets.closed(socket);
});
