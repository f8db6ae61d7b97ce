/**
 * The child process that the throughput part of the catalog suite loads: the product's catalog routes
 * on one port and, in the same event loop, a bare uWebSockets.js handler on another that answers
 * ready bytes whatever it is asked.
 *
 * Thread: the child's I/O thread. Non-goals: anything else of a node.
 */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { catalogRoutes } from '../../server/catalog/catalog-routes.ts';
import { openGeneration } from '../../server/catalog/generation.ts';
import { listen } from '../../server/http/http.ts';
import { type HttpResponse, loadUws, type us_listen_socket } from '../../server/http/uws.ts';
import { openCatalog } from '../../storage/catalog.ts';
import { answerQuestions } from './catalog-child.ts';
import type { LoadOptions } from './http-load.ts';

export interface BarePorts {
  readonly product: number;
  readonly bare: number;
}

/** What the bare handler is to answer: what the product answers to these, or something tiny. */
export interface BareCase extends Pick<LoadOptions, 'targets' | 'headers'> {
  readonly answer: 'same' | 'tiny';
  /** The product's answer may come compressed only after a while; wait for it. */
  readonly encoding?: string;
}

export interface BareReady {
  readonly status: number;
  /** Mean bytes of the product's bodies. */
  readonly bodyBytes: number;
}

interface Ready {
  readonly status: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** Headers that uWebSockets.js or the connection add by themselves. */
const NOT_OURS = new Set(['uwebsockets', 'content-length', 'connection', 'keep-alive', 'date']);
const ENCODING_TRIES = 100;
const ENCODING_PAUSE_MS = 50;
const TINY = Buffer.from('"OK"');

let answers: readonly Ready[] = [];
let next = 0;

/** As fast as the package allows: one piece, which it keeps where a socket does not take it all. */
function answerBare(response: HttpResponse): void {
  const { status, headers, body } = answers[next]!;
  next = next + 1 === answers.length ? 0 : next + 1;
  response.writeStatus(status);
  for (const [name, value] of headers) response.writeHeader(name, value);
  if (status.startsWith('304')) response.endWithoutBody();
  else response.end(body);
}

async function openPorts(dataDir: string): Promise<BarePorts> {
  const durability = 'committed';
  const store = openCatalog(dataDir, { durability, readOnly: true });
  const number = store.current();
  await store.close();
  const generation = await openGeneration({
    dataDir,
    durability,
    number,
    onFailure: (error) => {
      throw error;
    },
  });
  // The index is built behind the first answers; nothing is measured before it is there.
  await generation.search('ready');
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const options = { host: '127.0.0.1', port: 0, trustProxy: 0, log };
  const server = await listen(catalogRoutes({ generation: () => generation }), options);
  return { product: server.port, bare: await listenBare() };
}

function listenBare(): Promise<number> {
  const uws = loadUws();
  const app = uws.App();
  app.get('/*', answerBare);
  return new Promise((resolve, reject) => {
    const started = (socket: us_listen_socket | false): void => {
      if (socket === false) reject(new Error('no port for the bare handler'));
      else resolve(uws.us_socket_local_port(socket));
    };
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, started);
  });
}

/** Takes the product's own answers as those of the bare handler, head and all. */
async function makeReady(port: number, wanted: BareCase): Promise<BareReady> {
  const taken: Ready[] = [];
  for (const target of wanted.targets) taken.push(await fetchReady(port, target, wanted));
  const statuses = new Set(taken.map(({ status }) => status));
  if (statuses.size !== 1) throw new Error(`answers of one case differ: ${[...statuses].join()}`);
  const bodyBytes = taken.reduce((sum, { body }) => sum + body.length, 0) / taken.length;
  answers = wanted.answer === 'same' ? taken : taken.map((ready) => ({ ...ready, body: TINY }));
  next = 0;
  return { status: Number.parseInt(taken[0]!.status, 10), bodyBytes };
}

async function fetchReady(port: number, target: string, wanted: BareCase): Promise<Ready> {
  for (let tries = 0; tries < ENCODING_TRIES; tries += 1) {
    const { incoming, body } = await fetchOne(port, target, wanted.headers ?? {});
    const encoding = incoming.headers['content-encoding'];
    if (encoding === wanted.encoding) {
      const { rawHeaders } = incoming;
      const headers = rawHeaders.flatMap((name, index) =>
        index % 2 === 0 && !NOT_OURS.has(name.toLowerCase())
          ? [[name, rawHeaders[index + 1]!] as const]
          : [],
      );
      return { status: `${incoming.statusCode} ${incoming.statusMessage}`, headers, body };
    }
    await pause(ENCODING_PAUSE_MS);
  }
  throw new Error(`${target} never came with content-encoding ${wanted.encoding ?? 'identity'}`);
}

async function fetchOne(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ incoming: IncomingMessage; body: Buffer }> {
  const outgoing = get({ host: '127.0.0.1', port, path, headers });
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { incoming, body: await buffer(incoming) };
}

let ports: BarePorts | undefined;

answerQuestions({
  open: async (dataDir: string) => {
    ports = await openPorts(dataDir);
    return ports;
  },
  ready: (wanted: BareCase) => makeReady(ports!.product, wanted),
  /** The etag of the lists of markets. */
  etag: async () => (await fetchOne(ports!.product, '/markets?limit=1', {})).incoming.headers.etag,
  /** Microseconds of processor time that this process has used. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
});
