/**
 * A bare uWebSockets.js handler to measure the product's HTTP routes against: it answers ready bytes
 * whatever the request is, those that the product answered to the same requests before.
 *
 * Thread: the I/O thread of the process that is measured, in whose event loop it shares.
 * Non-goals: slow readers; the package keeps what a socket does not take.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpResponse, loadUws, type us_listen_socket } from '../../server/http/uws.ts';
import type { LoadOptions, LoadRequest } from './http-load.ts';

export interface BarePorts {
  readonly product: number;
  readonly bare: number;
}

/** Answers of the bare handler: those of the product to these requests, or a tiny one. */
export interface BareCase extends Pick<LoadOptions, 'requests' | 'headers'> {
  readonly answer: 'same' | 'tiny';
  /** The bare handler waits for the body before it answers, as one that reads it has to. */
  readonly waits?: boolean;
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
let waits = false;

function takeRequest(response: HttpResponse): void {
  if (!waits) {
    answerBare(response);
    return;
  }
  response.onData((_, isLast) => {
    if (isLast) answerBare(response);
  });
  response.onAborted(() => undefined);
}

/** Answers in one piece, without reading the request. */
function answerBare(response: HttpResponse): void {
  const { status, headers, body } = answers[next]!;
  next = next + 1 === answers.length ? 0 : next + 1;
  response.writeStatus(status);
  for (const [name, value] of headers) response.writeHeader(name, value);
  if (status.startsWith('304')) response.endWithoutBody();
  else response.end(body);
}

/** Listens on 127.0.0.1; resolves with the port. */
export function listenBare(): Promise<number> {
  const uws = loadUws();
  const app = uws.App();
  app.any('/*', takeRequest);
  return new Promise((resolve, reject) => {
    const started = (socket: us_listen_socket | false): void => {
      if (socket === false) reject(new Error('no port for the bare handler'));
      else resolve(uws.us_socket_local_port(socket));
    };
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, started);
  });
}

/** Takes the answers of the product on `port` as those of the bare handler, head and all. */
export async function makeReady(port: number, wanted: BareCase): Promise<BareReady> {
  const taken: Ready[] = [];
  for (const each of wanted.requests) taken.push(await fetchReady(port, each, wanted));
  const statuses = new Set(taken.map(({ status }) => status));
  if (statuses.size !== 1) throw new Error(`answers of one case differ: ${[...statuses].join()}`);
  const bodyBytes = taken.reduce((sum, { body }) => sum + body.length, 0) / taken.length;
  answers = wanted.answer === 'same' ? taken : taken.map((ready) => ({ ...ready, body: TINY }));
  next = 0;
  waits = wanted.waits ?? false;
  return { status: Number.parseInt(taken[0]!.status, 10), bodyBytes };
}

async function fetchReady(port: number, request: LoadRequest, wanted: BareCase): Promise<Ready> {
  for (let tries = 0; tries < ENCODING_TRIES; tries += 1) {
    const { incoming, body } = await fetchOne(port, request, wanted.headers ?? {});
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
  const encoding = wanted.encoding ?? 'identity';
  throw new Error(`${request.target} never came with content-encoding ${encoding}`);
}

/** One request, in whatever encoding it is answered. */
export async function fetchOne(
  port: number,
  { target, body }: LoadRequest,
  headers: Readonly<Record<string, string>>,
): Promise<{ incoming: IncomingMessage; body: Buffer }> {
  const method = body === undefined ? 'GET' : 'POST';
  const outgoing = request({ host: '127.0.0.1', port, path: target, method, headers });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { incoming, body: await buffer(incoming) };
}

/** Microseconds of processor time that this process has used, all of its threads. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
