import type { Socket } from 'node:net';
import { Opcode } from '../../common/socket-client.ts';
import { Trader } from '../../common/traders.ts';
import type { Attack, Target } from './attack.ts';
import { floodFrames, frameOf, openStream, textFrame, upgrade } from './frames.ts';
import { agentOf, drip, hold, waited } from './raw.ts';

const CONNECTIONS = 4_200;
const NAMES = 480;
const FLOODS = 4;
const AT_ONCE = 500;
const UNREAD = 60;

const MARKET = '/ws/market';
const USER = '/ws/user';

const unknownTokens = (seed: number): readonly string[] =>
  Array.from({ length: NAMES }, (_, i) => String(10n ** 74n + BigInt(seed) * 1_000n + BigInt(i)));

const messages = (does: string, path: string, frames: (target: Target) => Buffer[]): Attack => ({
  does,
  bound: 'messages of a stream connection',
  run: (target) => floodFrames(target, path, frames(target), FLOODS),
});

export const STREAM_ATTACKS = {
  upgrades: {
    does: 'stream connections of one address until there are no more, none of which authenticates',
    bound: 'stream connections of one address',
    isShort: true,
    async run(target) {
      let path = MARKET;
      const use = (socket: Socket): void => {
        path = path === MARKET ? USER : MARKET;
        void upgrade(target, socket, path);
      };
      await waited(target, await hold(target, CONNECTIONS, use));
    },
  },
  'upgrade-storm': {
    does: 'upgrades without end: each connection is cut as soon as it is one',
    bound: 'stream connections of one address',
    async run(target) {
      const line = async (): Promise<void> => {
        while (target.goesOn) {
          const socket = await openStream(target, MARKET);
          target.did += 1;
          socket?.destroy();
        }
      };
      await Promise.all(Array.from({ length: 20 }, line));
    },
  },
  'unknown-tokens': {
    ...messages(
      'subscriptions to 480 tokens that there are not, 37 KB each',
      MARKET,
      ({ seed }) => [textFrame({ type: 'market', assets_ids: unknownTokens(seed) })],
    ),
    isShort: true,
  },
  'known-tokens': {
    ...messages('subscriptions to 480 tokens that there are, again and again', MARKET, (target) => [
      textFrame({ type: 'market', assets_ids: target.tokens.slice(0, NAMES) }),
    ]),
  },
  'on-and-off': messages('subscribing to tokens and unsubscribing, by turns', MARKET, (target) => {
    const assets_ids = target.tokens.slice(0, NAMES);
    return [
      textFrame({ operation: 'subscribe', assets_ids }),
      textFrame({ operation: 'unsubscribe', assets_ids }),
    ];
  }),
  'ping-texts': messages('PING as a text', MARKET, () =>
    Array.from({ length: AT_ONCE }, () => textFrame('PING')),
  ),
  'ping-frames': messages('pings of the protocol, 125 bytes each', MARKET, () =>
    Array.from({ length: AT_ONCE }, () => frameOf(Opcode.ping, 'a'.repeat(125))),
  ),
  'bad-messages': messages(
    'texts that are no message, each answered with what is wrong',
    MARKET,
    () => Array.from({ length: AT_ONCE }, () => textFrame('[[[[{')),
  ),
  'false-credentials': messages(
    'credentials that nobody issued, to the channel of users',
    USER,
    () => {
      const secret = Buffer.alloc(32).toString('base64');
      const auth = {
        apiKey: '00000000-0000-4000-8000-000000000000',
        secret,
        passphrase: '0'.repeat(64),
      };
      return [textFrame({ type: 'user', auth, markets: [] })];
    },
  ),
  resumes: {
    does: 'a user who asks again and again for what it has missed of 480 streams',
    bound: 'messages of a stream connection',
    async run(target) {
      const trader = await Trader.join(
        target,
        `hostile/${target.seed}/resumes`,
        undefined,
        agentOf(target),
      );
      const { apiKey, passphrase, secret } = trader.trio;
      const stream = `user:${trader.address.toLowerCase()}`;
      const resume = Array.from({ length: NAMES }, () => ({ stream_id: stream, sequence: '0' }));
      const auth = { apiKey, secret, passphrase };
      await floodFrames(target, USER, [textFrame({ type: 'user', auth, resume })], 1);
    },
  },
  'unread-books': {
    does: 'subscriptions to 480 books, repeated by who never reads',
    bound: 'unread bytes of stream connections',
    async run(target) {
      const bytes = textFrame({ type: 'market', assets_ids: target.tokens.slice(0, NAMES) });
      const sockets: Socket[] = [];
      for (let i = 0; i < UNREAD && target.goesOn; i++) {
        const socket = await openStream(target, MARKET);
        if (socket === undefined) continue;
        socket.pause();
        sockets.push(socket);
        target.did += 1;
      }
      await drip(target, sockets, 250, bytes);
    },
  },
} as const satisfies Readonly<Record<string, Attack>>;
