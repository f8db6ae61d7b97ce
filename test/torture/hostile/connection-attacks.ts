/** Attacks by connections, and by parts of a request before its body is read. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Target } from './attack.ts';
import { askOn, countStatuses, drip, flood, hold, open, plain, repeated, waited } from './raw.ts';

const PIPELINED = 2_000;
const LINES = 64;
const DEEP = 64;
const IDLE = 9_000;
const SLOW = 300;
const BODIES = 150;
const AGAIN_MS = 1_000;
const UNREAD = 50;
const STORM_LINES = 50;
const KIB = 1_024;

const pipelined = (path: string, does: string): Attack => ({
  does,
  bound: 'requests of one connection',
  run: (target) => flood(target, repeated(plain('GET', path), PIPELINED), PIPELINED),
});

/** Holds more bodies per address than a caller may have in flight, all but the last byte. */
async function holdBodies(target: Target, addresses: readonly string[]): Promise<void> {
  const head = plain('POST', '/books', `Content-Length: ${KIB * KIB}\r\n`);
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(KIB * KIB - 1, ' ')]);
  const line = async (address: string): Promise<void> => {
    while (target.goesOn) {
      const socket = await open(target, { address });
      if (socket === undefined) continue;
      target.did += 1;
      countStatuses(target, socket);
      const over = once(socket, 'close').catch(() => undefined);
      socket.write(bytes);
      await Promise.race([over, sleep(target.msLeft)]);
      socket.destroy();
      // What is held is attacked here, not the bytes that a network carries.
      await sleep(Math.min(AGAIN_MS, target.msLeft));
    }
  };
  const lines = addresses.flatMap((address) => new Array<string>(BODIES).fill(address));
  await Promise.all(lines.map(line));
}

export const CONNECTION_ATTACKS = {
  'pipelined-ok': {
    ...pipelined('/ok', 'GET /ok without waiting for answers, on one connection'),
    isShort: true,
  },
  'pipelined-404': pipelined(
    '/nothing',
    'the same on a path that there is not, which no limit counts',
  ),
  'pipelined-429': pipelined('/', 'the same on the route with the smallest cap, which answers 429'),
  'pipelined-many': {
    does: 'GET /time 64 deep on each of 64 connections',
    bound: 'requests of one connection',
    async run(target) {
      const bytes = repeated(plain('GET', '/time'), DEEP);
      await Promise.all(Array.from({ length: LINES }, () => flood(target, bytes, DEEP)));
    },
  },
  'pipelined-head': {
    does: 'HEAD and OPTIONS without waiting for answers',
    bound: 'requests of one connection',
    run: (target) => {
      const both =
        plain('HEAD', '/ok') + plain('OPTIONS', '/orders', 'Origin: http://evil.example\r\n');
      return flood(target, repeated(both, PIPELINED / 2), PIPELINED);
    },
  },
  reconnects: {
    does: 'a new connection for each request, as fast as they open',
    bound: 'connections of one address',
    async run(target) {
      const line = async (): Promise<void> => {
        while (target.goesOn) {
          const socket = await open(target);
          if (socket === undefined) continue;
          target.did += 1;
          countStatuses(target, socket);
          socket.write(plain('GET', '/ok'));
          await Promise.race([new Promise((resolve) => socket.once('data', resolve)), sleep(500)]);
          socket.destroy();
        }
      };
      await Promise.all(Array.from({ length: STORM_LINES }, line));
    },
  },
  'idle-connections': {
    does: 'more connections than the node has descriptors for, on which nothing is sent',
    bound: 'connections of one address',
    isShort: true,
    async run(target) {
      await waited(target, await hold(target, IDLE, (socket) => countStatuses(target, socket)));
    },
  },
  'slow-heads': {
    does: 'requests of which a byte comes each second, and never the end',
    bound: 'time to send a request',
    async run(target) {
      const begin = 'GET /ok HTTP/1.1\r\nHost: node\r\nX-Slow: ';
      const sockets = await hold(target, SLOW, (socket) => {
        countStatuses(target, socket);
        socket.write(begin);
      });
      await drip(target, sockets, 1_000, 'a');
    },
  },
  'slow-bodies': {
    does: 'bodies of a mebibyte of which a byte comes each second',
    bound: 'time to send a request',
    async run(target) {
      const sockets = await hold(target, SLOW, (socket) => {
        countStatuses(target, socket);
        socket.write(plain('POST', '/books', 'Content-Length: 1048576\r\n'));
      });
      await drip(target, sockets, 1_000, ' ');
    },
  },
  'held-bodies': {
    does: 'bodies of a mebibyte less a byte, on 150 connections at once, sent anew when they are ended',
    bound: 'bytes of bodies on their way',
    run: (target) => holdBodies(target, [target.address]),
  },
  'held-bodies-of-many': {
    does: 'the same from five addresses, which together may have more than all callers',
    bound: 'bytes of bodies on their way',
    run: (target) =>
      holdBodies(
        target,
        [2, 3, 4, 5, 6].map((part) => target.address.replace('127.0.1.', `127.0.${part}.`)),
      ),
  },
  'unread-answers': {
    does: 'the largest lists, asked for again and again by who never reads an answer',
    bound: 'answers that are not read',
    async run(target) {
      const lists = ['/trades?limit=10000', '/events/keyset?limit=500', '/markets?limit=500'];
      const bytes = lists.map((path) => plain('GET', path)).join('');
      const sockets = await hold(target, UNREAD, (socket) => {
        socket.pause();
        socket.write(bytes);
      });
      await drip(target, sockets, 100, bytes);
    },
  },
  'odd-heads': {
    does: 'a hundred headers, 15 KB of one, long addresses, hundreds of parameters, broken escapes',
    bound: 'headers of a request',
    async run(target) {
      const many = Array.from({ length: 98 }, (_, i) => `X-Header-${i}: ${i}\r\n`).join('');
      const forwarded = `X-Forwarded-For: ${'10.0.0.1, '.repeat(1_300)}10.0.0.2\r\n`;
      const fields = Array.from({ length: 600 }, (_, i) => `tag_id=${i}`).join('&');
      const heads = [
        plain('GET', '/ok', many),
        plain('GET', '/ok', `X-Long: ${'a'.repeat(15 * KIB)}\r\n`),
        plain('GET', '/time', forwarded),
        plain('GET', `/${'a/'.repeat(6 * KIB)}`),
        plain('GET', `/book?token_id=${'%'.repeat(12 * KIB)}`),
        plain('GET', `/markets?${fields}`),
        plain('GET', `/events?${'&=%ff'.repeat(2_500)}`),
      ];
      // Each on a connection of its own: one that is refused closes it.
      const TIMES = 20;
      await Promise.all(heads.map((head) => flood(target, repeated(head, TIMES), TIMES)));
    },
  },
  'etags-and-codings': {
    does: 'conditional requests with thousands of tags, and every preference of an encoding',
    bound: 'headers of a request',
    async run(target) {
      const tags = Array.from({ length: 1_200 }, (_, i) => `"${i}-tag"`).join(', ');
      const codings = Array.from({ length: 900 }, (_, i) => `x${i};q=0.${i % 10}`).join(', ');
      await askOn(
        target,
        (i) => ({
          method: 'GET',
          path: i % 3 === 0 ? '/openapi.json' : '/events?limit=500',
          headers:
            i % 2 === 0 ? { 'If-None-Match': tags } : { 'Accept-Encoding': `${codings}, br` },
        }),
        { lines: 16 },
      );
    },
  },
} as const satisfies Readonly<Record<string, Attack>>;
