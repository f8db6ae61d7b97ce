import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { useCompiledNodes } from '../common/forms.ts';
import { get, type TestNode, until } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { NEEDS_ETCD, WAIT_MS, withTwoNodes } from './whole-cluster.ts';

useCompiledNodes();
const TRADED = { DEMO: 'on', DEMO_TRADERS: 'on', LOG_LEVEL: 'debug' };
const BEGUN = /demo traders trade the demo markets/g;

function begun({ log }: TestNode): number {
  return log.match(BEGUN)?.length ?? 0;
}

async function trades(node: TestNode): Promise<void> {
  const newest = async () => (await get(node, '/trades?limit=1')).json;
  const before = await newest();
  await until(async () => !isDeepStrictEqual(await newest(), before), WAIT_MS);
}

test('the traders of the demo trade at the leader, and move with the lead', NEEDS_ETCD, () =>
  withTwoNodes(TRADED, async (cluster, [{ directory, settings }]) => {
    const [a, b] = cluster.nodes as [TestNode, TestNode];
    await trades(b);
    assert.deepEqual([begun(a), begun(b)], [1, 0]);

    /** Number of requests for books at this node: only the traders send them. */
    const asked = async (): Promise<string | undefined> => {
      const page = await fetch(`http://127.0.0.1:${settings.ADMIN_PORT}/metrics`);
      return /^exchange_http_requests_total\{method="POST",route="\/books",status="200"\} \d+$/m.exec(
        await page.text(),
      )?.[0];
    };
    await until(async () => {
      await cli(directory, ['cluster', 'handover', 'b'], { settings });
      return (await cluster.leader()) === 1;
    }, WAIT_MS);
    await until(() => begun(b) === 1, WAIT_MS);
    const before = await asked();
    assert.notEqual(before, undefined);
    for (let i = 0; i < 3; i++) await trades(a);
    assert.equal(await asked(), before, 'those of the node that led have stopped');

    await b.end('SIGKILL');
    await until(() => begun(a) === 2, WAIT_MS);
    await trades(a);
  }),
);
