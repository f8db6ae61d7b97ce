import assert from 'node:assert/strict';
import test from 'node:test';
import { Announcements } from '../../server/cluster/announced.ts';
import { sendContent } from '../../server/cluster/catalog-send.ts';
import { CatalogShare } from '../../server/cluster/catalog-share.ts';
import { PeerCall } from '../../server/cluster/peers/calls.ts';
import { addressOf, PeerConnection } from '../../server/cluster/peers/peer-connection.ts';
import { PeerServer } from '../../server/cluster/peers/peer-server.ts';
import { type CatalogStore, openCatalog } from '../../storage/catalog/catalog.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { catalogFile, temporaryDirectory, until } from '../common/node-harness.ts';

const SECRETS = { current: 's'.repeat(32), previous: '' };
const WAIT_MS = 60_000;
/** More bytes than the buffers of sockets hold. */
const LONG_BYTES = 24 * 2 ** 20;
const never = new AbortController().signal;

class Place {
  readonly dataDir = temporaryDirectory();
  readonly store: CatalogStore;
  readonly share: CatalogShare;
  readonly server: PeerServer;
  readonly lines: string[] = [];
  peers = '';

  constructor(node: string, announced: ReadonlyMap<string, Place>, leader: string) {
    const { dataDir } = this;
    this.store = openCatalog(dataDir, { durability: 'committed' });
    this.store.awaitRecords(undefined);
    const print = (_: string, line: string): void => void this.lines.push(line);
    this.server = new PeerServer({ secrets: SECRETS, host: '127.0.0.1', port: 0, print });
    const nodes = async () =>
      new Map(
        [...announced].map(([name, { peers }]) => [
          name,
          Buffer.from(JSON.stringify({ advertise: 'http://n', peers, mayLead: true, key: '' })),
        ]),
      );
    this.share = new CatalogShare({
      node,
      secrets: SECRETS,
      dataDir,
      durability: 'committed',
      store: this.store,
      print,
      announcements: new Announcements({ nodes }, 'test', print),
      peers: () => this.peers,
      leads: () => node === leader,
      leader: () => leader,
    });
    this.share.serve(this.server);
  }

  async listen(): Promise<void> {
    this.peers = `peers://127.0.0.1:${await this.server.listen()}`;
  }

  async close(): Promise<void> {
    await this.share.close();
    await this.server.close();
    await this.store.close();
  }
}

async function shared(
  names: readonly string[],
  body: (places: readonly Place[], announced: Map<string, Place>) => Promise<void>,
): Promise<void> {
  const announced = new Map<string, Place>();
  for (const name of names) announced.set(name, new Place(name, announced, names[0]!));
  const places = [...announced.values()];
  await Promise.all(places.map((place) => place.listen()));
  try {
    await body(places, announced);
  } finally {
    await Promise.all(places.map((place) => place.close()));
  }
}

async function proposed({ store }: Place, bytes = 10): Promise<string> {
  const metadata = { text: 'x'.repeat(bytes) };
  const read = readCatalog(catalogFile([{ id: 1, metadata }, { id: 2 }]));
  assert(read.ok);
  await store.replace(read.catalog);
  return store.proposal()!.digest;
}

test('offered content is fetched, prepared and stored, but not in use, and a node that has it answers at once', () =>
  shared(['n0', 'n1', 'n2'], async ([n0, n1, n2]) => {
    const digest = await proposed(n0!, LONG_BYTES);
    await n0!.share.spread(n0!.store.proposal()!, never);
    await until(() => [n1!, n2!].every(({ store }) => store.find(digest) !== undefined), WAIT_MS);
    for (const { store } of [n1!, n2!]) {
      assert.equal(store.current(), undefined);
      await store.adopt(store.find(digest)!);
      assert.equal(store.digest(), digest);
      assert(Array.isArray(store.snapshot('ready-8')), 'what is served is prepared');
    }
    await n0!.share.spread(n0!.store.proposal()!, never);
    const fetched = n1!.lines.filter((line) => line.includes('is here'));
    assert.equal(fetched.length, 1);
  }));

test('content with another digest than offered is refused, and the error of the leader says so', () =>
  shared(['n0', 'n1'], async ([n0, n1]) => {
    await proposed(n0!);
    const other = 'f'.repeat(64);
    const content = Buffer.concat([...n0!.store.content()]);
    n0!.server.answer(PeerCall.catalogContent, () =>
      (async function* () {
        yield content;
      })(),
    );
    const connection = new PeerConnection(addressOf(n1!.peers), SECRETS, 'n0');
    const offer = { node: 'n0', peers: n0!.peers, digest: other, generation: 1, bytes: 1 };
    await assert.rejects(
      connection.call(PeerCall.catalogOffer, Buffer.from(JSON.stringify(offer))),
      /its digest is|ends too early/,
    );
    connection.close();
    assert.equal(n1!.store.find(other), undefined);
  }));

test('a node without the catalog in use gets it from any node that has it', () =>
  shared(['n0', 'n1', 'n2'], async ([n0, n1, n2], announced) => {
    const digest = await proposed(n1!);
    // Nobody answers there.
    announced.set('gone', { peers: 'peers://127.0.0.1:1' } as Place);
    await until(() => {
      n2!.share.fetch(digest);
      return n2!.store.find(digest) !== undefined;
    }, WAIT_MS);
    assert.equal(n0!.store.find(digest), undefined);
    assert(n2!.lines.some((line) => line.includes('is not here: asking other nodes')));
  }));

test('a reader that pauses delays nobody, and gets all content in the end', () =>
  shared(['n0', 'n1'], async ([n0, n1]) => {
    const digest = await proposed(n0!, LONG_BYTES);
    const connection = new PeerConnection(addressOf(n0!.peers), SECRETS, 'n9');
    const slow = connection.stream(PeerCall.catalogContent, Buffer.from(digest));
    const first = await slow.next();
    assert.equal(first.done, false);
    await n0!.share.spread(n0!.store.proposal()!, never);
    await until(() => n1!.store.find(digest) !== undefined, WAIT_MS);
    let bytes = (first.value as Buffer).length;
    for await (const piece of slow) bytes += piece.length;
    assert(bytes > LONG_BYTES, 'the slow one gets all of it');
    connection.close();
  }));

test('a reader that disconnects leaves nothing behind, no timer either', () =>
  shared(['n0'], async ([n0]) => {
    const generation = n0!.store.find(await proposed(n0!, LONG_BYTES))!;
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const content = sendContent({ dataDir: n0!.dataDir, durability: 'committed', generation });
    assert.equal((await content.next()).done, false);
    // No other timer can end meanwhile: it ends within this turn.
    const before = timers();
    await content.return();
    assert.equal(timers(), before - 1);
  }));

test('only a valid digest is accepted', () =>
  shared(['n0'], async ([n0]) => {
    const connection = new PeerConnection(addressOf(n0!.peers), SECRETS, 'n9');
    const stream = connection.stream(PeerCall.catalogContent, Buffer.from('1'));
    await assert.rejects(stream.next(), /that is no digest/);
    const missing = connection.stream(PeerCall.catalogContent, Buffer.from('0'.repeat(64)));
    await assert.rejects(missing.next(), /it does not have it/);
    connection.close();
  }));
