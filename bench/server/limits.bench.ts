/**
 * Cost of rate limits for a request: the time that a small answer keeps the I/O thread in its handler, for
 * a bare handler of the HTTP library, and for the HTTP server without limits, with them, and with them
 * while callers of two addresses are connected. The system calls around it, most of what a request
 * costs, are left out: they are the same, and drown a hundred nanoseconds.
 *
 * Thread: the suite's only one. Non-goals: throughput (the suite catalog).
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { listen, type RequestContext, type Route } from '../../server/http/http.ts';
import { RateLimiter } from '../../server/http/limits/rate-limiter.ts';
import { loadUws, type us_listen_socket } from '../../server/http/uws.ts';
import { median } from '../common/figures.ts';

export interface LimitsFigure {
  readonly name: string;
  /** Median over the requests. */
  readonly nsPerRequest: number;
}

const BODY = Buffer.from('{"price":"0.5"}');
const PATH = '/price';
const REQUEST = `GET ${PATH} HTTP/1.1\r\nHost: node\r\n\r\n`;
const PIPELINED = 50;
const CASES = [
  'bare handler',
  'without limits',
  'with limits',
  'with limits, two addresses connected',
] as const;

/** Caps that no block reaches, in numbers of as many digits as those of the table. */
const CAPS = {
  price: { requests: 9_000, seconds: 0.001 },
  trading: { requests: 9_000, seconds: 0.001 },
};

/** @param requests of one block, a multiple of PIPELINED at best */
export async function limitsSuite(requests: number, blocks: number): Promise<LimitsFigure[]> {
  const uws = loadUws();
  const plainApp = uws.App;
  const timed = new Timed();
  uws.App = () => timed.wrap(plainApp());
  const base = { host: '127.0.0.1', port: 0, trustProxy: 0, log: () => undefined };
  const run = (context: RequestContext): void => context.reply(200, BODY);
  const limits = ['price', 'trading'] as const;
  const route: Route = { method: 'GET', path: PATH, headers: [], bodyBytesMax: 0, limits, run };
  const limited = () =>
    listen([route], { ...base, limiter: new RateLimiter({ caps: CAPS, seed: 1 }) });
  const servers = [
    await listenBare(),
    await listen([route], base),
    await limited(),
    await limited(),
  ];
  uws.App = plainApp;
  // As long as it is connected, addresses are looked up one by one.
  const other = connect({ port: servers[3]!.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  await once(other, 'connect');
  const clients = await Promise.all(servers.map(({ port }) => Client.open(port)));
  const samples = clients.map((): number[] => []);
  for (let block = -1; block < blocks; block += 1) {
    for (const [i, client] of clients.entries()) {
      timed.into = block < 0 ? [] : samples[i]!;
      await client.run(requests);
    }
  }
  for (const client of clients) client.close();
  other.destroy();
  for (const server of servers) await server.close();
  const figures = CASES.map((name, i) => ({ name, nsPerRequest: median(samples[i]!) }));
  for (const { name, nsPerRequest } of figures) {
    const more = nsPerRequest - figures[1]!.nsPerRequest;
    process.stdout.write(
      `${name.padEnd(44)} ${nsPerRequest.toFixed(0).padStart(7)} ns ${more.toFixed(0).padStart(7)}\n`,
    );
  }
  return figures;
}

type App = ReturnType<ReturnType<typeof loadUws>['App']>;

/** Takes the time of every handler of GET. */
class Timed {
  /** Nanoseconds of each request. */
  into: number[] = [];

  wrap(app: App): App {
    const get = app.get.bind(app);
    app.get = (path, handler) =>
      get(path, (response, request) => {
        const start = process.hrtime.bigint();
        handler(response, request);
        this.into.push(Number(process.hrtime.bigint() - start));
      });
    return app;
  }
}

/** Sends the same request again and again on one connection, and counts the bytes that come back. */
class Client {
  private readonly socket: Socket;
  private answerBytes = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  static async open(port: number): Promise<Client> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const client = new Client(socket);
    socket.write(REQUEST);
    const [first] = (await once(socket, 'data')) as [Buffer];
    client.answerBytes = first.length;
    return client;
  }

  async run(requests: number): Promise<void> {
    const text = Buffer.from(REQUEST.repeat(PIPELINED));
    for (let sent = 0; sent < requests; sent += PIPELINED) {
      this.socket.write(text);
      await this.arrived(PIPELINED * this.answerBytes);
    }
  }

  private arrived(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let left = bytes;
      const lost = (): void => reject(new Error(`the connection ended ${left} bytes early`));
      const count = (data: Buffer): void => {
        left -= data.length;
        if (left > 0) return;
        this.socket.off('data', count);
        this.socket.off('close', lost);
        resolve();
      };
      this.socket.on('data', count);
      this.socket.on('close', lost);
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

function listenBare(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const uws = loadUws();
  const app = uws.App();
  app.get(PATH, (response) => {
    response.writeHeader('Content-Type', 'application/json').end(BODY);
  });
  return new Promise((resolve, reject) => {
    const started = (socket: us_listen_socket | false): void => {
      if (socket === false) reject(new Error('no port for the bare handler'));
      else resolve({ port: uws.us_socket_local_port(socket), close: async () => void app.close() });
    };
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, started);
  });
}
