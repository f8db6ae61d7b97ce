/** Full-text search by examples, by a scan of all words over random texts, and with odd queries. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSearchIndex, type SearchIndex } from '../../server/catalog/search-index.ts';
import { WordTable } from '../../server/catalog/search-words.ts';
import { type JsonObject, readCatalog } from '../../storage/catalog/catalog-file.ts';
import { type Random, withSeed } from '../common/random.ts';

function indexOf(events: readonly JsonObject[], tags: readonly JsonObject[] = []): SearchIndex {
  const result = readCatalog({ events, tags });
  assert(result.ok);
  return buildSearchIndex(result.catalog);
}

function titled(...titles: readonly string[]): SearchIndex {
  return indexOf(titles.map((title, id) => ({ id, title })));
}

function found(index: SearchIndex, query: string): number[] {
  return [...index.search(query).events];
}

test('an event matches when it has every word, in any text', () => {
  const index = indexOf(
    [
      {
        id: 10,
        title: 'Harbour lights',
        description: 'About lanterns.',
        tags: [{ id: 5 }],
        markets: [
          { id: 100, question: 'Will the ferry run?', description: 'Only on copper days.' },
          { id: 101, question: 'Will the glacier melt?', description: 'Only on violin days.' },
        ],
      },
      { id: 11, title: 'Harbour dues' },
    ],
    [{ id: 5, label: 'Sea Travel', slug: 'by-boat' }],
  );
  assert.deepEqual(found(index, 'harbour').toSorted(), [0, 1]);
  for (const query of [
    ...['harbour lanterns', 'ferry glacier', 'copper violin', 'sea boat', 'lights melt travel'],
    ...['  HARBOUR -- lights!', 'lights harbour harbour', 'boat only', 'ferry? glacier.'],
  ]) {
    assert.deepEqual(found(index, query), [0], query);
  }
  for (const query of ['harbour orchard', 'dues lights', 'harbours', 'arbour', 'lant melt']) {
    assert.deepEqual(found(index, query), [], query);
  }
});

test('the last word matches as a prefix, unless something follows it', () => {
  const index = titled('Orchard orders', 'Order of the lantern', 'Orchestra');
  assert.deepEqual(found(index, 'orch').toSorted(), [0, 2]);
  assert.deepEqual(found(index, 'o').toSorted(), [0, 1, 2]);
  assert.deepEqual(found(index, 'order').toSorted(), [0, 1]);
  assert.deepEqual(found(index, 'order '), [1]);
  assert.deepEqual(found(index, 'order.'), [1]);
  assert.deepEqual(found(index, 'orch orders'), []);
  assert.deepEqual(found(index, 'orders orch'), [0]);
});

test('case and diacritics make no difference, on either side', () => {
  const pairs = [
    ['Łódź', 'lodz'],
    ['Straße', 'STRASSE'],
    ['Malmö Børsen', 'malmo borsen'],
    ['Đoković', 'Dokovic'],
    ['Ægir', 'aegir'],
    ['Þór', 'thor'],
    ['Œuvre naïve', 'oeuvre NAIVE'],
    ['İzmir ışık', 'izmir isik'],
    ['Κόσμος', 'ΚΟΣΜΟΣ'],
    ['ЁЖИК', 'ежик'],
    ['ﬁne ｗｉｄｅ', 'fine wide'],
    ['한국', '한국'.normalize('NFD')],
    ['السلام', 'السلام'],
  ] as const;
  for (const [title, query] of pairs) {
    assert.deepEqual(found(titled('other', title), query), [1], `${query} finds ${title}`);
    assert.deepEqual(found(titled('other', query), title), [1], `${title} finds ${query}`);
  }
});

test('scripts without spaces are found by any part of a text', () => {
  const index = titled('伊朗领导人 2026', '特朗普访问中国', 'ラーメン大会', 'ประเทศไทย', '国');
  assert.deepEqual(found(index, '伊朗'), [0]);
  assert.deepEqual(found(index, '领导人'), [0]);
  assert.deepEqual(found(index, '人'), [0]);
  assert.deepEqual(found(index, '朗').toSorted(), [0, 1]);
  assert.deepEqual(found(index, '国').toSorted(), [1, 4]);
  assert.deepEqual(found(index, '访问 特朗普'), [1]);
  assert.deepEqual(found(index, '伊朗2026'), [0]);
  assert.deepEqual(found(index, 'ーメ'), [2]);
  assert.deepEqual(found(index, 'ไทย'), [3]);
  assert.deepEqual(found(index, '导领'), []);
  assert.deepEqual(found(index, '伊中'), []);
});

test('titles count for more than questions, these than tags, these than descriptions', () => {
  const filler = 'and a few more words';
  const index = indexOf(
    [
      { id: 1, title: filler, description: `glacier ${filler}` },
      { id: 2, title: filler, tags: [{ id: 9 }], description: filler },
      { id: 3, title: filler, markets: [{ id: 7, question: `Glacier ${filler}` }] },
      { id: 4, title: `A glacier ${filler}` },
      { id: 5, title: filler, description: filler },
    ],
    [{ id: 9, label: 'Glacier', slug: 'ice' }],
  );
  assert.deepEqual(found(index, 'glacier'), [3, 2, 1, 0]);
  assert.deepEqual(found(index, 'gla'), [3, 2, 1, 0]);
});

test('equal ranks are ordered by id, newest first', () => {
  const index = titled('copper', 'copper', 'tin', 'copper');
  assert.deepEqual(found(index, 'copper'), [3, 1, 0]);
  assert.deepEqual(found(index, 'cop'), [3, 1, 0]);
});

test('tags are found by label and slug, in the same way', () => {
  const tags = [
    { id: 20, label: 'Élections', slug: 'votes-2028' },
    { id: 3, label: 'Votes', slug: 'ballots' },
    { id: 7, label: '特朗普', slug: 'x' },
  ];
  const index = indexOf([{ id: 1, title: 'Votes', tags: [{ id: 20, label: 'Old label' }] }], tags);
  const tagsOf = (query: string): number[] => [...index.search(query).tags];
  assert.deepEqual(tagsOf('votes'), [0, 2], 'a label counts for more than a slug');
  assert.deepEqual(tagsOf('elect'), [2]);
  assert.deepEqual(tagsOf('2028 elections'), [2]);
  assert.deepEqual(tagsOf('朗普'), [1]);
  assert.deepEqual(tagsOf('old'), []);
  assert.deepEqual(found(index, 'elections'), [0], "the catalog's own version of a tag counts");
  assert.deepEqual(found(index, 'old'), []);
});

/** Texts of events: one text, and variants that differ from it here and there. */
function likeTexts(random: Random, count: number): string[] {
  const words = ['a', 'b', 'ab', 'ba', 'a.', 'b,', 'c', 'É', '中a', '中文', '', '\n', 'abc'];
  const draw = (): string => random.pick(words);
  const base = Array.from({ length: random.between(0, 9) }, draw);
  return Array.from({ length: count }, () => {
    const text = [...base];
    for (let edits = random.below(3); edits > 0; edits--) {
      text.splice(
        random.below(text.length + 1),
        random.below(3),
        ...(random.chance(60) ? [draw()] : []),
      );
    }
    return text.join(random.chance(90) ? ' ' : '\n');
  });
}

