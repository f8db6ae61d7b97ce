/** `fault add`, `fault list` and `fault clear` against a running node. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OperatorNode } from '../admin/operator-node.ts';
import { temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const operator = await OperatorNode.start(dataDir, { FAULTS: 'operator' });
const settings = { ADMIN_PORT: new URL(operator.base).port };

test('a fault is made, listed and cleared by its commands', async () => {
  const alice = await Trader.join(operator.node, 'alice');
  const options = [
    '--wallet',
    alice.address,
    '--seconds',
    '60',
    '--probability',
    '1',
    '--seed',
    '9',
  ];
  const added = await cli(dataDir, ['fault', 'add', 'disabled', ...options], { settings });
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /^id .*\nf1 +disabled +on +0x[0-9a-f]{40} +0 +1 +9 /);
  const refused = await alice.ask(operator.node, 'DELETE', '/cancel-all');
  assert.equal(refused.status, 503);
  const listed = await cli(dataDir, ['fault', 'list', '--json'], { settings });
  const { faults } = JSON.parse(listed.stdout) as { faults: { id: string; uses: number }[] };
  assert.deepEqual(
    faults.map(({ id, uses }) => [id, uses]),
    [['f1', 1]],
  );
  const cleared = await cli(dataDir, ['fault', 'clear', 'f1'], { settings });
  assert.equal(cleared.stdout, '1 faults are cleared\n');
  assert.equal((await alice.ask(operator.node, 'DELETE', '/cancel-all')).status, 200);
});

test('an unknown kind and a count of the whole venue are refused with their rule', async () => {
  const unknown = await cli(dataDir, ['fault', 'add', 'flood'], { settings });
  assert.match(unknown.stderr, /KIND must be one of disabled, restart, .* not "flood"/);
  assert.notEqual(unknown.code, 0);
  const counted = await cli(dataDir, ['fault', 'add', 'disabled', '--count', '1'], { settings });
  assert.match(counted.stderr, /invalid_field: count.*ends by seconds/);
});
