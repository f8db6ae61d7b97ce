import assert from 'node:assert/strict';
import test from 'node:test';
import { type OtherNode, spread } from '../../server/cluster/catalog-spread.ts';

const MS_MAX = 1_500;
const FOREVER_MS = 60_000;
const never = new AbortController().signal;

function nodes(members: readonly string[], replicas: readonly string[] = []) {
  const of = (mayLead: boolean) => (node: string) => [node, { mayLead, peers: node }] as const;
  return new Map<string, OtherNode>([...members.map(of(true)), ...replicas.map(of(false))]);
}

interface Case {
  readonly announced: () => ReadonlyMap<string, OtherNode>;
  readonly offer: (node: string) => Promise<void>;
  readonly msMax?: number;
  readonly goesOn?: () => boolean;
  readonly signal?: AbortSignal;
}

function spreadBy({ announced, goesOn = () => true, msMax, offer, signal = never }: Case) {
  return spread({
    node: 'n0',
    nodes: async () => announced(),
    offer,
    goesOn,
    signal,
    msMax: msMax ?? FOREVER_MS,
  });
}

const takes = (): Promise<void> => Promise.resolve();
const silent = (): Promise<void> => new Promise(() => undefined);

test('two of three members suffice, and the third one is asked, too', async () => {
  const asked = new Set<string>();
  const offer = (node: string): Promise<void> => {
    asked.add(node);
    return node === 'n1' ? takes() : silent();
  };
  await spreadBy({ announced: () => nodes(['n0', 'n1', 'n2'], ['r']), offer });
  assert.deepEqual([...asked].sort(), ['n1', 'n2', 'r']);
});

test('a node alone is a majority', () =>
  spreadBy({ announced: () => nodes(['n0']), offer: () => assert.fail('there is nobody') }));

test('a replica does not count, and the error names the member that lacks the catalog, with the reason', async () => {
  const offer = (node: string): Promise<void> =>
    node === 'r' ? takes() : Promise.reject(new Error('the disk is full'));
  await assert.rejects(
    spreadBy({ announced: () => nodes(['n0', 'n1'], ['r']), offer, msMax: MS_MAX }),
    new Error('1 of 2 members have it, which is no majority; it is not at n1 (the disk is full)'),
  );
});

test('members that are silent are named', async () => {
  await assert.rejects(
    spreadBy({ announced: () => nodes(['n0', 'n1', 'n2']), offer: silent, msMax: MS_MAX }),
    /it is not at n1 \(it has not answered\), n2 \(it has not answered\)$/,
  );
});

test('a member that is no longer announced does not count', async () => {
  let looks = 0;
  const announced = () => nodes(++looks < 3 ? ['n0', 'n1'] : ['n0']);
  await spreadBy({ announced, offer: silent });
  assert(looks >= 3);
});

test('a member that could not store the catalog is asked again', async () => {
  let tries = 0;
  const offer = (): Promise<void> => (++tries < 3 ? Promise.reject(new Error('later')) : takes());
  await spreadBy({ announced: () => nodes(['n0', 'n1']), offer });
  assert.equal(tries, 3);
});

test('no majority exists while the nodes are unknown', async () => {
  const announced = () => {
    throw new Error('etcd does not answer');
  };
  await assert.rejects(
    spreadBy({ announced, offer: takes, msMax: MS_MAX }),
    /nobody knows which nodes there are/,
  );
});

test('the wait ends when this node no longer leads, and when the node closes', async () => {
  const announced = () => nodes(['n0', 'n1']);
  let looks = 0;
  await assert.rejects(
    spreadBy({ announced, offer: silent, goesOn: () => ++looks < 3 }),
    /leads no more/,
  );
  const closing = new AbortController();
  const ended = spreadBy({ announced, offer: silent, signal: closing.signal });
  closing.abort(new Error('the node ends'));
  await assert.rejects(ended, /the node ends/);
});
