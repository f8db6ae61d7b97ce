/**
 * The child process for the throughput part of the catalog suite: the product's catalog routes on
 * one port and, in the same event loop, a bare handler on another.
 *
 * Thread: the child's I/O thread. Non-goals: anything else of a node.
 */

import { openCatalogGeneration } from '../../server/catalog/catalog-generation.ts';
import { CATALOG_ROUTES, CatalogHandlers } from '../../server/catalog/catalog-routes.ts';
import { SAMPLING_ROUTES } from '../../server/catalog/sampling-routes.ts';
import { listen } from '../../server/http/http.ts';
import { handlersOf } from '../../server/http/route.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import {
  type BareCase,
  type BarePorts,
  cpuUs,
  fetchOne,
  listenBare,
  makeReady,
} from '../common/bare.ts';
import { answerQuestions } from '../common/child.ts';

async function openPorts(dataDir: string): Promise<BarePorts> {
  const durability = 'committed';
  const store = openCatalog(dataDir, { durability, readOnly: true });
  const number = store.current();
  await store.close();
  const generation = await openCatalogGeneration({
    dataDir,
    durability,
    number,
    onFailure: (error) => {
      throw error;
    },
  });
  // The index is built after the first answers; the measurement starts when it is ready.
  await generation.search('ready');
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const options = { host: '127.0.0.1', port: 0, trustProxy: 0, log };
  const catalog = new CatalogHandlers({ generation: () => generation });
  const handlers = {
    ...handlersOf(CATALOG_ROUTES, catalog),
    ...handlersOf(SAMPLING_ROUTES, catalog.answers),
  };
  const routes = Object.entries(handlers).map(([key, handler]) => ({
    ...handler,
    method: 'GET' as const,
    path: key.slice('GET '.length),
    bodyBytesMax: 0,
  }));
  const server = await listen(routes, options);
  return { product: server.port, bare: await listenBare() };
}

let ports: BarePorts | undefined;

answerQuestions({
  open: async (dataDir: string) => {
    ports = await openPorts(dataDir);
    return ports;
  },
  ready: (wanted: BareCase) => makeReady(ports!.product, wanted),
  /** The etag of the lists of markets. */
  etag: async () => {
    const { incoming } = await fetchOne(ports!.product, { target: '/markets?limit=1' }, {});
    return incoming.headers.etag;
  },
  cpu: cpuUs,
});
