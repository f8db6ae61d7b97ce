/**
 * A server and raw clients for the tests of the HTTP server. They send unchanged what an HTTP
 * library would repair: cut bodies, pipelining, sudden ends.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type HttpOptions, type HttpServer, listen, type Route } from '../../server/http/http.ts';
import type { SocketRoute } from '../../server/http/sockets.ts';

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A raw client: writes given bytes, reads one answer at a time. */
export class Client {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  private pending = Buffer.alloc(0);
  private arrived: Buffer[] = [];
  private arrivedBytes = 0;
  private wanted = 0;
  private wake: () => void = () => undefined;

  constructor(port: number, from = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from });
    this.socket.on('data', (data) => {
      this.arrived.push(data);
      this.arrivedBytes += data.length;
      if (this.arrivedBytes >= this.wanted) this.wake();
    });
    this.socket.on('error', () => undefined); // a reset is an end like another
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        this.wake();
        resolve();
      });
    });
  }

  send(...parts: (string | Buffer)[]): this {
    for (const part of parts) this.socket.write(part);
    return this;
  }

  async answer(): Promise<Answer> {
    let end = this.pending.indexOf('\r\n\r\n');
    while (end < 0) {
      await this.more(1);
      end = this.pending.indexOf('\r\n\r\n');
    }
    const head = this.take(end + 4).toString('latin1');
    const [first = '', ...lines] = head.trimEnd().split('\r\n');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const isChunked = headers.get('transfer-encoding') === 'chunked';
    const length = isChunked ? await this.chunkBytes() : Number(headers.get('content-length') ?? 0);
    await this.more(length - this.pending.length);
    const body = this.take(length);
    return { status: Number(first.split(' ')[1]), headers, body };
  }

  /** Size of the first chunk: the early part of a refusal of a body. */
  private async chunkBytes(): Promise<number> {
    let end = this.pending.indexOf('\r\n');
    while (end < 0) {
      await this.more(this.pending.length + 1);
      end = this.pending.indexOf('\r\n');
    }
    return Number.parseInt(this.take(end + 2).toString('latin1'), 16);
  }

  private take(bytes: number): Buffer {
    const taken = this.pending.subarray(0, bytes);
    this.pending = this.pending.subarray(bytes);
    return taken;
  }

  /**
   * Waits for so many more bytes; they are joined once, as repeated joins of large answers are
   * quadratic.
   */
  private async more(bytes: number): Promise<void> {
    this.wanted = bytes;
    while (this.arrivedBytes < bytes) {
      assert(!this.socket.destroyed, `closed after ${JSON.stringify(String(this.pending))}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    this.pending = Buffer.concat([this.pending, ...this.arrived]);
    this.arrived = [];
    this.arrivedBytes = 0;
  }
}

export function route(partial: Partial<Route> & Pick<Route, 'run'>): Route {
  return { method: 'GET', path: '/', headers: [], bodyBytesMax: 0, ...partial };
}

export interface Fixture {
  readonly server: HttpServer;
  readonly log: string[];
  client(from?: string): Client;
  /** Sends a request without a body on a new connection. */
  ask(request: string): Promise<Answer>;
}

export async function serve(
  context: TestContext,
  routes: readonly Route[],
  options: Partial<HttpOptions> = {},
  sockets: readonly SocketRoute[] = [],
): Promise<Fixture> {
  const log: string[] = [];
  const base = { host: '127.0.0.1', port: 0, trustProxy: 0, log: (line: string) => log.push(line) };
  const server = await listen(routes, { ...base, ...options }, sockets);
  const clients: Client[] = [];
  const client = (from?: string) => {
    const opened = new Client(server.port, from);
    clients.push(opened);
    return opened;
  };
  context.after(async () => {
    for (const opened of clients) opened.socket.destroy();
    await server.close();
  });
  const ask = (request: string) => client().send(`${request}\r\nHost: node\r\n\r\n`).answer();
  return { server, log, client, ask };
}

export const post = (length: number) =>
  `POST / HTTP/1.1\r\nHost: node\r\nContent-Length: ${length}\r\n\r\n`;
export const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: node\r\n\r\n`;
export function gate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}
