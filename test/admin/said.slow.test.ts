/** The message of the venue, and notes on resolutions, over real HTTP. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { OperationKey } from '../../server/admin/operation-table.ts';
import { get, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { OperatorNode } from './operator-node.ts';

const HOSTILE = '<img src=x onerror=alert(1)> & "quotes"';
const SETTINGS = { LEDGER: 'on' };

async function venue() {
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
  return { dataDir, operator: await OperatorNode.start(dataDir, SETTINGS) };
}

test('a message is public until it is taken away, also over a kill, and on a stopped node', async () => {
  const { dataDir, operator: first } = await venue();
  let operator = first;
  const shown = async () => {
    const { message } = (await get(operator.node, '/status')).json as {
      readonly message?: { readonly text: string; readonly since: string };
    };
    return message;
  };
  const say = (text?: string) => operator.done('POST /admin/message', { text });
  assert.equal(await shown(), undefined);
  assert.deepEqual(await operator.done('GET /admin/message'), { text: '' });
  assert.deepEqual(await say(), { text: '', changed: false });
  assert.deepEqual(await say(HOSTILE), { text: HOSTILE, changed: true });
  const message = await shown();
  assert.equal(message?.text, HOSTILE);
  assert(Math.abs(Date.parse(message.since) - Date.now()) < 60_000);
  assert.deepEqual(await operator.done('GET /admin/message'), message);
  assert.deepEqual(await say(HOSTILE), { text: HOSTILE, changed: false });
  for (const text of ['x'.repeat(281), 'two\nlines', 'left\u202eright', '', ' blank']) {
    const { json, status } = await operator.call('POST /admin/message', { text });
    assert.deepEqual([status, json.error], [400, 'invalid_field: text'], JSON.stringify(text));
  }
  await operator.node.end('SIGKILL');
  operator = await OperatorNode.start(dataDir, SETTINGS);
  assert.deepEqual(await shown(), message);
  const said = await cli(dataDir, ['venue', 'message', 'Closed on Monday'], {
    settings: { ADMIN_PORT: new URL(operator.base).port },
  });
  assert.equal(said.stdout + said.stderr, 'everybody reads: Closed on Monday\n');
  assert.equal((await shown())?.text, 'Closed on Monday');
  await operator.node.stop();
  const cleared = await cli(dataDir, ['venue', 'message']);
  assert.equal(cleared.stdout + cleared.stderr, 'there is no message any more\n');
  operator = await OperatorNode.start(dataDir, SETTINGS);
  assert.equal(await shown(), undefined);
  await operator.node.stop();
});

test('a note is shown with the payout that it explains, and goes with a withdrawn proposal', async () => {
  const { dataDir, operator: first } = await venue();
  let operator = first;
  const marketOf = async (id: number) =>
    (await get(operator.node, `/markets/${id}`)).json as Record<string, unknown>;
  const noteOf = async (id: number): Promise<unknown> => {
    const { conditionId, resolutionNote } = await marketOf(id);
    const { json } = await get(operator.node, `/v2/resolutions?condition=${conditionId}`);
    const [row] = (json as { readonly data: readonly Record<string, unknown>[] }).data;
    assert.equal(row?.resolution_note, resolutionNote);
    return resolutionNote;
  };
  const done = (key: OperationKey, body: object) => operator.done(key, body);
  const resolved = { condition: '1', payouts: { Yes: 1 }, id: `${Date.now()}-note` };
  const { json, status } = await operator.call('POST /admin/markets/resolve', {
    ...resolved,
    note: 'x'.repeat(281),
  });
  assert.deepEqual([status, json.error], [400, 'invalid_field: note']);
  assert.equal(await noteOf(1), undefined);
  await done('POST /admin/markets/resolve', { ...resolved, note: 'first' });
  assert.equal(await noteOf(1), 'first');
  const { closedTime } = await marketOf(1);
  const again = await done('POST /admin/markets/resolve', { ...resolved, note: HOSTILE });
  assert.equal(again.repeated, true);
  assert.equal(await noteOf(1), HOSTILE, 'the same command with another note corrects it');
  await done('POST /admin/markets/resolve', resolved);
  assert.equal(await noteOf(1), HOSTILE);
  assert.deepEqual((await marketOf(1)).closedTime, closedTime);

  await done('POST /admin/markets/void', { condition: '2', review: 3_600, note: 'no source' });
  assert.equal(await noteOf(2), 'no source');
  await done('POST /admin/markets/withdraw-proposal', { condition: '2' });
  assert.equal(await noteOf(2), undefined);
  await done('POST /admin/markets/void', { condition: '2', review: 1, note: 'again' });
  await until(async () => (await marketOf(2)).umaResolutionStatus === 'resolved');
  assert.equal(await noteOf(2), 'again', 'a payout at its deadline keeps the note of its proposal');
  await operator.node.end('SIGKILL');
  operator = await OperatorNode.start(dataDir, SETTINGS);
  assert.deepEqual([await noteOf(1), await noteOf(2)], [HOSTILE, 'again']);
  await operator.node.stop();
});
