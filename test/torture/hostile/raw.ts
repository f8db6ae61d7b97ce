/**
 * Connections of the attackers: raw bytes, written as fast as they are taken, and answers that are
 * only counted. An HTTP library would not send these requests.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from './attack.ts';

const STATUS = /HTTP\/1\.1 (\d{3})/g;
/** Pause before a refusing peer is tried again. */
const AGAIN_MS = 20;
const SLICE_MS = 50;
const ANSWER_MS = 5_000;

/** A connection, or `undefined`; answers are counted by status. */
export async function open(
  target: Target,
  { address = target.address, port = target.port } = {},
): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('close', () => target.answered('closed'));
  const isOpen = await Promise.race([
    once(socket, 'connect').then(
      () => true,
      () => false,
    ),
    sleep(ANSWER_MS, false, { ref: false }),
  ]);
  if (isOpen) return socket;
  socket.destroy();
  await sleep(AGAIN_MS);
  return undefined;
}

export function countStatuses(target: Target, socket: Socket): void {
  socket.on('data', (chunk: Buffer) => {
    for (const [, status] of chunk.toString('latin1').matchAll(STATUS)) target.answered(status!);
  });
}

/** Writes one text repeatedly on one connection, and opens another one when it is closed. */
export async function flood(
  target: Target,
  bytes: Buffer,
  requests: number,
  prepare: (socket: Socket) => void | Promise<void> = (socket) => countStatuses(target, socket),
  port = target.port,
): Promise<void> {
  while (target.goesOn) {
    const socket = await open(target, { port });
    if (socket === undefined) continue;
    await prepare(socket);
    while (target.goesOn && !socket.destroyed) {
      target.did += requests;
      const isTaken = socket.write(bytes);
      // A look at what came, and at the time, is due in any case.
      if (isTaken) await sleep(0);
      else await Promise.race([once(socket, 'drain').catch(() => undefined), sleep(SLICE_MS)]);
    }
    socket.destroy();
  }
}

export function repeated(text: string, times: number): Buffer {
  return Buffer.from(text.repeat(times), 'latin1');
}

export function plain(method: string, path: string, headers = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: node\r\n${headers}\r\n`;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Keeps requests on connections from the attacker's address. */
export function agentOf({ address }: Target): Agent {
  return new Agent({ keepAlive: true, localAddress: address });
}

/** Sends one request on one of Node's own connections; returns the status, 0 without an answer. */
export function ask(
  target: Target,
  { body = '', headers = {}, method, path }: Asked,
  port = target.port,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    const bytes = Buffer.from(body);
    const all = { Host: 'localhost', ...headers, 'Content-Length': bytes.length };
    const place = { host: '127.0.0.1', port, localAddress: target.address };
    const options = { ...place, method, path, headers: all, timeout: ANSWER_MS };
    const tell = (status: number, text = ''): void => {
      target.answered(String(status));
      resolve({ status, text });
    };
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', () => tell(0));
      incoming.on('end', () => tell(incoming.statusCode ?? 0, Buffer.concat(chunks).toString()));
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => tell(0));
    target.did += 1;
    outgoing.end(bytes);
  });
}

/** Sends requests in `lines` loops, at most so many a second together, until the time is up. */
export async function askOn(
  target: Target,
  next: (count: number) => Asked | Promise<Asked>,
  { lines = 8, perSecond = Number.POSITIVE_INFINITY, port = target.port } = {},
): Promise<void> {
  const startedAt = performance.now();
  let count = 0;
  const line = async (): Promise<void> => {
    while (target.goesOn) {
      const mine = count++;
      const early = startedAt + (1_000 * mine) / perSecond - performance.now();
      if (early > 0) await sleep(Math.min(early, target.msLeft));
      if (target.goesOn) await ask(target, await next(mine), port);
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
}

/** Opens so many connections, some at once, and holds those that stay. */
export async function hold(
  target: Target,
  count: number,
  use: (socket: Socket) => void,
): Promise<readonly Socket[]> {
  const AT_ONCE = 50;
  const sockets: Socket[] = [];
  for (let tried = 0; tried < count && target.goesOn; tried += AT_ONCE) {
    const batch = await Promise.all(Array.from({ length: AT_ONCE }, () => open(target)));
    for (const socket of batch) {
      if (socket === undefined) continue;
      target.did += 1;
      sockets.push(socket);
      use(socket);
    }
  }
  return sockets;
}

export async function waited(target: Target, sockets: readonly Socket[]): Promise<void> {
  await sleep(target.msLeft);
  for (const socket of sockets) socket.destroy();
}

/** Does something to each socket now and then, until the attack is over. */
export async function drip(
  target: Target,
  sockets: readonly Socket[],
  everyMs: number,
  bytes: string | Buffer,
): Promise<void> {
  while (target.goesOn) {
    for (const socket of sockets) if (!socket.destroyed) socket.write(bytes);
    await sleep(Math.min(everyMs, target.msLeft));
  }
  for (const socket of sockets) socket.destroy();
}
