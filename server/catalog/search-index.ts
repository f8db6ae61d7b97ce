/**
 * Single entry point to the package minisearch: full-text search over the events and tags of one
 * catalog generation. Every word of a query must occur in one of an event's texts; the last word
 * may be a prefix. Titles have more weight than questions, these more than tags, these more than
 * descriptions.
 *
 * An event has each word once, in its text of the highest weight: descriptions repeat the titles
 * and one another, and one entry for each word is enough to find the event.
 *
 * The words lie in a radix tree of the package, their entries in typed arrays in the order of that
 * tree: the words with a common beginning are neighbours. Scores are those of the package (BM25+),
 * summed in its order, so that the least bit of a score is the same.
 *
 * Thread: the search thread. Non-goals: pages, the `creator` filter, rendering.
 */
import SearchableMap from 'minisearch/SearchableMap';
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { rankBest } from './search-ranking.ts';
import { SEARCH_FIELDS, type SearchTexts, searchTexts } from './search-texts.ts';
import { type QueryWord, queryWords, WordTable } from './search-words.ts';

/** Matches as rows of PreparedCatalog, best first, equal ones by id descending. */
export interface SearchRows {
  /** All of them, or as many of the best as were asked for. */
  readonly events: Uint32Array<ArrayBuffer>;
  readonly tags: Uint32Array<ArrayBuffer>;
  /** Number of all events that match. */
  readonly eventCount: number;
}

export interface SearchIndex {
  /** @param most number of rows of each kind that are ranked; all by default */
  search(query: string, most?: number): SearchRows;
}

/** Bits of a field in an entry `row x FIELDS_MAX + field`. */
const FIELD_BITS = 2;
const FIELDS_MAX = 2 ** FIELD_BITS;

/** Parameters of BM25+, and the weight of a word that is found by its beginning. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.7;
const LEAST = 0.5;
const PREFIX_WEIGHT = 0.375;
const PREFIX_DISTANCE = 0.3;

/** Longest beginning whose words are looked up in advance: shorter ones have thousands of words. */
const PREPARED_UNITS = 2;

export class SearchIndexBuilder {
  private readonly words = {
    events: new CollectedWords(Object.keys(SEARCH_FIELDS.events).length),
    tags: new CollectedWords(Object.keys(SEARCH_FIELDS.tags).length),
  };

  add({ kind, rows }: SearchTexts): void {
    for (const texts of rows) this.words[kind].add(texts);
  }

  build(): SearchIndex {
    const events = new WordIndex(Object.values(SEARCH_FIELDS.events), this.words.events);
    const tags = new WordIndex(Object.values(SEARCH_FIELDS.tags), this.words.tags);
    return {
      search(query, most = Number.POSITIVE_INFINITY) {
        const words = queryWords(query);
        const eventCount = events.search(words);
        const tagCount = tags.search(words);
        return {
          events: events.best(eventCount, most),
          tags: tags.best(tagCount, most),
          eventCount,
        };
      },
    };
  }
}

/**
 * Returns the index of a whole catalog; rows are those of `catalog.events` and `catalog.tags`.
 * @internal Benchmarks and tests search without a catalog generation.
 */
export function buildSearchIndex(catalog: Catalog): SearchIndex {
  const builder = new SearchIndexBuilder();
  for (const texts of searchTexts(catalog)) builder.add(texts);
  return builder.build();
}

/** Words [first, end) in the order of the tree. */
interface WordRange {
  readonly first: number;
  readonly end: number;
}

class WordIndex {
  private readonly boosts: readonly number[];
  /** Numbers of words; `places` has their place in the order of the tree. */
  private readonly numbers = new SearchableMap<number>();
  private readonly places: Uint32Array;
  /** Units of each word, in the order of the tree. */
  private readonly lengths: Uint8Array;
  /** Entries of word w = entries[ends[w] .. ends[w + 1]), ascending. */
  private readonly ends: Uint32Array;
  private readonly entries: Uint32Array;
  /** Part of a score by word and field, and by row and field. */
  private readonly rarities: Float64Array;
  private readonly weights: Float64Array;
  private readonly prepared = new Map<string, { first: number; end: number }>();
  /** Number of words of the query that each row has. */
  private readonly found: Uint8Array;
  /** Scores by row: of the words before, and of the current one. */
  private readonly scores: Float64Array;
  private readonly sums: Float64Array;
  /** Rows with the current word and those before it. */
  private readonly rows: Uint32Array<ArrayBuffer>;
  private rowCount = 0;

