/** A catalog file that an operator sends to a running node, over real HTTP. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { auditEntries } from '../../storage/operations/audit-log.ts';
import { catalogFile, get, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
const twelve = Array.from({ length: 12 }, (_, i) => ({ id: i + 1 }));
await withMarkets(dataDir, twelve);
const operator = await OperatorNode.start(dataDir);
after(() => operator.node.stop());

interface Imported {
  readonly done: boolean;
  readonly report: readonly string[];
  readonly problems: readonly string[];
  readonly generation: number | null;
}

const send = async (kind: 'dry-run' | 'import', file: unknown, query = ''): Promise<Imported> => {
  const key = `POST /admin/catalog/${kind}${query}`;
  const { json, status } = await operator.call(key, file);
  assert.equal(status, 200, JSON.stringify(json));
  return json as unknown as Imported;
};
const statusOf = async (id: number) => (await get(operator.node, `/markets/${id}`)).status;
const entries = () => auditEntries(dataDir, 100);

test('a dry run reports what an import would do, and changes nothing', async () => {
  const before = await entries();
  const file = catalogFile([...twelve, { id: 13 }]);
  const { done, generation, problems, report } = await send('dry-run', file);
  assert.deepEqual([done, generation, problems], [true, null, []]);
  assert.match(report.join('\n'), /^opens 1 markets: 13$/m);
  assert.match(report.join('\n'), /^cancels 0 resting orders$/m);
  const fewer = await send('dry-run', catalogFile([{ id: 1 }]));
  assert.deepEqual([fewer.done, fewer.generation], [false, null]);
  assert.match(fewer.problems.join('\n'), /--force removes them, --merge keeps them/);
  assert.equal((await send('dry-run', catalogFile([{ id: 1 }]), '?force=true')).done, true);
  assert.deepEqual([await statusOf(2), await statusOf(13)], [200, 404]);
  assert.deepEqual(await entries(), before);
});

test('an import is served when it is answered, and the audit log has the digest of its file', async () => {
  const file = catalogFile([{ id: 13 }]);
  const refused = await send('import', file);
  assert.equal(refused.done, false);
  assert.equal(await statusOf(13), 404);
  const { done, generation } = await send('import', file, '?merge=true');
  assert.equal(done, true);
  assert(generation !== null && generation > 0);
  assert.deepEqual([await statusOf(1), await statusOf(13)], [200, 200]);
  const bytes = Buffer.from(JSON.stringify(file));
  const [entry] = await entries();
  assert.deepEqual(entry?.body, {
    merge: true,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
});

test('what is no catalog, an unknown option and a file above the bound are refused', async () => {
  const none = await send('import', { events: 'none' });
  assert.equal(none.done, false);
  assert.match(none.problems.join(), /^cannot import /);
  const option = await operator.call('POST /admin/catalog/import?forced=true', {});
  assert.deepEqual([option.status, option.json.error], [400, 'unknown_field: forced']);
  const large = { events: [], more: 'x'.repeat(8 * 2 ** 20) };
  const { json, status } = await operator.call('POST /admin/catalog/import', large);
  assert.deepEqual([status, json.error], [413, 'body too large']);
});
