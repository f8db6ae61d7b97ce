/** Attacks of callers without credentials, by bodies and by reads. */
import type { Attack, Target } from './attack.ts';
import { askOn } from './raw.ts';

const MIB = 2 ** 20;
/**
 * Rate of bodies: ten a second suffice to stop trading where a body holds the thread for a tenth of
 * a second.
 */
const BODIES_PER_SECOND = 20;
/** Rate of lists and searches, within the published caps. */
const LISTS_PER_SECOND = 80;

const POST_ROUTES = [
  '/books',
  '/prices',
  '/midpoints',
  '/spreads',
  '/last-trades-prices',
  '/batch-prices-history',
  '/data/volumes',
] as const;

const posting = (target: Target, body: string): Promise<void> =>
  askOn(target, (i) => ({ method: 'POST', path: POST_ROUTES[i % POST_ROUTES.length]!, body }), {
    perSecond: BODIES_PER_SECOND,
  });

/** A body of just under a mebibyte. */
function full(begin: string, item: string, end: string): string {
  const times = Math.floor((MIB - begin.length - end.length) / item.length);
  return begin + item.repeat(times) + end;
}

const bodies = (does: string, body: () => string): Attack => ({
  does,
  bound: 'depth and values of a body',
  run: (target) => posting(target, body()),
});

const NASTY_WORDS = [
  'a',
  'will the',
  'e e e e e e e e e e e e',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'question event market series will or and the of in by',
  '%F0%9F%92%A9 %CC%81%CC%81%CC%81%CC%81%CC%81',
  '.*+?^{}()|[]\\',
  `q${' q'.repeat(400)}`,
];

export const REQUEST_ATTACKS = {
  'deep-bodies': {
    ...bodies('a mebibyte of [ to each public POST route', () => full('', '[', '')),
    isShort: true,
  },
  'many-keys': bodies('an object of 90,000 keys, likewise', () => {
    const keys = Array.from({ length: 90_000 }, (_, i) => `"k${i}":1`);
    return `{${keys.join(',')}}`;
  }),
  'many-objects': bodies('a list of 350,000 empty objects, likewise', () =>
    full('[', '{},', '{}]'),
  ),
  'many-escapes': bodies('one text of escapes, likewise', () => full('["', '\\u0061', '"]')),
  'many-numbers': bodies('a list of long numbers, likewise', () =>
    full('[', '1.7976931348623157e308,', '1]'),
  ),
  'long-legal-bodies': {
    does: 'lists of 500 tokens with extra fields, a mebibyte each, that are answered',
    bound: 'depth and values of a body',
    async run(target) {
      const { tokens } = target;
      const pad = 'x'.repeat(1_900);
      const items = Array.from({ length: 500 }, (_, i) => ({
        token_id: tokens[i % tokens.length]!,
        side: 'BUY',
        pad,
      }));
      await posting(target, JSON.stringify(items));
    },
  },
  'wide-lists': {
    does: 'the longest pages of every list at the published caps',
    bound: 'length of a page',
    isShort: true,
    async run(target) {
      const paths = [
        '/events/keyset?limit=500',
        '/events?limit=500&order=volume,liquidity,title',
        '/markets/keyset?limit=500',
        '/markets?limit=500&order=question',
        '/trades?limit=10000',
        '/sampling-markets',
        '/clob/markets',
        '/tags?limit=500',
        '/series?limit=500',
      ];
      await askOn(target, (i) => ({ method: 'GET', path: paths[i % paths.length]! }), {
        lines: 16,
        perSecond: LISTS_PER_SECOND,
      });
    },
  },
  searches: {
    does: 'searches for words that all texts have, and for texts that no word is',
    bound: 'words of a search',
    async run(target) {
      await askOn(
        target,
        (i) => {
          const word = encodeURI(NASTY_WORDS[i % NASTY_WORDS.length]!);
          return { method: 'GET', path: `/public-search?q=${word}&limit_per_type=50` };
        },
        { perSecond: 35 },
      );
    },
  },
  'wallet-reads': {
    does: 'positions, activity and history of wallets with many fills, as long as they may be',
    bound: 'length of a page',
    async run(target) {
      const token = target.tokens[0]!;
      const user = `0x${'ab'.repeat(20)}`;
      const paths = [
        `/positions?user=${user}&limit=500&sizeThreshold=0`,
        `/activity?user=${user}&limit=500`,
        `/closed-positions?user=${user}&limit=500`,
        `/holders?market=${target.markets[0]!.conditionId}&limit=500`,
        '/oi',
        `/prices-history?market=${token}&interval=max&fidelity=1`,
      ];
      await askOn(target, (i) => ({ method: 'GET', path: paths[i % paths.length]! }), {
        perSecond: LISTS_PER_SECOND,
      });
    },
  },
} as const satisfies Readonly<Record<string, Attack>>;
