import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { type Catalog, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { Overtaken } from '../../storage/catalog/catalog-state.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { catalogFile, temporaryDirectory } from '../common/node-harness.ts';
import { seeded } from '../storage/stored-exchange.ts';

const NO_SNAPSHOT = () => ({ format: 'none', parts: [] });

async function stored(
  body: (store: CatalogStore, dataDir: string) => Promise<void>,
  dataDir = temporaryDirectory(),
): Promise<void> {
  const store = openCatalog(dataDir, { durability: 'committed' });
  try {
    await body(store, dataDir);
  } finally {
    await store.close();
  }
}

function catalog(...ids: number[]): Catalog {
  const read = readCatalog(catalogFile(ids.map((id) => ({ id }))));
  assert(read.ok);
  return read.catalog;
}

function titles(store: CatalogStore): readonly unknown[] {
  return store.load().events.map(({ title }) => title);
}

async function generationsOf(dataDir: string): Promise<readonly number[]> {
  const root = openEnvironment({ path: join(dataDir, 'catalog'), durability: 'committed' });
  const found = new Set<number>();
  for (const table of ['objects', 'snapshots']) {
    for (const key of openTable(root, table).getKeys()) found.add(key.readUIntBE(0, 6));
  }
  await root.close();
  return [...found];
}

async function* once(...pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** A catalog generation in the form that is sent to another node. */
async function contentOf(
  of: Catalog,
): Promise<{ readonly bytes: Buffer; readonly digest: string }> {
  let content: { bytes: Buffer; digest: string } | undefined;
  await stored(async (store) => {
    await store.replace(of);
    content = { bytes: Buffer.concat([...store.content()]), digest: store.digest()! };
  });
  return content!;
}

test('a catalog generation of a cluster is proposed, and in use once it is adopted', () =>
  stored(async (store, dataDir) => {
    await store.replace(catalog(1));
    const first = store.digest();
    store.awaitRecords(first);
    assert.equal(store.proposal(), undefined, 'it is recorded');
    const second = await store.replace(catalog(1, 2), undefined, 1);
    assert.deepEqual([store.current(), store.digest(), titles(store)], [1, first, ['Event 1']]);
    assert.equal(store.outcome(second), 'proposed');
    const proposal = store.proposal()!;
    assert.deepEqual([proposal.generation, proposal.replacesAny], [second, false]);
    assert.equal(store.find(proposal.digest), second);
    await assert.rejects(store.replace(catalog(3)), Overtaken, 'one at a time');
    const pinned = openCatalog(dataDir, {
      durability: 'committed',
      readOnly: true,
      generation: second,
    });
    assert.deepEqual(titles(pinned), ['Event 1', 'Event 2']);
    await pinned.close();
    await store.adopt(second);
    assert.deepEqual([store.current(), store.digest()], [second, proposal.digest]);
    assert.equal(store.outcome(second), 'in use');
    assert.equal(store.proposal(), undefined);
    assert.deepEqual(await generationsOf(dataDir), [second], 'the old one is gone');
    await assert.rejects(store.replace(catalog(3), undefined, 1), Overtaken, 'made from the old');
  }));

test('a refused proposal has a reason and leaves nothing, and another one may follow', () =>
  stored(async (store, dataDir) => {
    store.awaitRecords(undefined);
    const first = await store.replace(catalog(1));
    await store.refuse(first, 'n2 lacks it');
    assert.deepEqual(store.outcome(first), { refused: 'n2 lacks it' });
    assert.deepEqual([store.current(), store.proposal()], [undefined, undefined]);
    assert.deepEqual(await generationsOf(dataDir), []);
    const second = await store.replace(catalog(2));
    await store.adopt(second);
    assert.deepEqual(titles(store), ['Event 2']);
  }));

test('a joining node proposes its catalog when no record names one', () =>
  stored(async (store) => {
    await store.replace(catalog(1));
    store.awaitRecords(undefined);
    assert.deepEqual([store.proposal()?.generation, titles(store)], [1, ['Event 1']]);
    await store.adopt(1);
    assert.deepEqual([store.outcome(1), titles(store)], ['in use', ['Event 1']]);
    store.awaitRecords(store.digest());
    assert.equal(store.proposal(), undefined);
  }));

test('a start refuses an earlier proposal, and adopts it when its record exists', () =>
  stored(async (store) => {
    store.awaitRecords(undefined);
    const first = await store.replace(catalog(1));
    const { digest } = store.proposal()!;
    store.awaitRecords('another');
    assert.match(JSON.stringify(store.outcome(first)), /started again/);
    assert.equal(store.find(digest), first, 'its record may still come');
    store.awaitRecords(digest);
    assert.deepEqual([store.current(), titles(store)], [first, ['Event 1']]);
  }));

test('a catalog generation without a cluster is in use once it is written, also in a former cluster', () =>
  stored(async (store, dataDir) => {
    await store.replace(catalog(1));
    store.awaitNone(undefined);
    assert(!store.isAwaiting());
    store.awaitRecords(store.digest());
    const second = await store.replace(catalog(2));
    const { digest } = store.proposal()!;
    store.awaitNone(digest);
    assert.deepEqual([store.isAwaiting(), store.current()], [false, second]);
    const third = await store.replace(catalog(3));
    assert.deepEqual([store.current(), store.outcome(third)], [third, 'in use']);
    assert.deepEqual(await generationsOf(dataDir), [third]);
  }));

test('received content has the digest of the sender, and is not in use', async () => {
  const { bytes, digest } = await contentOf(catalog(1, 2, 3));
  await seeded(async (random) => {
    await stored(async (store) => {
      store.awaitRecords(undefined);
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        const length = random.between(1, 200);
        pieces.push(bytes.subarray(at, at + length));
        at += length;
      }
      await store.receive(once(...pieces), digest, NO_SNAPSHOT);
      assert.equal(store.current(), undefined);
      await store.adopt(store.find(digest)!);
      assert.equal(store.digest(), digest);
      assert.deepEqual(titles(store), ['Event 1', 'Event 2', 'Event 3']);
      assert.deepEqual(Buffer.concat([...store.content()]), bytes, 'it goes on as it came');
    });
  });
});

test('damaged content is refused at any byte, and leaves nothing', async () => {
  const { bytes, digest } = await contentOf(catalog(1, 2));
  await seeded((random) =>
    stored(async (store, dataDir) => {
      store.awaitRecords(undefined);
      for (let i = 0; i < 40; i++) {
        const damaged = Buffer.from(bytes);
        const at = random.between(0, damaged.length - 1);
        damaged[at]! ^= 1 << random.between(0, 7);
        await assert.rejects(store.receive(once(damaged), digest, NO_SNAPSHOT), `byte ${at}`);
      }
      const cut = bytes.subarray(0, random.between(0, bytes.length - 1));
      await assert.rejects(store.receive(once(cut), digest, NO_SNAPSHOT), /ends too early/);
      const long = Buffer.concat([bytes, Buffer.alloc(1)]);
      await assert.rejects(store.receive(once(long), digest, NO_SNAPSHOT), /longer than it said/);
      assert.equal(store.find(digest), undefined);
      assert.deepEqual(await generationsOf(dataDir), []);
    }),
  );
});

test('the two newest received catalog generations wait, older ones are removed', async () => {
  const contents = await Promise.all([1, 2, 3].map((id) => contentOf(catalog(id))));
  await stored(async (store, dataDir) => {
    store.awaitRecords(undefined);
    for (const { bytes, digest } of contents) {
      await store.receive(once(bytes), digest, NO_SNAPSHOT);
    }
    const found = contents.map(({ digest }) => store.find(digest));
    assert.deepEqual(found, [undefined, 2, 3]);
    await store.adopt(2);
    assert.equal(store.find(contents[2]!.digest), 3, 'its record comes next');
    assert.deepEqual(await generationsOf(dataDir), [2, 3]);
  });
});
