/**
 * The order of the matches of a search, compared with the package's own ranking of all of them, to the
 * least bit of a score: same rows, same order, equal scores by id.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import MiniSearch from 'minisearch';
import { SearchIndexBuilder } from '../../server/catalog/search-index.ts';
import { rankBest } from '../../server/catalog/search-ranking.ts';
import { SEARCH_FIELDS } from '../../server/catalog/search-texts.ts';
import { queryWords, WordTable } from '../../server/catalog/search-words.ts';
import { type Random, rounds, withSeed } from '../common/random.ts';

const FIELDS = Object.keys(SEARCH_FIELDS.events);

/** Different words of each text of a row, without those of the texts before it. */
function wordsOfRow(texts: readonly string[]): string[][] {
  const before = new Set<string>();
  return texts.map((text) => {
    const table = new WordTable();
    const words: string[] = [];
    table.eachOf(text, (word) => {
      if (!before.has(table.text(word))) words.push(table.text(word));
      before.add(table.text(word));
    });
    return words;
  });
}

class FullRanking extends MiniSearch<{ id: number; words: string[][] }> {
  constructor(rows: readonly (readonly string[])[]) {
    super({
      fields: FIELDS,
      extractField: (row, field) =>
        field === 'id' ? String(row.id) : row.words[FIELDS.indexOf(field)]!.join(' '),
      tokenize: (text) => (text === '' ? [] : text.split(' ')),
      processTerm: (word) => word,
      searchOptions: { boost: SEARCH_FIELDS.events, tokenize: (word) => [word] },
    });
    const words = rows.map(wordsOfRow);
    for (const [id, ofRow] of words.entries()) this.add({ id, words: ofRow });
    // The package sums averages row by row, with the errors of that.
    this._avgFieldLength = FIELDS.map(
      (_, field) => words.reduce((sum, ofRow) => sum + ofRow[field]!.length, 0) / rows.length,
    );
  }

  rank(query: string): number[] {
    const scores = new Map<number, number>();
    const words = queryWords(query).sort((a, b) => b.word.length - a.word.length);
    for (const [count, { isPrefix: prefix, word }] of words.entries()) {
      const matches = this.search(word, { prefix }).map(({ id, score }) => [Number(id), score]);
      const before = new Map(scores);
      scores.clear();
      for (const [id, score] of matches as [number, number][]) {
        if (count === 0) scores.set(id, score);
        else if (before.has(id)) scores.set(id, before.get(id)! + score);
      }
    }
    return [...scores].sort(([a, one], [b, other]) => other - one || b - a).map(([id]) => id);
  }
}

/** Texts of few words, so that many rows have equal scores, and words that begin alike. */
function drawRows(random: Random): string[][] {
  const syllables = ['a', 'ab', 'b', 'ba', 'c', 'é', '中', '文'];
  const words = Array.from({ length: random.between(2, 40) }, () =>
    Array.from({ length: random.between(1, 4) }, () => random.pick(syllables)).join(''),
  );
  const text = (longest: number): string =>
    Array.from({ length: random.below(longest + 1) }, () => random.pick(words)).join(' ');
  return Array.from({ length: random.between(1, 120) }, () => [
    text(4),
    text(6),
    text(3),
    text(12),
  ]);
}

function drawQuery(random: Random, rows: readonly (readonly string[])[]): string {
  const words = random.pick(rows).join(' ').split(' ');
  const typed = Array.from({ length: random.between(1, 4) }, () => random.pick(words)).join(' ');
  return random.chance(70) ? typed.slice(0, random.between(1, typed.length + 1)) : `${typed} `;
}

test('a search ranks as the package does, equal scores by id, whatever number of rows it ranks', () => {
  withSeed((random) => {
    for (let round = 0; round < rounds(40); round++) {
      const rows = drawRows(random);
      const full = new FullRanking(rows);
      const builder = new SearchIndexBuilder();
      builder.add({ kind: 'events', rows });
      const index = builder.build();
      for (let query = 0; query < 40; query++) {
        const text = drawQuery(random, rows);
        const expected = full.rank(text);
        assert.deepEqual([...index.search(text).events], expected, JSON.stringify(text));
        const most = random.between(1, 60);
        const { eventCount, events } = index.search(text, most);
        assert.deepEqual([...events], expected.slice(0, most), `${most} of ${text}`);
        assert.equal(eventCount, expected.length, text);
      }
    }
  });
});

test('the best rows are the first of all rows sorted', () => {
  withSeed((random) => {
    for (let round = 0; round < rounds(300); round++) {
      const count = random.below(200);
      const scores = Float64Array.from({ length: count }, () => random.below(20));
      const rows = Uint32Array.from({ length: count }, (_, row) => row);
      const sorted = [...rows].sort((a, b) => scores[b]! - scores[a]! || b - a);
      const most = random.below(count + 10);
      assert.deepEqual([...rankBest(rows, scores, most)], sorted.slice(0, most));
      assert.deepEqual([...rows].sort(), [...rows.keys()].sort(), 'no row is lost');
    }
  });
});
