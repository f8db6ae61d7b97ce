/**
 * Full-text search over the route and the real index, compared with a scan of all words: found
 * events and tags, in pages of any size. A title counts for more than a description.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { CatalogGeneration } from '../../server/catalog/catalog-generation.ts';
import { buildSearchIndex } from '../../server/catalog/search-index.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import { type Random, rounds, SHORT } from '../common/random.ts';
import { NO_REAL_FILE, oddCatalog, realCatalog } from './catalog-fixture.ts';
import { type Ask, askAll, judgeAnswer, seeded, withAsk } from './catalog-judge.ts';
import { serveCatalog } from './catalog-server.ts';
import { type NaiveCatalog, type Raw, readNaive } from './naive-catalog.ts';
import { columnsOf } from './naive-lists.ts';
import { wordsOf } from './naive-search.ts';

function realSearch(json: Raw): CatalogGeneration['search'] {
  const result = readCatalog(json);
  assert(result.ok, 'the catalog is readable');
  const index = buildSearchIndex(result.catalog);
  return (query, most) => index.search(query, most);
}

const FAULTS = [
  ...['q=', 'q=+', '', 'q=%zz', 'q=a&q=b', 'q=a&limit_per_type=0', 'q=a&limit_per_type=501'],
  ...['q=a&limit_per_type=', 'q=a&page=0', 'q=a&page=x', 'q=a&search_tags=maybe', 'limit=5'],
  ...['q=a&sort=closed_time', 'q=a&events_status=open', 'q=a&exclude_tag_id=x'],
  ...['q=a&search_profiles=2', 'q=a&search_profiles=', 'q=a&creator=%zz', 'q=a&page=1.5'],
];

/** Words of one text as a person types them: some in another case, the last one cut. */
function typedWords(random: Random, catalog: NaiveCatalog): string {
  const { shown, tags, markets } = random.pick(catalog.events);
  const texts = [
    shown.title,
    shown.description,
    ...tags.map((tag) => tag.shown.label),
    ...markets.map((market) => market.shown.question),
  ];
  const words = wordsOf(String(random.pick(texts))).filter((word) => /^[a-z]+$/.test(word));
  if (words.length === 0) return 'nothingofthekind';
  const start = random.below(words.length);
  const typed = words.slice(start, start + random.between(1, 3));
  const last = typed.pop() ?? '';
  typed.push(random.chance(50) ? last : last.slice(0, random.between(1, last.length)));
  return typed.map((word) => (random.chance(30) ? word.toUpperCase() : word)).join(' ');
}

function searchTarget(random: Random, catalog: NaiveCatalog): string {
  if (random.chance(4)) return `/public-search?${random.pick(FAULTS)}`;
  const parts = [`q=${encodeURIComponent(typedWords(random, catalog)).replaceAll('%20', '+')}`];
  if (random.chance(60)) parts.push(`limit_per_type=${random.pick([1, 2, 5, 500])}`);
  if (random.chance(40)) parts.push(`page=${random.pick([1, 2, 3, 1_000_000_000])}`);
  if (random.chance(30)) parts.push(`search_tags=${random.pick(['true', 'false', '0'])}`);
  if (random.chance(20)) parts.push(`search_profiles=${random.pick(['true', '0'])}`);
  if (random.chance(30)) {
    const creator = random.pick([random.pick(catalog.markets).creator, 'nobody.example']);
    parts.push(`creator=${creator}`);
  }
  if (random.chance(30)) {
    const column = random.pick(columnsOf('events'));
    parts.push(`sort=${column}&ascending=${random.pick(['true', '0'])}`);
  }
  if (random.chance(20)) parts.push(`events_status=${random.pick(['active', 'closed', 'all'])}`);
  if (random.chance(20)) {
    const { id, shown } = random.pick(catalog.tags);
    const slug = encodeURIComponent(String(shown.slug));
    parts.push(random.pick([`exclude_tag_id=${id}`, `events_tag=${slug}`, `events_tag[]=${slug}`]));
  }
  return `/public-search?${parts.join('&')}`;
}

async function searchRandomly(
  port: number,
  random: Random,
  naive: NaiveCatalog,
  count: number,
): Promise<void> {
  const targets = Array.from({ length: count }, () => searchTarget(random, naive));
  await askAll(port, targets, (target, answer) => judgeAnswer(naive, target, answer));
  for (const query of ['q=co', 'q=a', 'q=20']) {
    await withAsk(port, (ask) => walkPages(ask, query));
  }
}

/** Checks that the joined pages of a search equal its one large page. */
async function walkPages(ask: Ask, query: string): Promise<void> {
  const whole = await get(ask, `/public-search?${query}&limit_per_type=500`);
  for (const limit of [7, 30]) {
    const events: Raw[] = [];
    const tags: Raw[] = [];
    for (let page = 1; page <= Math.ceil(500 / limit) + 1; page++) {
      const part = await get(ask, `/public-search?${query}&limit_per_type=${limit}&page=${page}`);
      events.push(...part.events);
      tags.push(...part.tags);
    }
    assert.deepEqual(events.slice(0, 500), whole.events, query);
    assert.deepEqual(tags.slice(0, 500), whole.tags, query);
  }
}

async function get(ask: Ask, target: string) {
  const { status, body } = await ask(target);
  assert.equal(status, 200, `${target}: ${String(body)}`);
  return JSON.parse(String(body));
}

test('a search finds every event and tag that has all its words, and no other', (t) =>
  seeded(async (random, seed) => {
    const json = oddCatalog(seed, 250);
    const { port } = await serveCatalog(json, t, realSearch(json));
    await searchRandomly(port, random, readNaive(json), rounds(500));
  }));

test('a search of the real catalog finds every event and tag that has all its words, and no other', {
  skip: SHORT,
}, async (t) => {
  const json = realCatalog();
  if (json === undefined) return t.skip(NO_REAL_FILE);
  await seeded(async (random) => {
    const { port } = await serveCatalog(json, t, realSearch(json));
    await searchRandomly(port, random, readNaive(json), 250);
  });
});

test('a word in a title counts for more than the same word in a description', async (t) => {
  const filler = 'something else entirely that goes on for a while and says nothing of it';
  const json = {
    events: [
      { id: '1', title: 'zeppelin race over the lake', description: filler, markets: [] },
      { id: '2', title: 'a race over the lake', description: `zeppelin ${filler}`, markets: [] },
      {
        id: '3',
        title: 'another',
        description: filler,
        markets: [{ id: '7', question: 'Zeppelin?' }],
      },
      {
        id: '4',
        title: 'a last one',
        description: filler,
        markets: [{ id: '8', question: 'So?' }],
      },
    ],
    tags: [],
  };
  const { port } = await serveCatalog(json, t, realSearch(json));
  await withAsk(port, async (ask) => {
    for (const q of ['zeppelin', 'ZEPP', 'zéppelin']) {
      const { events } = await get(ask, `/public-search?q=${encodeURIComponent(q)}`);
      const ids = events.map((event: Raw) => event.id);
      assert.equal(ids[0], '1', q);
      assert.deepEqual(ids.toSorted(), ['1', '2', '3'], q);
    }
  });
});
