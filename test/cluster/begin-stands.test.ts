import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import type { Announced } from '../../server/cluster/announced.ts';
import { standsOf } from '../../server/cluster/begin.ts';

const OWN = { sequence: 5, digest: 1, records: [], digestAt: () => undefined };
/** Announcements are listed once a second, so the second node is announced at the third look. */
const LOOKS = 3;
const HEARD_MS = 1_500;

test('a node that is announced again while the others are compared is compared too', async () => {
  const server = createServer((_, response) => {
    response.end(
      JSON.stringify({
        status: 'read-only',
        paused: [],
        log: { sequence: 7, digest: 2 },
        cluster: { role: 'follower', epoch: 3, applied: 7, behind_ms: 0, catalog_missing: null },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const advertise = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const announced: Announced = { advertise, peers: 'peers://n', mayLead: true, key: 'a digest' };
    let looks = 0;
    const all = async (): Promise<ReadonlyMap<string, Announced>> => {
      looks++;
      const names = looks < LOOKS ? ['n2'] : ['n1', 'n2'];
      return new Map(names.map((name) => [name, announced]));
    };
    const { epoch, stands } = await standsOf({ all }, OWN, performance.now() + HEARD_MS);
    assert.deepEqual(
      stands.map(({ blocks, node, says }) => [node, says, blocks]),
      [
        ['n1', 'is ahead by 2', true],
        ['n2', 'is ahead by 2', true],
      ],
    );
    assert.equal(epoch, 3);
  } finally {
    server.close();
  }
});