  constructor(boosts: readonly number[], collected: CollectedWords) {
    this.boosts = boosts;
    const { rows, wordCount } = collected;
    for (let word = 0; word < wordCount; word++) this.numbers.set(collected.text(word), word);
    this.places = new Uint32Array(wordCount);
    this.lengths = new Uint8Array(wordCount);
    const order = new Uint32Array(wordCount);
    let place = 0;
    for (const [text, word] of this.numbers.entries()) {
      order[place] = word;
      this.places[word] = place;
      this.lengths[place] = text.length;
      this.prepare(text, place);
      place += 1;
    }
    ({ ends: this.ends, entries: this.entries } = collected.entriesOf(order, this.places));
    this.rarities = this.raritiesOf(rows);
    this.weights = collected.weights();
    this.found = new Uint8Array(rows);
    this.scores = new Float64Array(rows);
    this.sums = new Float64Array(rows);
    this.rows = new Uint32Array(rows);
  }

  private prepare(text: string, place: number): void {
    for (let units = 1; units <= Math.min(PREPARED_UNITS, text.length); units++) {
      const prefix = text.slice(0, units);
      const range = this.prepared.get(prefix);
      if (range === undefined) this.prepared.set(prefix, { first: place, end: place + 1 });
      else range.end = place + 1;
    }
  }

  private raritiesOf(rows: number): Float64Array {
    const { ends, entries } = this;
    const rarities = new Float64Array((ends.length - 1) * FIELDS_MAX);
    for (let word = 0; word + 1 < ends.length; word++) {
      const first = word * FIELDS_MAX;
      for (let i = ends[word]!; i < ends[word + 1]!; i++) {
        rarities[first + (entries[i]! & (FIELDS_MAX - 1))]! += 1;
      }
      for (let at = first; at < first + FIELDS_MAX; at++) {
        const matching = rarities[at]!;
        if (matching > 0) rarities[at] = Math.log(1 + (rows - matching + 0.5) / (matching + 0.5));
      }
    }
    return rarities;
  }

  /**
   * Searches one word after another, each only among the rows that have the words before it. Long
   * words come first, because they are rare. Returns the number of matches, for best().
   */
  search(words: readonly QueryWord[]): number {
    this.rowCount = 0;
    this.found.fill(0);
    const ordered = words.toSorted((a, b) => b.word.length - a.word.length);
    for (const [before, word] of ordered.entries()) {
      this.rowCount = 0;
      this.addWords(word, before);
      this.addSums(before);
      if (this.rowCount === 0) break;
    }
    return this.rowCount;
  }

  /** Returns the best of the matches of the last search. */
  best(count: number, most: number): Uint32Array<ArrayBuffer> {
    return rankBest(this.rows.subarray(0, count), this.scores, most).slice();
  }

  private addWords({ isPrefix, word }: QueryWord, before: number): void {
    const number = this.numbers.get(word);
    const exact = number === undefined ? -1 : this.places[number]!;
    if (exact !== -1) this.add(exact, 1, before);
    if (!isPrefix) return;
    const { end, first } = this.rangeOf(word);
    for (let place = first; place < end; place++) {
      if (place === exact) continue;
      const length = this.lengths[place]!;
      const distance = length - word.length;
      this.add(place, (PREFIX_WEIGHT * length) / (length + PREFIX_DISTANCE * distance), before);
    }
  }

  private rangeOf(prefix: string): WordRange {
    if (prefix.length <= PREPARED_UNITS) return this.prepared.get(prefix) ?? NO_WORDS;
    let first = 0;
    let end = 0;
    for (const word of this.numbers.atPrefix(prefix).values()) {
      const place = this.places[word]!;
      if (end === 0) first = place;
      end = place + 1;
    }
    return { first, end };
  }

