import assert from 'node:assert/strict';
import test from 'node:test';
import { FRESH_MS, type NodeState, NodeWatch } from '../../server/cluster/node-watch.ts';
import { PeerServer } from '../../server/cluster/peers/peer-server.ts';
import { until } from '../common/node-harness.ts';

const SECRETS = { current: 's'.repeat(32), previous: '' };
const AHEAD_MS = 60_000;
const OWN: NodeState = { leads: true, applied: 7, reasons: ['log'], wall: 0 };

async function serving(own: (() => NodeState) | undefined, secrets = SECRETS) {
  const server = new PeerServer({ secrets, host: '127.0.0.1', port: 0, print: () => undefined });
  if (own !== undefined) NodeWatch.serve(server, own);
  const port = await server.listen();
  return { server, announced: { mayLead: true, peers: `peers://127.0.0.1:${port}` } };
}

test('each node is polled for its state and its clock, and one that ends becomes silent', async (t) => {
  const state = (): NodeState => ({ ...OWN, wall: Date.now() + AHEAD_MS });
  const [here, older, other] = await Promise.all([
    serving(state),
    serving(undefined),
    serving(state, { current: 'o'.repeat(32), previous: '' }),
  ]);
  const nodes = new Map([
    ['here', here.announced],
    ['older', older.announced],
    ['other', other.announced],
    ['own', here.announced],
  ]);
  let looks = 0;
  let isListed = true;
  const watch = new NodeWatch({
    node: 'own',
    secrets: SECRETS,
    wall: Date.now,
    nodes: () => (isListed ? Promise.resolve(nodes) : Promise.reject(new Error('no log'))),
    onLook: () => {
      looks += 1;
    },
  });
  t.after(async () => {
    watch.close();
    await Promise.all([older.server.close(), other.server.close()]);
  });
  watch.start();
  await until(() => (watch.find('here')?.silentMs ?? Infinity) < FRESH_MS);
  const { clock, mayLead, state: said } = watch.find('here')!;
  assert.deepEqual([said!.reasons, said!.applied, said!.leads, mayLead], [['log'], 7, true, true]);
  assert(Math.abs(clock!.aheadMs - AHEAD_MS) <= clock!.errorMs + 5, JSON.stringify(clock));
  // A node of another version answers, and one with another secret does not.
  await until(() => (watch.find('older')?.silentMs ?? Infinity) < FRESH_MS);
  assert.equal(watch.find('older')!.state, undefined);
  assert.equal(watch.find('other')!.silentMs, Infinity);
  assert.deepEqual(
    watch
      .nodes()
      .map(({ node }) => node)
      .sort(),
    ['here', 'older', 'other'],
  );
  // Without the log the nodes of the last list go on being watched.
  isListed = false;
  const before = looks;
  await until(() => looks > before + 2);
  assert((watch.find('here')?.silentMs ?? Infinity) < FRESH_MS);
  await here.server.close();
  await until(() => watch.find('here')!.silentMs > FRESH_MS);
  // It is back at another address; another one is gone.
  const back = await serving(() => ({ ...OWN, reasons: [], wall: Date.now() }));
  t.after(() => back.server.close());
  nodes.set('here', back.announced);
  nodes.delete('older');
  isListed = true;
  await until(() => watch.find('here')?.state?.reasons.length === 0);
  assert.equal(watch.find('older'), undefined);
});