/** Words of a text over the letters that likeTexts uses, each pair of characters one. */
function plainWords(text: string): string[] {
  const folded = text.toLowerCase().replaceAll('é', 'e');
  return (folded.match(/[a-z]+|[中文]+/g) ?? []).flatMap((word) =>
    word === '中文' ? ['中文', '文'] : [word],
  );
}

test('no word is lost when the texts of an event are nearly equal', () => {
  withSeed((random) => {
    for (let round = 0; round < 100; round++) {
      const texts = Array.from({ length: 6 }, () => likeTexts(random, random.between(1, 5)));
      const index = indexOf(
        texts.map(([description, ...others], id) => ({
          id,
          description,
          markets: others.map((text, n) => ({ id: 10 * id + n, question: '', description: text })),
        })),
      );
      for (const query of ['a', 'b', 'c', 'ab', 'abc', 'ba', 'e', '中文', '中', '文']) {
        const expected = texts.flatMap((list, row) =>
          list.flatMap(plainWords).some((word) => word.startsWith(query)) ? [row] : [],
        );
        const rows = found(index, query).toSorted();
        assert.deepEqual(rows, expected, `${query} in ${JSON.stringify(texts)}`);
      }
    }
  });
});

/** Words of a text in a script with spaces, by Unicode, with the text folded as a whole. */
function unicodeWords(text: string): string[] {
  const folded = text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '').replaceAll('ς', 'σ');
  return (folded.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, 64));
}