  private add(word: number, weight: number, before: number): void {
    const { boosts, ends, entries, found, rarities, rows, sums, weights } = this;
    const end = ends[word + 1]!;
    for (let i = ends[word]!; i < end; i++) {
      const entry = entries[i]!;
      const row = entry >>> FIELD_BITS;
      const count = found[row]!;
      if (count < before) continue;
      const field = entry & (FIELDS_MAX - 1);
      const raw = rarities[word * FIELDS_MAX + field]! * weights[entry]!;
      const score = weight * boosts[field]! * raw;
      if (count > before) sums[row]! += score;
      else {
        found[row] = before + 1;
        sums[row] = score;
        rows[this.rowCount] = row;
        this.rowCount += 1;
      }
    }
  }

  private addSums(before: number): void {
    const { rows, scores, sums } = this;
    for (let i = 0; i < this.rowCount; i++) {
      const row = rows[i]!;
      scores[row] = before === 0 ? sums[row]! : scores[row]! + sums[row]!;
    }
  }
}

const NO_WORDS: WordRange = { first: 0, end: 0 };

class CollectedWords {
  private readonly fields: number;
  /** Number of words in each field, by row. */
  private readonly lengths: number[][] = [];
  private readonly words = new WordTable();
  /** Last row that has a word, plus 1, and the number of its rows. */
  private lastRows = new Uint32Array(1 << 12);
  private counts = new Uint32Array(1 << 12);
  /**
   * Each different word of each row: its number, and `row x FIELDS_MAX + field`, which ascends.
   */
  private entryWords = new Uint32Array(1 << 16);
  private entryFields = new Uint32Array(1 << 16);
  private entries = 0;

  /** @param fields at most FIELDS_MAX */
  constructor(fields: number) {
    this.fields = fields;
  }

  get rows(): number {
    return this.lengths.length;
  }

  get wordCount(): number {
    return this.words.size;
  }

  text(word: number): string {
    return this.words.text(word);
  }

  add(texts: readonly string[]): void {
    const row = this.lengths.length;
    const lengths = texts.map((text, field) => {
      const before = this.entries;
      const entry = row * FIELDS_MAX + field;
      this.words.eachOf(text, (word) => {
        if (this.lastRows[word] !== row + 1) this.enter(word, row, entry);
      });
      return this.entries - before;
    });
    this.lengths.push(lengths);
  }

  private enter(word: number, row: number, entry: number): void {
    if (word >= this.lastRows.length) {
      this.lastRows = twiceAsLong(this.lastRows);
      this.counts = twiceAsLong(this.counts);
    }
    if (this.entries === this.entryWords.length) {
      this.entryWords = twiceAsLong(this.entryWords);
      this.entryFields = twiceAsLong(this.entryFields);
    }
    this.lastRows[word] = row + 1;
    this.counts[word]! += 1;
    this.entryWords[this.entries] = word;
    this.entryFields[this.entries] = entry;
    this.entries += 1;
  }

  /** Part of a score that depends on the length of a text, by row and field. */
  weights(): Float64Array {
    const weights = new Float64Array(this.rows * FIELDS_MAX);
    for (const [field, average] of this.averageLengths().entries()) {
      for (const [row, lengths] of this.lengths.entries()) {
        const share = 1 - LENGTH_SHARE + (LENGTH_SHARE * lengths[field]!) / average;
        weights[row * FIELDS_MAX + field] = LEAST + (SATURATION + 1) / (1 + SATURATION * share);
      }
    }
    return weights;
  }

  private averageLengths(): number[] {
    return Array.from({ length: this.fields }, (_, field) => {
      const total = this.lengths.reduce((sum, lengths) => sum + lengths[field]!, 0);
      return total / Math.max(this.rows, 1);
    });
  }

  /**
   * Returns the entries of each word, ascending, after those of the word before.
   * @param order words in their new order
   * @param places place of each word in it
   */
  entriesOf(order: Uint32Array, places: Uint32Array): { ends: Uint32Array; entries: Uint32Array } {
    const ends = new Uint32Array(order.length + 1);
    for (const [place, word] of order.entries())
      ends[place + 1] = ends[place]! + this.counts[word]!;
    const next = ends.slice(0, order.length);
    const entries = new Uint32Array(this.entries);
    for (let entry = 0; entry < this.entries; entry++) {
      const place = places[this.entryWords[entry]!]!;
      entries[next[place]!] = this.entryFields[entry]!;
      next[place]! += 1;
    }
    return { ends, entries };
  }
}

function twiceAsLong(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(2 * array.length);
  longer.set(array);
  return longer;
}
