/**
 * Single entry point to the package minisearch: full-text search over the events and tags of one
 * catalog generation. Every word of a query must occur in one of an event's texts; the last word
 * may be a prefix. Titles have more weight than questions, these more than tags, these more than
 * descriptions.
 *
 * An event has each word once, in its text of the highest weight: descriptions repeat the titles
 * and one another, and one entry for each word is enough to find the event.
 *
 * Thread: the search thread. Non-goals: pages, the `creator` filter, rendering.
 */
import MiniSearch, { type Options } from 'minisearch';
import type { Catalog } from '../../storage/catalog/catalog-file.ts';
import { SEARCH_FIELDS, type SearchTexts, searchTexts } from './search-texts.ts';
import { type QueryWord, queryWords, WordTable } from './search-words.ts';

/** All matches, as rows of PreparedCatalog, best first; equal ones by id descending. */
export interface SearchRows {
  readonly events: Uint32Array<ArrayBuffer>;
  readonly tags: Uint32Array<ArrayBuffer>;
}

export interface SearchIndex {
  search(query: string): SearchRows;
}

export class SearchIndexBuilder {
  private readonly words = {
    events: new CollectedWords(Object.keys(SEARCH_FIELDS.events)),
    tags: new CollectedWords(Object.keys(SEARCH_FIELDS.tags)),
  };

  add({ kind, rows }: SearchTexts): void {
    for (const texts of rows) this.words[kind].add(texts);
  }

  build(): SearchIndex {
    const events = new WordIndex(SEARCH_FIELDS.events, this.words.events);
    const tags = new WordIndex(SEARCH_FIELDS.tags, this.words.tags);
    return {
      search(query) {
        const words = queryWords(query);
        return { events: events.search(words), tags: tags.search(words) };
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

class WordIndex {
  private readonly mini: MiniSearch;
  private readonly scores: Float64Array;
  /** Number of words of the query that each row has. */
  private readonly found: Uint8Array;

  constructor(boosts: Readonly<Record<string, number>>, collected: CollectedWords) {
    this.scores = new Float64Array(collected.rows);
    this.found = new Uint8Array(collected.rows);
    this.mini = new WholeIndex(collected, {
      fields: [...collected.fields],
      processTerm: (word) => word,
      autoVacuum: false,
      searchOptions: { boost: boosts, tokenize: (word) => [word] },
    });
  }

  /**
   * Searches one word after another, each only among the rows that have the words before it. Long
   * words come first, because they are rare.
   */
  search(words: readonly QueryWord[]): Uint32Array<ArrayBuffer> {
    const { found, mini, scores } = this;
    found.fill(0);
    scores.fill(0);
    let rows: number[] = [];
    const ordered = words.toSorted((a, b) => b.word.length - a.word.length);
    for (const [count, { isPrefix: prefix, word }] of ordered.entries()) {
      const boostDocument = (id: number): number => (found[id] === count ? 1 : 0);
      const matches = mini.search(word, count === 0 ? { prefix } : { prefix, boostDocument });
      rows = matches.map((match) => match.id as number);
      for (const match of matches) {
        found[match.id] = count + 1;
        scores[match.id]! += match.score;
      }
      if (rows.length === 0) break;
    }
    rows.sort((a, b) => scores[b]! - scores[a]! || b - a);
    return Uint32Array.from(rows);
  }
}

/**
 * An index that is built at once, by setting the members that a search reads. Adding rows one after
 * another takes several times as long, as does `MiniSearch.loadJS`.
 */
class WholeIndex extends MiniSearch {
  constructor(collected: CollectedWords, options: Options) {
    super(options);
    const { lengths, rows } = collected;
    this._documentCount = rows;
    this._nextId = rows;
    this._avgFieldLength = collected.averageLengths();
    for (const [row, ofRow] of lengths.entries()) {
      this._documentIds.set(row, row);
      this._idToShortId.set(row, row);
      this._fieldLength.set(row, ofRow);
    }
    collected.eachWord((word, rowsByField) => this._index.set(word, rowsByField));
  }
}

/** Counts of a word by field and row; each count is 1. */
type RowsByField = Map<number, Map<number, number>>;

class CollectedWords {
  readonly fields: readonly string[];
  /** Number of words in each field, by row. */
  readonly lengths: number[][] = [];
  private readonly words = new WordTable();
  /** Last row that has a word, plus 1, and the number of its rows. */
  private lastRows = new Uint32Array(1 << 12);
  private counts = new Uint32Array(1 << 12);
  /**
   * Each different word of each row: its number, and `row x number of fields + field`, which
   * ascends.
   */
  private entryWords = new Uint32Array(1 << 16);
  private entryPlaces = new Uint32Array(1 << 16);
  private entries = 0;

  constructor(fields: readonly string[]) {
    this.fields = fields;
  }

  get rows(): number {
    return this.lengths.length;
  }

  add(texts: readonly string[]): void {
    const row = this.lengths.length;
    const lengths = texts.map((text, field) => {
      const before = this.entries;
      const place = row * this.fields.length + field;
      this.words.eachOf(text, (word) => {
        if (this.lastRows[word] !== row + 1) this.enter(word, row, place);
      });
      return this.entries - before;
    });
    this.lengths.push(lengths);
  }

  private enter(word: number, row: number, place: number): void {
    if (word >= this.lastRows.length) {
      this.lastRows = twiceAsLong(this.lastRows);
      this.counts = twiceAsLong(this.counts);
    }
    if (this.entries === this.entryWords.length) {
      this.entryWords = twiceAsLong(this.entryWords);
      this.entryPlaces = twiceAsLong(this.entryPlaces);
    }
    this.lastRows[word] = row + 1;
    this.counts[word]! += 1;
    this.entryWords[this.entries] = word;
    this.entryPlaces[this.entries] = place;
    this.entries += 1;
  }

  averageLengths(): number[] {
    return this.fields.map((_, field) => {
      const total = this.lengths.reduce((sum, lengths) => sum + lengths[field]!, 0);
      return total / Math.max(this.rows, 1);
    });
  }

  eachWord(take: (word: string, rowsByField: RowsByField) => void): void {
    const places = this.placesByWord();
    let start = 0;
    for (let word = 0; word < this.words.size; word++) {
      const end = start + this.counts[word]!;
      take(this.words.text(word), this.rowsByField(places.subarray(start, end)));
      start = end;
    }
  }

  /** Returns the places of each word, ascending, after those of the word before. */
  private placesByWord(): Uint32Array {
    const next = new Uint32Array(this.words.size);
    for (let word = 1; word < next.length; word++) {
      next[word] = next[word - 1]! + this.counts[word - 1]!;
    }
    const places = new Uint32Array(this.entries);
    for (let entry = 0; entry < this.entries; entry++) {
      const word = this.entryWords[entry]!;
      places[next[word]!] = this.entryPlaces[entry]!;
      next[word]! += 1;
    }
    return places;
  }

  private rowsByField(places: Uint32Array): RowsByField {
    const byField: RowsByField = new Map();
    for (const place of places) {
      const field = place % this.fields.length;
      const row = (place - field) / this.fields.length;
      const rows = byField.get(field);
      if (rows === undefined) byField.set(field, new Map([[row, 1]]));
      else rows.set(row, 1);
    }
    return byField;
  }
}

function twiceAsLong(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(2 * array.length);
  longer.set(array);
  return longer;
}
