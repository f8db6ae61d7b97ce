/**
 * The catalog in a cluster: its content is sent from node to node, and is in use where a record of the log names its
 * digest.
 *
 * Thread: the I/O thread; content is read and written in threads.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogStore } from '../../storage/catalog/catalog.ts';
import type { Proposal } from '../../storage/catalog/catalog-state.ts';
import type { Durability } from '../../storage/kv/lmdb.ts';
import type { CatalogCluster } from '../catalog/catalog-service.ts';
import type { Log } from '../common/logger.ts';
import type { Announcements } from './announced.ts';
import type { CatalogJob } from './catalog-job-thread.ts';
import { runCatalogJob } from './catalog-jobs.ts';
import { sendContent } from './catalog-send.ts';
import { type OtherNode, spread } from './catalog-spread.ts';
import { PeerCall } from './peers/calls.ts';
import { addressOf, PeerConnection } from './peers/peer-connection.ts';
import type { PeerServer } from './peers/peer-server.ts';
import type { PeerSecrets } from './peers/secure.ts';

export interface CatalogShareOptions {
  readonly node: string;
  readonly secrets: PeerSecrets;
  readonly dataDir: string;
  readonly durability: Durability;
  readonly store: Pick<CatalogStore, 'find'>;
  readonly announcements: Announcements;
  readonly peers: () => string;
  readonly leads: () => boolean;
  readonly leader: () => string | undefined;
  readonly print: Log;
}

interface Offer {
  readonly node: string;
  readonly peers: string;
  readonly digest: string;
  /** Its number at that node. */
  readonly generation: number;
  readonly bytes: number;
}

const LIST_MS = 2_000;
/** Pause between two rounds of requests for content to all nodes. */
const REST_MS = 1_000;
const ROUNDS_A_LINE = 30;
const DIGEST = /^[0-9a-f]{64}$/;

export class CatalogShare implements CatalogCluster {
  private readonly options: CatalogShareOptions;
  private readonly closing = new AbortController();
  private readonly offers = new Set<PeerConnection>();
  private receiving: { readonly digest: string; readonly done: Promise<void> } | undefined;
  private searching: Promise<void> | undefined;
  private rounds = 0;

  constructor(options: CatalogShareOptions) {
    this.options = options;
  }

  serve(server: Pick<PeerServer, 'answer'>): void {
    const { dataDir, durability, store } = this.options;
    server.answer(PeerCall.catalogOffer, (request) => this.take(request));
    server.answer(PeerCall.catalogContent, (request) => {
      const generation = store.find(digestOf(request.toString()));
      if (generation === undefined) return Promise.reject(new Error('it does not have it'));
      return sendContent({ dataDir, durability, generation });
    });
  }

  spread(proposal: Proposal, signal: AbortSignal): Promise<void> {
    const { bytes, digest, generation } = proposal;
    const { leads, node, peers } = this.options;
    const offer: Offer = { node, peers: peers(), digest, generation, bytes };
    return spread({
      node,
      nodes: () => this.others(),
      offer: (other) => this.offer(other, Buffer.from(JSON.stringify(offer))),
      goesOn: leads,
      signal,
    });
  }

  fetch(digest: string): void {
    this.searching ??= this.search(digest).finally(() => {
      this.searching = undefined;
    });
  }

  adopt(generation: number): Promise<void> {
    return this.run({ kind: 'adopt', generation });
  }

  refuse(generation: number, why: string): Promise<void> {
    return this.run({ kind: 'refuse', generation, why });
  }

  otherLeader(): string | undefined {
    const leader = this.options.leader();
    return leader === this.options.node ? undefined : leader;
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the node ends'));
    for (const connection of this.offers) connection.close();
    await this.searching;
    await this.receiving?.done.catch(() => undefined);
  }

  private run(job: CatalogJob, signal?: AbortSignal): Promise<void> {
    const { dataDir, durability } = this.options;
    return runCatalogJob({ dataDir, durability, job }, signal);
  }

  private others(): Promise<ReadonlyMap<string, OtherNode>> {
    return this.options.announcements.all(LIST_MS);
  }

  private async offer(peers: string, offer: Buffer): Promise<void> {
    const { node, secrets } = this.options;
    this.closing.signal.throwIfAborted();
    const connection = new PeerConnection(addressOf(peers), secrets, node);
    this.offers.add(connection);
    try {
      await connection.call(PeerCall.catalogOffer, offer);
    } finally {
      this.offers.delete(connection);
      connection.close();
    }
  }

  /** Answers an offer once the content is here. */
  private async take(request: Buffer): Promise<Uint8Array> {
    const { bytes, digest, generation, node, peers } = JSON.parse(request.toString()) as Offer;
    const { print, store } = this.options;
    if (store.find(digestOf(digest)) === undefined) {
      print('info', `node ${node} offers catalog generation ${generation}: ${bytes} bytes`);
      await this.receive(digest, peers);
    }
    return Buffer.alloc(0);
  }

  /** Receives one generation at a time. A request for one that is on its way waits for it. */
  private async receive(digest: string, peers: string): Promise<void> {
    const { node, print, secrets, store } = this.options;
    while (this.receiving !== undefined) {
      if (this.receiving.digest === digest) return this.receiving.done;
      await this.receiving.done.catch(() => undefined);
    }
    if (store.find(digest) !== undefined) return undefined;
    const peer = addressOf(peers);
    const done = this.run({ kind: 'fetch', digest, peer, secrets, node }, this.closing.signal);
    this.receiving = { digest, done };
    try {
      await done;
      print('info', `the catalog with digest ${digest} is here, of ${peers}`);
    } catch (error) {
      print('warn', `the catalog with digest ${digest} of ${peers}: ${(error as Error).message}`);
      throw error;
    } finally {
      this.receiving = undefined;
    }
  }

  /** Requests the content from every node once. */
  private async search(digest: string): Promise<void> {
    const { node, print } = this.options;
    const { signal } = this.closing;
    const round = this.rounds;
    this.rounds += 1;
    try {
      if (round % ROUNDS_A_LINE === 0) {
        print('warn', `the catalog in use, of digest ${digest}, is not here: asking other nodes`);
      }
      for (const [other, { peers }] of await this.others()) {
        if (other === node) continue;
        const isHere = await this.receive(digest, peers).then(
          () => true,
          () => false,
        );
        signal.throwIfAborted();
        if (!isHere) continue;
        this.rounds = 0;
        return;
      }
    } catch {
      // The next round tries again.
    }
    await sleep(REST_MS, undefined, { signal }).catch(() => undefined);
  }
}

function digestOf(text: string): string {
  if (!DIGEST.test(text)) throw new Error('that is no digest');
  return text;
}