function tableWords(table: WordTable, text: string): string[] {
  const words: string[] = [];
  table.eachOf(text, (word) => words.push(table.text(word)));
  return words;
}

/** Letters whose plain form Unicode does not give. */
const HAS_PLAIN_FORM = /[ßẞæœøđðþłħŧŋıĸ]/u;
const IS_UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

test('the words of random texts are the words of Unicode', () => {
  const ascii = Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit));
  const others = [
    ...'éÜ“”’—ñΣΑς½²ﬁﷺ€\u0301\u0338\u00a0\u200dЁй',
    'İ',
    '🎻',
    '𝐀',
    '\ud800',
    '한',
    'ẍ',
  ];
  withSeed((random) => {
    const table = new WordTable();
    const sets = [ascii, [...'abAB01 .-'], [...'ab -', ...others], [...'abcde', 'é'], ['x', 'y']];
    for (let round = 0; round < 1000; round++) {
      const characters = random.pick(sets);
      const text = Array.from({ length: random.below(200) }, () => random.pick(characters)).join(
        '',
      );
      assert.deepEqual(tableWords(table, text), unicodeWords(text), JSON.stringify(text));
    }
  });
});

test('every single character is folded as Unicode folds it, in any position', () => {
  const table = new WordTable();
  for (let code = 0; code < 0x3000; code++) {
    const character = String.fromCharCode(code);
    const folded = character.normalize('NFKD').toLowerCase();
    if (HAS_PLAIN_FORM.test(folded) || IS_UNSPACED.test(folded)) continue;
    const text = `${character}b a${character}b a${character}`;
    assert.deepEqual(tableWords(table, text), unicodeWords(text), code.toString(16));
  }
});

test('a word has one number among any number of words', () => {
  const table = new WordTable();
  const numbersOf = (text: string): number[] => {
    const numbers: number[] = [];
    table.eachOf(text, (word) => numbers.push(word));
    return numbers;
  };
  const words = Array.from({ length: 15_000 }, (_, n) => `${n.toString(36)}${'w'.repeat(n % 70)}`);
  const cut = new Set(words.map((word) => word.slice(0, 64)));
  const first = numbersOf(words.join(' '));
  assert.equal(table.size, cut.size);
  assert.deepEqual(numbersOf(words.join('\n').toUpperCase()), first);
  for (const [at, word] of words.entries()) assert.equal(table.text(first[at]!), word.slice(0, 64));
  assert.deepEqual(new Set(first), new Set(Array.from(cut, (_, n) => n)));
  const [one, other, again] = numbersOf('zzc0 zzan zzc0');
  assert.notEqual(one, other, 'words of one hash are still two');
  assert.equal(one, again);
});

test('any query is answered', () => {
  const index = titled('constructor of __proto__', 'x'.repeat(5000), 'a b c d e f g');
  const many = Array.from({ length: 3000 }, (_, n) => `word${n}`).join(' ');
  for (const query of [
    ...['', ' ', '?!', '\u0000', '\ud800', '\udc00y', '🎻', '\u0301', '\u200d', '"', '*', '%'],
    ...[many, '\ufdfa'.repeat(4000), '中'.repeat(5000), `${'e\u0301'.repeat(5000)}`, '_', '_1'],
  ]) {
    assert.deepEqual(found(index, query), [], JSON.stringify(query.slice(0, 20)));
  }
  assert.deepEqual(found(index, 'constructor'), [0]);
  assert.deepEqual(found(index, '__proto__'), [0]);
  assert.deepEqual(
    found(index, 'x'.repeat(3000)),
    [1],
    'long words are compared by their beginning',
  );
  assert.deepEqual(found(index, 'hasOwnProperty toString'), []);
});

test('a long query counts by its first 32 different words', () => {
  const words = Array.from({ length: 33 }, (_, n) => `w${n}w`);
  const index = titled(words.slice(0, 32).join(' '), words.slice(0, 31).join(' '));
  assert.deepEqual(found(index, words.join(' ')), [0]);
  assert.deepEqual(
    found(index, `${words.slice(0, 31).join(' ')} ${'w0w '.repeat(50)}`).toSorted(),
    [0, 1],
  );
});

test('an empty catalog finds nothing', () => {
  const { events, tags } = indexOf([]).search('anything');
  assert.equal(events.length + tags.length, 0);
});
